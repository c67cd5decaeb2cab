//! Players of games with hidden information, against known values.

use games::{Expression, State, StateMachine};
use players::{Deliberation, Observation, Player, Stop, Turn, Value};

use crate::arena::{
    is_seat, legal, machine, machine_of, play, play_until, player, role_id, seat, text,
};

/// The answer of `player` in `role` after these joint moves, which it is told as a match
/// would tell them; only the last question is worth a search.
fn after(
    machine: &mut dyn StateMachine,
    player: &mut dyn Player,
    role: usize,
    line: &str,
) -> (String, Deliberation) {
    let rushed = || {
        let cancel = games::Cancel::new();
        cancel.cancel();
        Stop::never().on(cancel)
    };
    player.start(seat(machine, role, 1), &rushed()).unwrap();
    let mut state = machine.initial_state().unwrap();
    let mut observation: Option<Observation> = None;
    let joint_moves = Expression::parse(&format!("({line})")).unwrap();
    let Expression::List(joint_moves) = joint_moves else { unreachable!() };
    for step in 0..=joint_moves.len() {
        let legal = legal(machine, &state, role);
        let number = u32::try_from(step).unwrap();
        let turn = Turn { step: number, observation: observation.as_ref(), legal: &legal };
        let Some(joint_move) = joint_moves.get(step) else {
            let answer = player.play(&turn, &Stop::never()).unwrap();
            return (text(machine, &[answer]), player.deliberation().unwrap());
        };
        player.play(&turn, &rushed()).unwrap();
        let Expression::List(moves) = joint_move else { unreachable!() };
        let moves: Vec<_> = moves.iter().map(|one| machine.find_move(one).unwrap()).collect();
        observation = Some(if machine.game().kind().hidden_information {
            let percepts = machine.percepts(&state, &moves, role_id(role)).unwrap();
            Observation::Percepts { own_move: moves[role], percepts }
        } else {
            Observation::JointMove(moves.clone())
        });
        let mut next = State::default();
        machine.next_state(&state, &moves, &mut next).unwrap();
        state = next;
    }
    unreachable!("the last question returns")
}

/// What `kind` thinks each of its moves is worth after these joint moves, and its choice.
fn values<const N: usize>(
    game: &str,
    kind: &str,
    options: [(&str, Value); N],
    role: usize,
    line: &str,
) -> (String, Vec<(String, f64)>) {
    let mut machine = machine(game);
    let mut player = player(kind, options);
    let (answer, said) = after(machine.as_mut(), player.as_mut(), role, line);
    let value = |it: &players::Candidate| (text(machine.as_ref(), &[it.action]), it.value.unwrap());
    (answer, said.candidates.iter().map(value).collect())
}

fn check(found: &[(String, f64)], expected: &[(&str, f64)]) {
    assert_eq!(found.len(), expected.len(), "{found:?}");
    for ((name, value), (expected_name, expected)) in found.iter().zip(expected) {
        assert_eq!(name, expected_name, "{found:?}");
        assert!((value - expected).abs() < 1e-6, "{found:?}");
    }
}

/// What follows the deal in the four-card hand, as max sees it.
const DEALT: &str = "(noop noop (deal hearts 4))";
const HIDDEN: &str = "(noop (hide left))";

/// With open cards the fork is worth 100 on either side, so averaging takes it, asks
/// nothing, and sees no difference between four leads (Russell and Norvig).
#[test]
fn determinization_does_not_know_what_it_will_not_know() {
    let (answer, found) = values("two_roads", "determinization", [], 0, HIDDEN);
    check(&found, &[("roada", 60.0), ("roadb", 100.0)]);
    assert_eq!(answer, "roadb");
    let (answer, found) = values("two_roads_ask", "determinization", [], 0, HIDDEN);
    check(&found, &[("ask", 90.0), ("roada", 60.0), ("roadb", 100.0)]);
    assert_eq!(answer, "roadb");
    let (_, found) = values("four_card_whist", "determinization", [], 0, DEALT);
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|(_, value)| (value - 50.0).abs() < 1e-6), "{found:?}");
}

/// A sample of the deals is drawn where there are more.
#[test]
fn determinization_samples_deals() {
    let mut machine = machine("hidden_hands");
    let mut seats = [player("determinization", [("deals", 3.into())]), player("random", [])];
    let played = play_until(machine.as_mut(), &mut seats, 1, &Stop::never().after_nodes(2_000));
    let said = played.steps[6][0].as_ref().unwrap();
    assert!(said.notes.iter().any(|note| note == "deals: 3 different ones drawn"), "{said:?}");
    assert!(said.nodes <= 2_000 && !said.candidates.is_empty(), "{said:?}");
}

/// The table is bounded, and a full one is said.
#[test]
fn determinization_says_that_its_table_is_full() {
    let mut machine = machine("hidden_hands");
    let small = player("determinization", [("transposition", 10.into())]);
    let mut seats = [small, player("random", [])];
    let played = play_until(machine.as_mut(), &mut seats, 1, &Stop::never().after_nodes(2_000));
    let said = played.steps[6][0].as_ref().unwrap();
    let full = "transposition table: full with 10 states (option `transposition`)";
    assert!(said.notes.iter().any(|note| note == full), "{said:?}");
}

/// The same roads with what will be known: gold is worth 60, the fork 50, asking 90.
#[test]
fn information_set_search_values_what_it_can_know() {
    for model in ["uniform", "cautious"] {
        let kind = "information_set_search";
        let options = || [("opponents", Value::from(model))];
        let (answer, found) = values("two_roads", kind, options(), 0, HIDDEN);
        check(&found, &[("roada", 60.0), ("roadb", 50.0)]);
        assert_eq!(answer, "roada");
        let (answer, found) = values("two_roads_ask", kind, options(), 0, HIDDEN);
        check(&found, &[("ask", 90.0), ("roada", 60.0), ("roadb", 50.0)]);
        assert_eq!(answer, "ask");
        // Two of three cars are behind the other door.
        let line = "(noop (hide_car 2)) ((choose_door 1) noop) (noop (open_door 3))";
        let (answer, found) = values("monty_hall", kind, options(), 0, line);
        check(&found, &[("stay", 100.0 / 3.0), ("change", 200.0 / 3.0)]);
        assert_eq!(answer, "change");
        let (_, found) = values("monty_hall", kind, options(), 0, "(noop (hide_car 2))");
        assert!(found.iter().all(|(_, value)| (value - 200.0 / 3.0).abs() < 1e-6), "{found:?}");
    }
    // Where the side is known, hiding it is no choice, and the fork is worth the jewels.
    for game in ["two_roads_known_left", "two_roads_known_right"] {
        let (answer, found) = values(game, "information_set_search", [], 0, "");
        check(&found, &[("roada", 60.0), ("roadb", 100.0)]);
        assert_eq!(answer, "roadb");
    }
}

/// The four-card hand, against a MIN that knows all: a club leads to a guess and is worth
/// half a trick less; either six finds out in time.
#[test]
fn information_set_search_leads_a_six() {
    let (answer, found) = values("four_card_whist", "information_set_search", [], 0, DEALT);
    for (name, value) in &found {
        let expected = if name.contains("clubs") { 37.5 } else { 50.0 };
        assert!((value - expected).abs() < 1e-6, "{found:?}");
    }
    assert!(answer.ends_with("6)"), "{answer}");
}

/// Signals: the teller's hands are worth the same while the guesser moves at random, and
/// the guesser that knows nothing expects half.
#[test]
fn a_signal_without_a_convention_is_worth_half() {
    let kind = "information_set_search";
    let line = "(noop noop (flip heads)) ((raise left) noop noop)";
    let options = [("opponents", "uniform".into())];
    let (_, found) = values("partner_signalling", kind, options, 1, line);
    check(&found, &[("(name heads)", 50.0), ("(name tails)", 50.0)]);
}

/// A search that the beliefs outgrow says so and answers by what it finished.
#[test]
fn information_set_search_says_when_a_game_is_too_large() {
    let mut machine = machine("phantom_connect_four");
    let mut player = player("information_set_search", [("states", 50.into())]);
    let (_, said) = after(machine.as_mut(), player.as_mut(), 0, "");
    assert!(said.completed && !said.candidates.is_empty());
    assert!(said.notes.iter().any(|note| note.contains("more than 50 states")), "{said:?}");
    let mut stopped = crate::arena::player("information_set_search", []);
    stopped.start(seat(machine.as_ref(), 0, 1), &Stop::never()).unwrap();
    let state = machine.initial_state().unwrap();
    let legal = legal(machine.as_mut(), &state, 0);
    let turn = Turn { step: 0, observation: None, legal: &legal };
    stopped.play(&turn, &Stop::never().after_nodes(500)).unwrap();
    let said = stopped.deliberation().unwrap();
    assert!(!said.completed && said.nodes <= 500 && !said.candidates.is_empty(), "{said:?}");
    assert!(said.notes.iter().any(|note| note.contains("estimates, ")), "{said:?}");
}

/// Tree search over information sets goes for what it can know, too.
#[test]
fn is_mcts_asks_and_leads_a_six() {
    let iterations = || [("iterations", Value::from(3000))];
    let (answer, found) = values("two_roads", "is_mcts", iterations(), 0, HIDDEN);
    assert_eq!(answer, "roada", "{found:?}");
    let (answer, found) = values("two_roads_ask", "is_mcts", iterations(), 0, HIDDEN);
    assert_eq!(answer, "ask", "{found:?}");
    let line = "(noop (hide_car 2)) ((choose_door 1) noop) (noop (open_door 3))";
    let (answer, found) = values("monty_hall", "is_mcts", iterations(), 0, line);
    assert_eq!(answer, "change");
    // Three standard errors of 3000 draws.
    assert!((found[1].1 - 200.0 / 3.0).abs() < 3.0, "{found:?}");
    let (answer, found) = values("four_card_whist", "is_mcts", iterations(), 0, DEALT);
    assert!(answer.ends_with("6)"), "{answer}, {found:?}");
}

/// It keeps its bound of memory and says so; the same seed gives the same match.
#[test]
fn is_mcts_is_bounded_and_reproducible() {
    let mut machine = machine("phantom_connect_four");
    let mut said = Vec::new();
    for _ in 0..2 {
        let options = || [("tree", Value::from(40)), ("answer", Value::from("proportional"))];
        let mut seats = [player("is_mcts", options()), player("is_mcts", options())];
        let stop = Stop::never().after_nodes(300);
        said.push(play_until(machine.as_mut(), &mut seats, 3, &stop));
    }
    assert_eq!(said[0], said[1]);
    let steps = said[0].steps.iter().flatten().flatten();
    assert!(steps.clone().all(|it| it.nodes <= 300));
    let is_full = |it: &Deliberation| it.notes.iter().any(|note| note.contains("tree: full"));
    assert!(steps.clone().any(is_full), "{:?}", said[0].steps[0]);
}

const PLAYERS: [&str; 3] = ["determinization", "information_set_search", "is_mcts"];

/// Whatever the budget, no more states are entered than it allows, and the same seed gives
/// the same match.
#[test]
fn any_budget_gives_a_legal_move_and_a_reproducible_match() {
    for kind in PLAYERS.into_iter().chain(["cfr"]) {
        for game in ["kuhn_poker", "battleships", "matching_pennies", "tic_tac_toe"] {
            let mut machine = machine(game);
            let roles = 0..machine.game().roles().len();
            let n_seats = roles.filter(|&role| is_seat(machine.as_ref(), role)).count();
            for budget in [0, 1, 10, 200] {
                let stop = Stop::never().after_nodes(budget);
                let mut seats: Vec<_> = (0..n_seats).map(|_| player(kind, [])).collect();
                let played = play_until(machine.as_mut(), &mut seats, 1, &stop);
                let said = played.steps.iter().flatten().flatten();
                assert!(said.clone().all(|it| it.nodes <= budget), "{kind}, {game}");
                let again = play_until(machine.as_mut(), &mut seats, 1, &stop);
                assert_eq!(again, played, "{kind}, {game}");
            }
        }
    }
}

/// A question whose time is up beforehand is answered, and the player catches up.
#[test]
fn a_rushed_player_catches_up() {
    let line = "(noop noop (deal jack queen)) (check noop noop)";
    for kind in PLAYERS {
        let mut machine = machine("kuhn_poker");
        let mut player = player(kind, []);
        let (_, said) = after(machine.as_mut(), player.as_mut(), 1, line);
        assert_eq!(said.notes[0], "belief: 2 states", "{kind}");
        assert_eq!(said.candidates.len(), 2, "{kind}");
    }
}

/// With a choice of one there is nothing to search, and percepts that nothing explains
/// leave the legal moves.
#[test]
fn nonsense_is_survived() {
    for kind in PLAYERS {
        let mut machine = machine("kuhn_poker");
        let mut player = player(kind, []);
        player.start(seat(machine.as_ref(), 0, 1), &Stop::never()).unwrap();
        let initial = machine.initial_state().unwrap();
        let noop = legal(machine.as_mut(), &initial, 0);
        let first = Turn { step: 0, observation: None, legal: &noop };
        assert_eq!(player.play(&first, &Stop::never()).unwrap(), noop[0]);
        let percepts = vec![Expression::parse("(card ace)").unwrap()];
        let observation = Observation::Percepts { own_move: noop[0], percepts };
        let bet = machine.find_move(&Expression::atom("bet")).unwrap();
        let check = machine.find_move(&Expression::atom("check")).unwrap();
        let turn = Turn { step: 1, observation: Some(&observation), legal: &[check, bet] };
        assert!([check, bet].contains(&player.play(&turn, &Stop::never()).unwrap()));
        let said = player.deliberation().unwrap();
        assert!(said.notes[0].contains("no state"), "{kind}: {said:?}");
    }
}

/// Knowing what one cannot know pays nothing: of 100 matches at the roads, averaging wins
/// about half of 100, the search of information sets 60 each.
#[test]
fn the_roads_are_played() {
    let mut machine = machine("two_roads");
    let mut mean = |kind: &str| {
        let goals = (0..100).map(|seed| {
            let mut seats = [player(kind, [])];
            f64::from(play(machine.as_mut(), &mut seats, seed).goals[0])
        });
        goals.sum::<f64>() / 100.0
    };
    assert_eq!(mean("information_set_search"), 60.0);
    // Three standard errors.
    assert!((mean("determinization") - 50.0).abs() < 15.0);
}

/// With nothing hidden they are players of perfect information.
#[test]
fn open_games_are_played_as_such() {
    let rules = "(role me) (role you) (init (left 4)) (after 4 3) (after 3 2) (after 2 1) (after 1 0)
        (init (turn me)) (other me you) (other you me)
        (two 4 2) (two 3 1) (two 2 0)
        (<= (legal ?r one) (true (turn ?r))) (<= (legal ?r two) (true (turn ?r)) (true (left ?n)) (two ?n ?m))
        (<= (legal ?r noop) (role ?r) (not (true (turn ?r))))
        (<= (next (turn ?q)) (true (turn ?p)) (other ?p ?q))
        (<= (next (left ?m)) (true (left ?n)) (does ?r one) (after ?n ?m))
        (<= (next (left ?m)) (true (left ?n)) (does ?r two) (two ?n ?m))
        (<= terminal (true (left 0)))
        (<= (goal ?r 0) (true (left 0)) (true (turn ?r)))
        (<= (goal ?q 100) (true (left 0)) (true (turn ?r)) (other ?r ?q))
        (<= (goal ?r 50) (role ?r) (not (true (left 0))))";
    let mut machine = machine_of(rules);
    for kind in PLAYERS {
        let (answer, said) = after(machine.as_mut(), player(kind, []).as_mut(), 0, "");
        assert_eq!(answer, "one", "{kind}: {said:?}");
    }
}

/// The strategy is drawn as it demands, and judged: with the king against a bet there is
/// nothing to consider; the jack is bet in some matches and not in others.
#[test]
fn cfr_plays_its_equilibrium() {
    let mut machine = machine("kuhn_poker");
    let line = "(noop noop (deal queen king)) (bet noop noop)";
    let (answer, said) = after(machine.as_mut(), player("cfr", []).as_mut(), 1, line);
    assert_eq!(answer, "call", "{said:?}");
    assert_eq!(said.value, Some(100.0), "{said:?}");
    assert!(said.completed);
    let judged = |note: &String| note.contains("a best response gains 0.0");
    assert!(said.notes.iter().any(judged), "{said:?}");
    let jack = "(noop noop (deal jack king))";
    let (_, said) = after(machine.as_mut(), player("cfr", []).as_mut(), 0, jack);
    let bet = said.candidates[1].probability.unwrap();
    assert!(bet > 0.02 && bet < 0.34, "{said:?}");
    // Both moves are worth the same, or it would not do both.
    let values: Vec<f64> = said.candidates.iter().map(|it| it.value.unwrap()).collect();
    assert!((values[0] - values[1]).abs() < 0.5, "{said:?}");
    let mut n_bets = 0;
    let id = machine.find_move(&Expression::atom("bet")).unwrap();
    for seed in 0..100 {
        let mut seats = [player("cfr", []), player("legal", [])];
        let played = play(machine.as_mut(), &mut seats, seed);
        n_bets += usize::from(played.moves_of(0).contains(&id));
    }
    assert!(n_bets > 10 && n_bets < 90, "{n_bets}");
}

/// Two partners that solve the game for themselves come to the same convention.
#[test]
fn cfr_signals() {
    let mut machine = machine("partner_signalling");
    for seed in 0..20 {
        let mut seats = [player("cfr", []), player("cfr", [])];
        let played = play(machine.as_mut(), &mut seats, seed);
        assert_eq!(played.goals[..2], [100, 100], "seed {seed}");
    }
}

/// A game that is too large is refused, with the reason, before the match and by `start`.
#[test]
fn cfr_refuses_what_is_too_large() {
    let large = machine("phantom_connect_four");
    let mut cfr = player("cfr", [("nodes", 1000.into())]);
    let unsuitable = |failure: Result<(), players::Failure>| match failure {
        Err(players::Failure::Unsuitable(reason)) => reason,
        other => panic!("{other:?}"),
    };
    let reason = unsuitable(cfr.check(large.fork()));
    assert!(reason.contains("more than 1000 nodes"), "{reason}");
    let started = cfr.start(seat(large.as_ref(), 0, 1), &Stop::never());
    assert_eq!(unsuitable(started), reason);
    assert!(cfr.check(machine("kuhn_poker")).is_ok());
    // A single state with eight million joint moves.
    let numbers: String = (0..200).map(|n| format!("(number {n})")).collect();
    let mut wide = machine_of(&format!(
        "(role a) (role b) (role c) {numbers} (init start)
         (<= (legal ?r ?n) (role ?r) (number ?n)) (<= (next (chosen ?n)) (does a ?n))
         (<= terminal (not (true start))) (<= (goal ?r 50) (role ?r))"
    ));
    let mut cfr = player("cfr", []);
    let started = cfr.start(seat(wide.as_ref(), 0, 1), &Stop::never());
    assert!(unsuitable(started).contains("more than 1000000 nodes"));
    let initial = wide.initial_state().unwrap();
    let legal = legal(wide.as_mut(), &initial, 0);
    let turn = Turn { step: 0, observation: None, legal: &legal };
    for _ in 0..2 {
        unsuitable(cfr.play(&turn, &Stop::never()).map(|_| ()));
    }
}
