//! Children computed together: the same answers and the same counts as one by one.

use std::sync::Arc;

use games::EvaluationMethod;
use games::{
    Cancel, Case, GroundingLimits, Guards, Leniency, MoveId, NetworkMachine, Prover, StateMachine,
    ground, library, validate,
};
use players::{Deliberation, Options, Player, Stop, Turn, Value};

use crate::arena::{Said, first_move, in_words, legal, player, seat};

/// The reasoner that computes one child after the other, and one for each way to
/// compute positions that computes them together where that is faster.
fn machines(name: &str) -> (Prover, [NetworkMachine; 2]) {
    let text = library::find(name).unwrap().text;
    let game = validate::read(name, text, Case::default(), Leniency::default()).game.unwrap();
    let game = Arc::new(game);
    let prover = Prover::new(Arc::clone(&game), Guards::default()).unwrap();
    let network = Arc::new(ground(&game, &GroundingLimits::default(), &Cancel::new()).unwrap());
    let machine = |evaluation| {
        NetworkMachine::with_evaluation(Arc::clone(&network), prover.clone(), evaluation)
    };
    let machines = [machine(EvaluationMethod::Differential), machine(EvaluationMethod::Pass)];
    (prover, machines)
}

#[test]
fn players_answer_the_same() {
    let no: Value = false.into();
    let none: Value = 0.into();
    let settings: [&[(&str, Value)]; 5] = [
        &[],
        &[("transposition", none.clone())],
        &[("deepening", no.clone()), ("transposition", none.clone()), ("depth", 3.into())],
        &[("evaluation", Value::from("mobility")), ("bounded", no.clone())],
        &[("evaluation", Value::from("zero")), ("depth", 2.into()), ("bounded", no)],
    ];
    let opponents: [(&str, &[&str]); 2] = [
        ("minimax", &["paranoid", "matrix", "max_n", "cooperative"]),
        ("alpha_beta", &["paranoid", "cooperative"]),
    ];
    let names = [
        "tic_tac_toe",
        "tic_tac_toe_three_players",
        "connect_four",
        "bidding_tic_tac_toe",
        "breakthrough_6x6",
        "othello_4x4",
        "hex_5x5",
        "pig",
        "nim",
        "rock_paper_scissors",
        "coin_flip",
        "tron",
    ];
    let mut n_together = 0;
    for name in names {
        let (mut prover, mut machines) = machines(name);
        n_together += machines.iter().filter(|machine| machine.expansion_range().is_some()).count();
        for setting in settings {
            for (kind, opponents) in opponents {
                for &opponents in opponents {
                    let mut search = setting.to_vec();
                    search.push(("opponents", opponents.into()));
                    let answer = |machine: &mut dyn StateMachine| {
                        let options: Options = search.iter().cloned().collect();
                        let mut player = (players::find(kind).unwrap().make)(&options).unwrap();
                        let stop = Stop::never().after_nodes(400);
                        let (answer, found) = begun(machine, player.as_mut(), &stop);
                        (machine.move_expression(answer), in_words(machine, &found))
                    };
                    let expected = answer(&mut prover);
                    for machine in &mut machines {
                        let evaluation = machine.evaluation();
                        let place = format!("{name}, {kind} with {search:?}, {evaluation:?}");
                        assert_eq!(answer(machine), expected, "{place}");
                    }
                }
            }
        }
    }
    assert_eq!(n_together, 2 * names.len());
}

/// The first move, without what a player does before the match.
fn begun(
    machine: &mut dyn StateMachine,
    player: &mut dyn Player,
    stop: &Stop,
) -> (MoveId, Deliberation) {
    let budget = Stop::never().after_nodes(1);
    player.start(seat(machine, 0, 1), &budget).unwrap();
    let state = machine.initial_state().unwrap();
    let legal = legal(machine, &state, 0);
    let turn = Turn { step: 0, observation: None, legal: &legal };
    let answer = player.play(&turn, stop).unwrap();
    (answer, player.deliberation().unwrap_or_default())
}

#[test]
fn the_whole_tree_of_tic_tac_toe_is_counted() {
    let (_, machines) = machines("tic_tac_toe");
    for mut machine in machines {
        let options =
            [("deepening", false.into()), ("bounded", false.into()), ("transposition", 0.into())];
        let mut minimax = player("minimax", options.clone());
        let (_, found) = first_move(&mut machine, minimax.as_mut(), 0, &Stop::never());
        assert_eq!((found.nodes, found.leaves, found.next_calls), (549_946, 255_168, 549_945));
        let mut alpha_beta = player("alpha_beta", [options[0].clone(), options[2].clone()]);
        let (_, found) = first_move(&mut machine, alpha_beta.as_mut(), 0, &Stop::never());
        assert_eq!((found.nodes, found.value), (16_811, Some(50.0)));
    }
}

#[test]
fn plans_are_the_same() {
    for name in ["hanoi_small", "buttons_and_lights", "eight_puzzle_course", "maze"] {
        let (mut prover, machines) = machines(name);
        let expected = plan(&mut prover);
        for mut machine in machines {
            assert_eq!(plan(&mut machine), expected, "{name}");
        }
    }
}

fn plan(machine: &mut dyn StateMachine) -> (String, Said) {
    let mut planner = player("sequential_planner", []);
    let stop = Stop::never().after_nodes(3000);
    let (answer, found) = begun(machine, planner.as_mut(), &stop);
    (machine.move_expression(answer).to_string(), in_words(machine, &found))
}
