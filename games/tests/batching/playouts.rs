//! Statistics of playouts against what is known of them.

use std::sync::Arc;

use games::batch::{Limits, PlayoutControl, Playouts};
use games::compiled_network::{CompiledNetwork, Width};
use games::{Batch, Network, library};

use super::chains::chains;
use super::networks::{counter, network, network_of, tic_tac_toe};

fn limits(n_playouts: u64) -> Limits {
    Limits { n_playouts, ..Limits::default() }
}

#[test]
fn tic_tac_toe_has_its_known_means() {
    // Exact, by enumeration: X wins 0.58492, O 0.28810, draws 0.12698; the
    // mean length is 7.6262.
    let program = Arc::new(CompiledNetwork::new(tic_tac_toe()));
    let state = program.network().initial_state();
    for width in Width::ALL {
        let playouts = Batch::new(&program, width, 5).playouts(&state, &limits(200_000));
        assert_eq!(playouts.n, 200_000);
        assert_eq!((playouts.n_cut, playouts.n_stuck), (0, 0));
        assert_eq!((playouts.min_length, playouts.max_length), (5, 9));
        let (x, o) = (&playouts.goals[0], &playouts.goals[1]);
        assert_eq!((x.n(), x.n_undefined), (200_000, 0));
        assert_eq!(x.counts[50], o.counts[50]);
        assert_eq!(x.counts[100], o.counts[0]);
        let near = |value: f64, expected: f64, error: f64| {
            assert!((value - expected).abs() < error, "{value}, not {expected}");
        };
        near(x.counts[100] as f64 / 2e5, 0.58492, 0.0055);
        near(o.counts[100] as f64 / 2e5, 0.28810, 0.0055);
        near(playouts.mean_length().unwrap(), 7.6262, 0.02);
        assert_eq!(x.sum(), x.counts[50] * 50 + x.counts[100] * 100);
    }
}

#[test]
fn equal_seeds_play_equal_games() {
    let program = Arc::new(CompiledNetwork::new(tic_tac_toe()));
    let state = program.network().initial_state();
    let play = |seed| Batch::new(&program, Width::Lanes256, seed).playouts(&state, &limits(5000));
    assert_eq!(play(1), play(1));
    assert_ne!(play(1), play(2));
}

#[test]
fn few_playouts_are_exactly_as_many() {
    let program = Arc::new(CompiledNetwork::new(tic_tac_toe()));
    let state = program.network().initial_state();
    let mut sum = Playouts::none(2);
    for n in [0, 1, 2, 63, 64, 65, 511, 512, 513] {
        let playouts = Batch::new(&program, Width::Lanes512, n).playouts(&state, &limits(n));
        assert_eq!(playouts.n, n);
        assert_eq!(playouts.goals[1].n(), n);
        sum.add(&playouts);
    }
    assert_eq!(sum.n, 1731);
    assert_eq!(sum.goals[0].n(), 1731);
}

#[test]
fn a_budget_of_states_favours_no_length() {
    let program = Arc::new(CompiledNetwork::new(tic_tac_toe()));
    let state = program.network().initial_state();
    let mut sum = Playouts::none(2);
    for seed in 0..200 {
        let limits = Limits { n_states: 2500, ..Limits::default() };
        sum.add(&Batch::new(&program, Width::Lanes512, seed).playouts(&state, &limits));
    }
    let mean = sum.mean_length().unwrap();
    assert!((mean - 7.6262).abs() < 0.02, "{mean}");
}

#[test]
fn long_playouts_are_cut_and_dead_ends_noted() {
    let program = Arc::new(CompiledNetwork::new(counter(20, 5, |_| false)));
    let state = program.network().initial_state();
    let mut batch = Batch::new(&program, Width::Lanes64, 1);
    let cut = Limits { n_playouts: 1000, max_length: 7, ..Limits::default() };
    let playouts = batch.playouts(&state, &cut);
    assert_eq!((playouts.n, playouts.n_cut, playouts.n_states), (1000, 1000, 7000));
    assert_eq!((playouts.min_length, playouts.max_length), (7, 7));
    assert_eq!(playouts.goals[0].n(), 0);
    let whole = batch.playouts(&state, &limits(1000));
    assert_eq!((whole.n, whole.n_cut, whole.n_states), (1000, 0, 20_000));
    assert_eq!(whole.goals[0].n(), 1000);

    let program = Arc::new(CompiledNetwork::new(counter(20, 5, |_| true)));
    let playouts = Batch::new(&program, Width::Lanes64, 1).playouts(&state, &limits(100));
    assert_eq!((playouts.n, playouts.n_stuck, playouts.n_states), (100, 100, 0));
}

#[test]
fn who_watches_may_end_playing() {
    let program = Arc::new(CompiledNetwork::new(tic_tac_toe()));
    let state = program.network().initial_state();
    let mut batch = Batch::new(&program, Width::Lanes256, 1);
    let all = Limits::default();
    let until = |n, course| {
        move |playouts: &Playouts| {
            if playouts.n_states < n { PlayoutControl::Continue } else { course }
        }
    };
    // What runs is finished, so the means are right however short it is.
    let mut sum = Playouts::none(2);
    for _ in 0..100 {
        sum.add(&batch.playouts_while(&state, &all, &mut until(3000, PlayoutControl::Finish)));
    }
    assert_eq!((sum.n_abandoned, sum.goals[0].n()), (0, sum.n));
    assert!(sum.n_states >= 300_000);
    let mean = sum.mean_length().unwrap();
    assert!((mean - 7.6262).abs() < 0.03, "{mean}");

    // What runs is given up: some are over after five steps, none before.
    let playouts =
        batch.playouts_while(&state, &all, &mut until(5 * 256 + 1, PlayoutControl::Stop));
    assert_eq!(playouts.goals[1].n() + playouts.n_abandoned, playouts.n);
    assert!(playouts.n > 256 && playouts.n_abandoned == 256, "{playouts:?}");
    assert_eq!((playouts.min_length, playouts.max_length), (5, 5));

    let playouts = batch.playouts_while(&state, &all, &mut until(0, PlayoutControl::Stop));
    assert_eq!((playouts.n, playouts.n_abandoned, playouts.n_states), (256, 256, 0));
}

/// Playouts that end where they start reach no state; a number of states to reach
/// ends them all the same.
#[test]
fn playouts_without_steps_come_to_an_end() {
    let program = Arc::new(CompiledNetwork::new(tic_tac_toe()));
    let state = program.network().initial_state();
    let limits = Limits { n_states: 1000, max_length: 0, ..Limits::default() };
    for width in Width::ALL {
        let playouts = Batch::new(&program, width, 5).playouts(&state, &limits);
        assert_eq!((playouts.n_states, playouts.n_cut), (0, playouts.n));
        assert!((1000..1000 + 512).contains(&playouts.n), "{}", playouts.n);
    }
}

#[test]
fn machine_code_plays_the_same_games() {
    let names =
        ["amazons_6x6", "breakthrough_5x5", "go_5x5", "hex", "hex_5x5", "othello_4x4", "tron"];
    for name in names {
        check_machine_code(&network(name), name);
    }
}

/// Compares the playouts of machine code with those of the interpreter.
fn check_machine_code(network: &Arc<Network>, name: &str) {
    for width in [Width::Lanes256, Width::Lanes512] {
        let program = Arc::new(CompiledNetwork::new(Arc::clone(network)));
        let state = network.initial_state();
        let play = || Batch::new(&program, width, 3).playouts(&state, &limits(2000));
        let interpreted = play();
        if program.translate(width).is_ok() {
            assert_eq!(play(), interpreted, "{name}, {width:?}");
        }
    }
}

/// Playouts that are kept at the same steps are as many, as long and end as those that start at any
/// time, whether they start by turns or all together, and from any state.
#[test]
fn time_frames_change_no_statistics() {
    for (name, network, n_frames, max_length) in
        [("amazons_6x6", network("amazons_6x6"), 2, 200), ("chains", network_of(&chains(5)), 4, 25)]
    {
        check_machine_code(&network, name);
        let program = Arc::new(CompiledNetwork::new(network));
        assert_eq!(program.n_time_frames(Width::Lanes256), 0, "{name}");
        assert!(program.n_time_frames(Width::Lanes512) >= n_frames, "{name}");
        let _ = program.translate(Width::Lanes512);
        let mut walk = Batch::new(&program, Width::Lanes64, 1);
        for n_steps in [0, 1, 2, 3] {
            let state = walk.state(0);
            let play = |width, n| {
                let played = Batch::new(&program, width, 1).playouts(&state, &limits(n));
                assert_eq!((played.n, played.n_cut, played.n_stuck), (n, 0, 0), "{name}");
                assert!(played.max_length <= max_length - n_steps, "{name}");
                assert_eq!(played.goals[0].n(), n, "{name}");
                [played.mean_length().unwrap(), played.goals[0].mean().unwrap()]
            };
            let n = 20_000;
            let (framed, free) = (play(Width::Lanes512, n), play(Width::Lanes256, n));
            // Four standard errors of the difference, or more.
            let error = 4.0 * (2.0 / n as f64).sqrt();
            assert!((framed[0] - free[0]).abs() < error * 5.0, "{name}: {framed:?}, {free:?}");
            assert!((framed[1] - free[1]).abs() < error * 50.0, "{name}: {framed:?}, {free:?}");
            // Fewer than lanes, and more by one.
            play(Width::Lanes512, 100);
            play(Width::Lanes512, 513);
            walk.evaluate();
            walk.choose_at_random();
            walk.advance();
        }
    }
}

/// A chain that no play leads to, of the role whose turn it is, ends the game where playouts start,
/// though it is left out of the code for later positions of that turn.
#[test]
fn ends_are_seen_where_playouts_start() {
    let network = network("hex");
    let program = Arc::new(CompiledNetwork::new(Arc::clone(&network)));
    assert_eq!(program.n_time_frames(Width::Lanes512), 2);
    let _ = program.translate(Width::Lanes512);
    let holds = |fact: usize| {
        let fact = network.facts[fact].to_string();
        fact.starts_with("(cell 4 ") && fact.ends_with(" red)") || fact == "(control red)"
    };
    let won = network.state_where(holds);
    let played = Batch::new(&program, Width::Lanes512, 1).playouts(&won, &limits(1000));
    assert_eq!((played.n, played.max_length, played.goals[0].counts[100]), (1000, 0, 1000));
}

/// What holds from the first step on is false again where a lane starts anew, though it is known at
/// the steps of the other turn.
#[test]
fn lanes_that_start_anew_have_the_facts_of_the_beginning() {
    let text = library::find("amazons_6x6").unwrap().text;
    let begins = "(base started) (<= (input ?p pass) (role ?p)) (<= (next started) (role white))
        (<= (legal ?p pass) (true (control ?p)) (not (true started)))";
    let network = network_of(&format!("{text}\n{begins}"));
    assert_eq!(CompiledNetwork::new(Arc::clone(&network)).n_time_frames(Width::Lanes512), 2);
    check_machine_code(&network, "amazons with a first step");
}
