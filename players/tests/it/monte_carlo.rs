//! Flat Monte-Carlo: what it is known to believe.

use games::StateMachine;
use players::{Stop, Value};

use crate::arena::{first_move, machine, machine_of, network, play, play_until, player, text};

fn with(playouts: i64) -> [(&'static str, Value); 1] {
    [("playouts", playouts.into())]
}

/// Uniform play is worth 75 after the centre, 67.14 after a corner, 60 after an
/// edge.
#[test]
fn it_begins_tic_tac_toe_in_the_centre() {
    for mut machine in [machine("tic_tac_toe"), network("tic_tac_toe")] {
        for seed in 0..3 {
            let options = [("playouts", 2000.into()), ("seed", seed.into())];
            let mut player = player("monte_carlo", options);
            let (answer, found) = first_move(machine.as_mut(), player.as_mut(), 0, &Stop::never());
            assert_eq!(text(machine.as_ref(), &[answer]), "(mark 2 2)");
            // Four standard errors of 40 / sqrt(2000) each.
            assert!((72.0..=78.0).contains(&found.value.unwrap()), "{found:?}");
            assert_eq!((found.leaves, found.completed), (18_000, true));
            assert!((5..=9).contains(&found.selective_depth));
        }
    }
}

/// One move is good on average but for a single refutation, which any opponent
/// who looks finds; flat Monte-Carlo, which cannot know, walks into it.
#[test]
fn it_walks_into_a_trap() {
    let rules = "(role me) (role you) (init (at start))
        (<= (legal me trap) (true (at start))) (<= (legal me safe) (true (at start)))
        (<= (legal me wait) (true (at middle)))
        (<= (legal you wait) (true (at start)))
        (answer a) (answer b) (answer c) (answer d)
        (<= (legal you ?x) (true (at middle)) (answer ?x))
        (<= (next (at middle)) (true (at start)))
        (<= (next (chose ?x)) (does me ?x)) (<= (next (chose ?x)) (true (chose ?x)))
        (<= (next (said ?x)) (does you ?x)) (<= (next (at end)) (true (at middle)))
        (<= terminal (true (at end)))
        (<= (goal me 50) (true (chose safe))) (<= (goal me 0) (true (chose trap)) (true (said a)))
        (<= (goal me 100) (true (chose trap)) (not (true (said a))))
        (<= (goal me 0) (true (at start)))
        (<= (goal you 0))";
    let mut machine = machine_of(rules);
    let choice = |machine: &mut dyn StateMachine, kind: &str| {
        let (answer, _) = first_move(machine, player(kind, []).as_mut(), 0, &Stop::never());
        text(machine, &[answer])
    };
    assert_eq!(choice(machine.as_mut(), "monte_carlo"), "trap");
    assert_eq!(choice(machine.as_mut(), "minimax"), "safe");
}

/// Against one who moves at random it seldom loses, and it wins most matches.
#[test]
fn it_is_much_stronger_than_random() {
    let mut machine = network("tic_tac_toe");
    let mut sum = 0;
    for seed in 0..40 {
        let mut seats = [player("random", []), player("monte_carlo", with(100))];
        sum += u32::from(play(machine.as_mut(), &mut seats, seed).goals[1]);
    }
    // Random gets 35 in this seat.
    assert!(sum > 40 * 75, "{sum}");
}

/// What it answers, and what it took, is the same for the same seed; nodes are
/// kept but for the step that is under way in all lanes.
#[test]
fn a_node_budget_is_kept_and_repeats_itself() {
    let mut machine = network("breakthrough");
    let stop = Stop::never().after_nodes(3000);
    let mut once = |seed| {
        let mut seats = [player("monte_carlo", []), player("random", [])];
        play_until(machine.as_mut(), &mut seats, seed, &stop)
    };
    let played = once(1);
    assert_eq!(once(1), played);
    assert_ne!(once(2).moves, played.moves);
    for found in played.steps.iter().filter_map(|step| step[0].as_ref()) {
        assert!(found.nodes < 3000 + 512, "{found:?}");
    }
    // Every playout ends immediately, and the budget all the same.
    let rules = "(role me) (move a) (move b) (<= (legal me ?m) (move ?m))
        (<= (next over) (role me)) (<= terminal (true over)) (goal me 100)";
    let found =
        first_move(machine_of(rules).as_mut(), player("monte_carlo", []).as_mut(), 0, &stop);
    assert_eq!((found.1.nodes, found.1.value), (3000, Some(100.0)));
}
