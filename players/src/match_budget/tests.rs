//! What a budget for a match gives each move.

use std::sync::{Arc, Mutex};

use games::RoleId;

use super::*;
use crate::options::Value;
use crate::testing::shipped;
use crate::{Options, find};

/// What a move may use: the deadline, if there is one, and the node budget.
type Limits = (Option<Instant>, Option<u64>);

/// A player that spends its part of what it gets, and keeps what it got.
#[derive(Clone, Default)]
struct Spender {
    /// All but this part of a node budget is spent.
    saved: f64,
    got: Arc<Mutex<Vec<Limits>>>,
    last: u64,
}

impl Player for Spender {
    fn start(&mut self, _: Seat, _: &Stop) -> Result<(), Failure> {
        Ok(())
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        self.got.lock().unwrap().push((stop.deadline(), stop.node_budget()));
        let nodes = stop.node_budget().unwrap_or(0) as f64;
        self.last = (nodes * (1.0 - self.saved)) as u64;
        Ok(turn.legal[0])
    }

    fn abort(&mut self) {}

    fn deliberation(&self) -> Option<Deliberation> {
        Some(Deliberation { nodes: self.last, ..Deliberation::default() })
    }
}

/// A match of `player` in the first role against random moves; what it said of each own move.
fn play_match(game: &str, player: &mut dyn Player, stop: &Stop) -> Vec<Deliberation> {
    let mut machine = shipped(game);
    let mut rng = seed::generator(7, None);
    let me = RoleId(0);
    let seat = Seat {
        machine: machine.fork().into(),
        role: me,
        start_clock: None,
        play_clock: None,
        seed: 3,
    };
    player.start(seat, &Stop::never().after_nodes(100)).unwrap();
    let mut state = machine.initial_state().unwrap();
    let (mut observation, mut said) = (None, Vec::new());
    for step in 0.. {
        if machine.is_terminal(&state).unwrap() {
            break;
        }
        let mut joint_move = Vec::new();
        for role in machine.game().role_ids() {
            let mut legal = Vec::new();
            machine.legal_moves(&state, role, &mut legal).unwrap();
            joint_move.push(legal[rng.random_range(0..legal.len())]);
            if role == me {
                let turn = Turn { step, observation: observation.as_ref(), legal: &legal };
                let chosen = player.play(&turn, stop).unwrap();
                assert!(legal.contains(&chosen));
                if legal.len() > 1 {
                    said.push(player.deliberation().unwrap());
                }
                *joint_move.last_mut().unwrap() = chosen;
            }
        }
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next).unwrap();
        state = next;
        observation = Some(Observation::JointMove(joint_move));
    }
    player.stop(observation.as_ref());
    said
}

fn limited(budget: MatchBudget, saved: f64) -> (Spender, Box<dyn Player>) {
    let spender = Spender { saved, ..Spender::default() };
    (spender.clone(), budget.limit("spender", None, spender))
}

/// The first move gets one and a half times its part of random play's length, every later one at most half of what is
/// left.
#[test]
fn nodes_are_allocated_over_the_moves() {
    let budget = MatchBudget { time: None, nodes: Some(100_000) };
    let (spender, mut player) = limited(budget, 0.0);
    let said = play_match("connect_four", &mut *player, &Stop::never());
    let got = spender.got.lock().unwrap();
    let shares: Vec<u64> = said.iter().map(|said| said.nodes).collect();
    assert!(shares.len() > 3, "{shares:?}");
    // A random match has about 21 steps.
    assert!((100_000 / 9..100_000 / 5).contains(&shares[0]), "{shares:?}");
    let mut left = 100_000;
    for &share in &shares {
        assert!(share > 0 && share <= left / 2 + 1, "{shares:?}");
        left -= share;
    }
    assert!(got.iter().all(|(deadline, _)| deadline.is_none()));
    assert!(said[0].notes[0].starts_with("allocated "), "{:?}", said[0].notes);
    // A move without a choice gets what the caller allows, and costs nothing.
    let n_free = got.iter().filter(|(_, nodes)| nodes.is_none()).count();
    assert_eq!(got.len(), shares.len() + n_free);
    assert!(n_free > 0);
}

/// Where searches end early, later ones may use more; nothing of the budget is lost.
#[test]
fn what_is_saved_is_left_for_later_moves() {
    let shares = |saved| {
        let budget = MatchBudget { time: None, nodes: Some(1_000_000) };
        let (spender, mut player) = limited(budget, saved);
        play_match("connect_four", &mut *player, &Stop::never());
        let got = spender.got.lock().unwrap();
        got.iter().filter_map(|(_, nodes)| *nodes).collect::<Vec<u64>>()
    };
    let (all, half, tenth) = (shares(0.0), shares(0.5), shares(0.9));
    assert_eq!(all[0], half[0]);
    for at in 1..all.len() {
        assert!(all[at] < half[at] && half[at] < tenth[at], "{all:?} {half:?} {tenth:?}");
    }
}

/// The limits of the caller hold, too; and a new match has a new budget.
#[test]
fn a_share_is_never_more_than_the_clock() {
    let budget = MatchBudget { time: Some(Duration::from_secs(1000)), nodes: Some(1_000_000) };
    let (spender, mut player) = limited(budget, 0.0);
    let soon = Instant::now() + Duration::from_secs(2);
    for _ in 0..2 {
        play_match("tic_tac_toe", &mut *player, &Stop::never().at(soon).after_nodes(70));
        play_match("tic_tac_toe", &mut *player, &Stop::never());
    }
    let got = spender.got.lock().unwrap();
    let within = |(deadline, nodes): &&Limits| {
        deadline.is_some_and(|deadline| deadline <= soon) && nodes.is_some_and(|nodes| nodes <= 70)
    };
    assert!(got.iter().filter(within).count() >= 6, "{got:?}");
    let first_shares: Vec<u64> =
        got.iter().filter_map(|(_, nodes)| *nodes).filter(|&nodes| nodes > 150_000).collect();
    assert!(first_shares.len() >= 2, "{got:?}");
}

/// The players spend no more in a match than its budget, and most of it where a match has as many
/// moves as expected.
#[test]
fn players_keep_the_budget_of_a_match() {
    for kind in ["alpha_beta", "mcts"] {
        for (game, least) in [("connect_four", 3000), ("breakthrough_6x6", 3000)] {
            let options = Options::new().with("match_nodes", 20_000);
            let mut player = (find(kind).unwrap().make)(&options).unwrap();
            let said = play_match(game, &mut *player, &Stop::never());
            let spent: u64 = said.iter().map(|said| said.nodes).sum();
            assert!((least..=20_000).contains(&spent), "{kind}, {game}: {spent}");
        }
    }
}

#[test]
fn budgets_are_read() {
    let make = |name: &str, value: Value| {
        (find("mcts").unwrap().make)(&Options::new().with(name, value)).map(|_| ())
    };
    assert_eq!(make("match_time", "1m 30s".into()), Ok(()));
    assert_eq!(make("match_nodes", 1.into()), Ok(()));
    for (name, value) in [
        ("match_time", Value::from("0s")),
        ("match_time", Value::from("-1s")),
        ("match_time", Value::from("5")),
        ("match_time", Value::from("90days")),
        ("match_time", Value::from(5)),
        ("match_nodes", Value::from(0)),
        ("match_nodes", Value::from("1s")),
    ] {
        let error = make(name, value).unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}
