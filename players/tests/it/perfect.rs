//! Perfect play, by a table and without one.

use std::sync::Arc;

use games::solve::{Alone, Phase, Solver};
use games::{Cancel, StateMachine};
use players::{Failure, Stop, Value};

use crate::arena::{first_move, machine, machine_of, play, play_until, player, seat};

/// The table of a game, as an option.
fn table(machine: &dyn StateMachine) -> Value {
    let mut solver = Solver::new(machine.game(), 1 << 28, 1, &Cancel::new()).unwrap();
    while solver.progress().phase != Phase::Done {
        solver.step(&Alone).unwrap();
    }
    Value::Table("a.table".into(), Arc::new(solver.table(&Alone)))
}

/// Whoever plays perfectly gets at least the value of its role, whatever the other does.
#[test]
fn nobody_gets_more_than_the_value_against_it() {
    for (name, values) in [
        ("tic_tac_toe", [50, 50]),
        ("connect_three", [50, 50]),
        ("nim", [100, 0]),
        ("nim_misere", [0, 100]),
    ] {
        let mut machine = machine(name);
        let table = table(&*machine);
        for seed in 0..20 {
            for role in 0..2 {
                for other in ["random", "legal", "perfect"] {
                    let mut seats = [player(other, []), player(other, [])];
                    seats[role] = player("perfect", [("table", table.clone())]);
                    let played = play(machine.as_mut(), &mut seats, seed);
                    assert!(played.goals[role] >= values[role], "{name}, {other}, {seed}");
                    if other == "perfect" {
                        assert_eq!(played.goals, values, "{name}, {seed}");
                    }
                }
            }
        }
    }
}

/// It draws among all best moves, and the seed decides.
#[test]
fn the_seed_draws_among_the_best_moves() {
    let mut machine = machine("aima_two_ply");
    for seed in 0..5 {
        let mut perfect = player("perfect", [("seed", seed.into())]);
        let (answer, said) = first_move(machine.as_mut(), &mut *perfect, 0, &Stop::never());
        assert_eq!(machine.move_expression(answer).to_string(), "a1");
        assert_eq!(said.value, Some(3.0));
        let values: Vec<f64> = said.candidates.iter().map(|it| it.value.unwrap()).collect();
        assert_eq!(values, [3.0, 2.0, 2.0]);
    }
    // All nine openings of tic-tac-toe are worth the same.
    let mut machine = crate::arena::machine("tic_tac_toe");
    let option = table(&*machine);
    let mut openings = std::collections::BTreeSet::new();
    for seed in 0..100 {
        let mut first = || {
            let options = [("table", option.clone()), ("seed", seed.into())];
            let mut player = player("perfect", options);
            first_move(machine.as_mut(), &mut *player, 0, &Stop::never()).0
        };
        let answer = first();
        assert_eq!(answer, first(), "same seed, same move");
        openings.insert(answer);
    }
    assert_eq!(openings.len(), 9);
}

/// Mixed strategies are drawn from: over many matches of matching pennies each side wins
/// about half, against any opponent.
#[test]
fn mixed_strategies_are_mixed() {
    let mut machine = machine("matching_pennies");
    let option = table(&*machine);
    let mut n_won = 0;
    for seed in 0..400 {
        let mut seats = [player("perfect", [("table", option.clone())]), player("legal", [])];
        n_won += u32::from(play(machine.as_mut(), &mut seats, seed).goals[0] == 100);
    }
    // Five standard deviations.
    assert!((150..=250).contains(&n_won), "{n_won} of 400");
}

/// Without time to solve the game it plays on, and says so.
#[test]
fn it_says_when_the_game_is_not_solved() {
    let mut machine = machine("tic_tac_toe");
    let stop = Stop::never().after_nodes(20);
    let mut seats = [player("perfect", []), player("perfect", [])];
    let played = play_until(machine.as_mut(), &mut seats, 1, &stop);
    let said = played.steps[0][0].as_ref().unwrap();
    assert_eq!(said.notes, ["the game is not solved yet; the move is random"]);
    // What it solves in one question it keeps for the next.
    let stop = Stop::never().after_nodes(2000);
    let played = play_until(machine.as_mut(), &mut seats, 1, &stop);
    assert!(played.steps.last().unwrap()[0].as_ref().unwrap().notes.is_empty());
}

#[test]
fn a_table_of_another_game_is_refused() {
    let nim = table(&*machine("nim"));
    let machine = machine("tic_tac_toe");
    let started = player("perfect", [("table", nim)]).start(seat(&*machine, 0, 1), &Stop::never());
    match started {
        Err(Failure::Unsuitable(reason)) => {
            assert!(reason.starts_with("the table is of another game"), "{reason}");
        }
        other => panic!("{other:?}"),
    }
    // Rules without a value are refused, too.
    let chicken = machine_of(
        "(role a) (role b) (init start) (legal ?r go) (legal ?r stay)
         (<= (next (did ?r ?m)) (does ?r ?m)) (<= terminal (true (did a ?m)))
         (<= (goal ?r 0) (role ?r) (true (did a go)) (true (did b go)))
         (<= (goal ?r 50) (role ?r) (true (did a stay)) (true (did b stay)))
         (<= (goal ?r 100) (true (did ?r go)) (true (did ?q stay)) (distinct ?q ?r))
         (<= (goal ?r 20) (true (did ?r stay)) (true (did ?q go)) (distinct ?q ?r))"
            .replace(
                "(legal ?r go) (legal ?r stay)",
                "(<= (legal ?r go) (role ?r)) (<= (legal ?r stay) (role ?r))",
            )
            .as_str(),
    );
    let started = player("perfect", []).start(seat(&*chicken, 0, 1), &Stop::never());
    assert!(matches!(started, Err(Failure::Unsuitable(_))), "{started:?}");
}

/// Alpha-beta with a table of the whole game needs to look one move ahead.
#[test]
fn alpha_beta_takes_values_from_a_table() {
    let mut machine = machine("tic_tac_toe");
    let options = [("table", table(&*machine)), ("transposition", 0.into())];
    let mut knowing = player("alpha_beta", options);
    let (_, said) = first_move(machine.as_mut(), &mut *knowing, 0, &Stop::never());
    assert_eq!((said.value, said.completed), (Some(50.0), true));
    assert!(said.nodes <= 2 && said.table_hits >= 1, "{said:?}");
    // Three roles play for themselves, and not against all others.
    let truel = crate::arena::machine("truel");
    let mut refused = player("alpha_beta", [("table", table(&*truel))]);
    let started = refused.start(seat(&*truel, 0, 1), &Stop::never());
    assert!(matches!(started, Err(Failure::Unsuitable(_))), "{started:?}");
    let options = [("table", table(&*machine)), ("opponents", "cooperative".into())];
    let options: players::Options = options.into_iter().collect();
    let refused = (players::find("alpha_beta").unwrap().make)(&options);
    assert!(refused.err().unwrap().to_string().contains("no table"));
}

/// Where play may go in circles, a match that is won is also ended.
#[test]
fn a_win_at_once_is_preferred_to_a_won_position() {
    let mut machine = machine_of(
        "(role a) (role b) (init (at 0)) (init (turn a))
         (next_of 0 1) (next_of 1 2) (next_of 2 0)
         (<= (legal ?r walk) (true (turn ?r)))
         (<= (legal a take) (true (turn a)) (true (at 0)))
         (<= (legal a wait) (true (turn b))) (<= (legal b wait) (true (turn a)))
         (<= (next (turn b)) (true (turn a))) (<= (next (turn a)) (true (turn b)))
         (<= (next (at ?y)) (does a walk) (true (at ?x)) (next_of ?x ?y))
         (<= (next (at ?x)) (does b walk) (true (at ?x)))
         (<= (next taken) (does a take)) (<= terminal (true taken))
         (<= (goal a 100) (true taken)) (<= (goal b 0) (true taken))
         (<= (goal ?r 50) (role ?r) (not (true taken)))",
    );
    let table = table(&*machine);
    for kind in ["perfect", "alpha_beta", "mcts"] {
        for seed in 0..10 {
            let mut seats = [player(kind, [("table", table.clone())]), player("random", [])];
            let played = play(machine.as_mut(), &mut seats, seed);
            assert_eq!((played.steps.len(), &played.goals[..]), (1, &[100, 0][..]), "{kind}");
        }
    }
}

/// Where roles choose at the same time, the table says how to mix.
#[test]
fn players_with_a_table_mix_their_moves() {
    let mut machine = machine("rock_paper_scissors");
    let table = table(&*machine);
    for kind in ["perfect", "alpha_beta", "mcts"] {
        let mut knowing = player(kind, [("table", table.clone())]);
        let (_, said) = first_move(machine.as_mut(), &mut *knowing, 0, &Stop::never());
        assert_eq!((said.value, said.proven), (Some(50.0), true), "{kind}");
        let shares: Vec<_> = said.candidates.iter().map(|it| it.probability).collect();
        assert!(
            shares.iter().all(|it| (it.unwrap() - 1.0 / 3.0).abs() < 1e-9),
            "{kind}: {shares:?}"
        );
    }
}
