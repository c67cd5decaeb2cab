//! Every lane of every width against the evaluation of the graph, one node
//! after the other, for one position.

use std::sync::Arc;

use games::compiled_network::{CompiledNetwork, Width};
use games::network::{GoalValue, Lit};
use games::{Batch, Goal, GoalReading, Network, RoleId, State};

use super::networks::{below, counter, random, tic_tac_toe};

fn has(words: &[u64], lane: usize) -> bool {
    words[lane / 64] >> (lane % 64) & 1 == 1
}

/// The values of all nodes in a state in which these moves are made.
fn values(network: &Network, state: &State, joint_move: &[usize]) -> Vec<bool> {
    let mut inputs = vec![false; network.graph.n_inputs()];
    for (fact, input) in inputs.iter_mut().enumerate().take(network.n_facts()) {
        *input = network.holds(state, fact);
    }
    for (role, index) in (0..).map(RoleId).zip(joint_move) {
        inputs[network.first_move(role) + index] = true;
    }
    network.graph.evaluate(&inputs)
}

fn value(values: &[bool], literal: Lit) -> bool {
    values[literal.node() as usize] ^ literal.is_negated()
}

fn goal(network: &Network, values: &[bool], role: usize) -> GoalReading {
    let mut reading = GoalReading::default();
    for &(goal, literal) in &network.roles[role].goals {
        if !value(values, literal) {
            continue;
        }
        match goal {
            GoalValue::Unreadable => reading.unreadable = true,
            GoalValue::Integer(integer) => {
                let goal = Goal::new(integer.clamp(0, 100)).unwrap();
                reading.clamped |= !(0..=100).contains(&integer);
                if !reading.values.contains(&goal) {
                    reading.values.push(goal);
                }
            }
        }
    }
    reading
}

/// Compares all lanes in all respects for some steps; the moves are chosen by
/// the batch, or in every third step by us, legal or not.
pub(crate) fn check(network: &Arc<Network>, seed: u64, n_steps: usize) {
    for (width, is_translated) in
        Width::ALL.into_iter().flat_map(|width| [(width, false), (width, true)])
    {
        let program = Arc::new(CompiledNetwork::new(network.clone()));
        if is_translated && program.translate(width).is_err() {
            continue;
        }
        let mut seed = seed;
        let mut batch = Batch::new(&program, width, seed);
        // Half of the lanes start anywhere.
        let half = batch.n_lanes() / 2 - 3;
        let states: Vec<State> =
            (0..half).map(|_| network.state_where(|_| below(&mut seed, 2) == 0)).collect();
        batch.load(half, &states);
        let mut states: Vec<State> = (0..batch.n_lanes()).map(|lane| batch.state(lane)).collect();
        assert_eq!(states[0], network.initial_state());
        assert_eq!(states[half + 1], batch.state(half + 1));
        for step in 0..n_steps {
            batch.evaluate();
            let lanes: Vec<usize> = (0..batch.n_lanes()).collect();
            let goals = batch.goals(&lanes);
            let mut moves = Vec::new();
            let mut playable = Vec::new();
            for (&lane, state) in lanes.iter().zip(&states) {
                let values = values(network, state, &[]);
                let terminal = value(&values, network.terminal);
                assert_eq!(has(batch.terminal(), lane), terminal, "terminal in lane {lane}");
                let mut stuck = false;
                for (role, found) in goals[lane].iter().enumerate() {
                    let legal = &network.roles[role].legal;
                    let expected: Vec<usize> =
                        (0..legal.len()).filter(|&i| value(&values, legal[i])).collect();
                    batch.legal_moves(lane, RoleId(role as u8), &mut moves);
                    assert_eq!(moves, expected, "legal moves of role {role} in lane {lane}");
                    stuck |= moves.is_empty();
                    let expected = goal(network, &values, role);
                    assert_eq!(*found, expected, "goal of role {role} in lane {lane}");
                }
                playable.push(!terminal && !stuck);
            }
            let joint_moves = if step % 3 == 2 {
                choose(&mut batch, network, &mut seed)
            } else {
                chosen(&mut batch, network, &playable)
            };
            for role in 0..network.roles.len() {
                let percepts = batch.percepts(RoleId(role as u8), &lanes);
                for (&lane, state) in lanes.iter().zip(&states) {
                    let values =
                        values(network, state, joint_moves[lane].as_deref().unwrap_or(&[]));
                    let sees = &network.roles[role].percepts;
                    let expected: Vec<usize> =
                        (0..sees.len()).filter(|&i| value(&values, sees[i].1)).collect();
                    assert_eq!(percepts[lane], expected, "percepts of role {role} in lane {lane}");
                }
            }
            batch.advance();
            for lane in lanes {
                if let Some(joint_move) = &joint_moves[lane] {
                    let values = values(network, &states[lane], joint_move);
                    states[lane] = network.state_where(|fact| value(&values, network.next[fact]));
                }
                assert_eq!(batch.state(lane), states[lane], "state in lane {lane}");
            }
        }
    }
}

/// Chooses in most lanes whatever it may be.
fn choose(batch: &mut Batch, network: &Network, seed: &mut u64) -> Vec<Option<Vec<usize>>> {
    let mut joint_moves = vec![None; batch.n_lanes()];
    for (lane, joint_move) in joint_moves.iter_mut().enumerate() {
        if below(seed, 5) == 0 {
            continue;
        }
        let moves: Vec<usize> =
            network.roles.iter().map(|role| below(seed, role.moves.len())).collect();
        // The second choice replaces the first.
        batch.choose(lane, &vec![0; moves.len()]);
        batch.choose(lane, &moves);
        *joint_move = Some(moves);
    }
    joint_moves
}

/// Lets the batch choose; the moves are one for each role, and legal.
fn chosen(batch: &mut Batch, network: &Network, playable: &[bool]) -> Vec<Option<Vec<usize>>> {
    let moving = batch.choose_at_random().to_vec();
    let mut joint_moves = vec![None; batch.n_lanes()];
    for (lane, joint_move) in joint_moves.iter_mut().enumerate() {
        assert_eq!(has(&moving, lane), playable[lane], "whether lane {lane} moves");
        if !playable[lane] {
            continue;
        }
        let mut moves = Vec::new();
        for (role, outputs) in (0..).map(RoleId).zip(&network.roles) {
            let made: Vec<usize> =
                (0..outputs.moves.len()).filter(|&i| has(batch.chosen(role, i), lane)).collect();
            assert_eq!(made.len(), 1, "moves of {role:?} in lane {lane}");
            assert!(has(batch.legal(role, made[0]), lane), "a legal move in lane {lane}");
            moves.push(made[0]);
        }
        *joint_move = Some(moves);
    }
    joint_moves
}

#[test]
fn random_networks() {
    let mut seed = 2026;
    for n_ands in [0, 1, 3, 10, 30, 100, 300, 1000] {
        for _ in 0..4 {
            let network = random(&mut seed, n_ands);
            check(&network, seed, 4);
        }
    }
}

#[test]
fn networks_made_by_hand() {
    check(&tic_tac_toe(), 1, 9);
    check(&counter(5, 40, |i| i % 3 == 0), 2, 6);
}
