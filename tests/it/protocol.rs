//! What the manager says to a remote player in the course of a match, and what
//! it records of it.

use std::sync::Arc;

use gamemaster::manager::{
    Dialect, GoalConflict, Manager, ManagerSettings, MatchRules, PlayerConfig, Substitute,
};
use results::record::{Ending, FaultKind, GoalFlag};

use crate::fake_player::{FakePlayer, until_cut, well, words};
use crate::matches::{THREE_STEPS, built_in, play, play_with, prepared, remote, setup, shipped};

#[test]
fn a_match_is_told_in_the_words_of_ggp_base() {
    let player = FakePlayer::start(|message, stream| well(stream, words(message)));
    let game = prepared("three_steps", THREE_STEPS);
    play(&setup(&game, vec![remote(player.port), built_in("legal")]));
    let heard = player.heard();
    let id = "match.0123456789abcdef";
    assert!(heard[0].starts_with(&format!("( START {id} x (( role x ) ( role o ) ( init ")));
    // Whole seconds, at least one.
    assert!(heard[0].ends_with("( goal x 100 ) ( goal o 0 ) ) 1 1)"), "{}", heard[0]);
    let joint = "(( add 1 ) ( add 1 ) )";
    assert_eq!(
        heard[1..],
        [
            format!("( PLAY {id} NIL )"),
            format!("( PLAY {id} {joint} )"),
            format!("( PLAY {id} {joint} )"),
            format!("( STOP {id} {joint} )"),
        ]
    );
}

#[test]
fn broken_rules_end_a_match_with_abort() {
    let check = |text: &str, reason: &str, n_steps: usize| {
        let player = FakePlayer::start(|message, stream| match words(message) {
            "(add 1)" => well(stream, "go"),
            other => well(stream, other),
        });
        let game = prepared("broken", text);
        let played = play(&setup(&game, vec![remote(player.port)]));
        assert!(
            matches!(&played.ending, Ending::GameError { reason: why } if why.to_string().contains(reason)),
            "{:?}",
            played.ending
        );
        assert_eq!((played.rewards.len(), played.steps.len()), (0, n_steps));
        assert_eq!(
            player.heard().last().map(String::as_str),
            Some("( ABORT match.0123456789abcdef )")
        );
    };
    check(
        "(role x) (init a) (<= (legal x go) (true a)) (<= (next b) (does x go))
         (<= terminal (true c)) (goal x 100)",
        "x has no legal move",
        1,
    );
    check(
        "(role x) (init (n zero)) (legal x go) (<= (next (n (s ?x))) (true (n ?x)))
         (<= terminal (true done)) (goal x 100)",
        "deeper",
        64,
    );
}

#[test]
fn a_step_limit_ends_a_match_without_scores() {
    let game = prepared(
        "endless",
        "(role x) (init a) (legal x go) (<= (next a) (true a)) (<= terminal (true b)) (goal x 100)",
    );
    let mut setup = setup(&game, vec![built_in("legal")]);
    setup.rules = Arc::new(MatchRules { step_limit: 7, ..MatchRules::default() });
    let played = play(&setup);
    assert_eq!(played.ending, Ending::StepLimit);
    assert_eq!((played.steps.len(), played.rewards.len()), (7, 0));
}

#[test]
fn a_terminal_initial_state_is_start_and_stop() {
    let player = FakePlayer::start(|message, stream| well(stream, words(message)));
    let game =
        prepared("over", "(role x) (init a) (legal x go) (<= terminal (true a)) (goal x 30)");
    let played = play(&setup(&game, vec![remote(player.port)]));
    assert_eq!((played.ending.clone(), played.rewards.as_slice()), (Ending::Terminal, &[30][..]));
    assert_eq!(player.heard()[1..], ["( STOP match.0123456789abcdef NIL )"]);
}

#[test]
fn odd_goals_are_scored_by_this_table() {
    let check = |goals: &str, policy, expected: Option<(u8, Option<GoalFlag>)>| {
        let text = format!("(role x) (init a) (legal x go) (<= terminal (true a)) {goals}");
        let rulesheet = games::Rulesheet::parse("goals", &text, games::Case::Folded).unwrap();
        let validation = games::validate(&rulesheet, games::Leniency::Lenient);
        let game = validation.game.unwrap_or_else(|| panic!("{:?}", validation.findings));
        let machine = games::state_machine_for(Arc::new(game), games::Guards::default()).unwrap();
        let game = Arc::new(gamemaster::manager::PreparedGame::new("goals", "hash", machine));
        let mut setup = setup(&game, vec![built_in("legal")]);
        setup.rules = Arc::new(MatchRules { goal_conflict: policy, ..MatchRules::default() });
        let played = play(&setup);
        match expected {
            None => assert!(matches!(played.ending, Ending::GameError { .. }), "{goals}"),
            Some((reward, flag)) => {
                let flags: Vec<_> = flag.into_iter().map(|flag| (0, flag)).collect();
                assert_eq!((played.rewards, played.goal_flags), (vec![reward], flags), "{goals}");
            }
        }
    };
    for policy in [GoalConflict::Smallest, GoalConflict::Error] {
        check("(goal x 40)", policy, Some((40, None)));
        check("(<= (goal x 40) (true b))", policy, Some((0, Some(GoalFlag::GoalMissing))));
        check("(v 140) (<= (goal x ?v) (v ?v))", policy, Some((100, Some(GoalFlag::GoalClamped))));
    }
    let conflict = Some(GoalFlag::GoalConflict);
    check("(goal x 70) (goal x 40)", GoalConflict::Smallest, Some((40, conflict)));
    check("(goal x 70) (goal x 40)", GoalConflict::Error, None);
}

#[test]
fn substitutes_are_drawn_or_first() {
    let player = FakePlayer::start(|_, stream| well(stream, "nonsense"));
    let game = prepared("three_steps", THREE_STEPS);
    let mut setup = setup(&game, vec![built_in("legal"), remote(player.port)]);
    setup.rules = Arc::new(MatchRules { substitute: Substitute::First, ..MatchRules::default() });
    let played = play(&setup);
    assert_eq!(played.moves(), ["(add 1) (add 1)"; 3]);
    assert_eq!(played.faults(1), [Some(FaultKind::IllegalMove); 3]);
    // Role and step decide the draw, not what happened before: a player late at
    // START and one that is not get the same substitutes.
    let silent = FakePlayer::start(|_, stream| until_cut(stream));
    setup.rules = Arc::new(MatchRules::default());
    let drawn = play(&setup).moves();
    setup.seats[1] = remote(silent.port);
    assert_eq!(play(&setup).moves(), drawn);
}

#[test]
fn a_scrambled_match_leaks_no_word_and_is_recorded_plainly() {
    // Answers with the first move of the joint move told last; at first with an original word.
    let player = FakePlayer::start(|message, stream| {
        if !message.starts_with("( PLAY") {
            return well(stream, "ready");
        }
        match message.split_once("((") {
            None => well(stream, "(add 1)"),
            Some((_, rest)) => {
                let first = rest.split_once(')').map_or("", |(first, _)| first);
                well(stream, &format!("({})", first.to_uppercase()))
            }
        }
    });
    let game = prepared("three_steps", THREE_STEPS);
    let mut setup = setup(&game, vec![built_in("legal"), remote(player.port)]);
    setup.rules = Arc::new(MatchRules { scramble: true, ..MatchRules::default() });
    let played = play(&setup);
    assert_eq!(played.faults(1), [Some(FaultKind::IllegalMove), None, None]);
    assert_eq!(played.steps[0][1].submitted.as_deref(), Some("(add 1)"));
    assert_eq!(&*played.steps[1][1].executed, "(add 1)");
    for message in player.heard() {
        for word in ["add", "noop", "step", "after", "?r ", "?m ", "?n ", " x ", " o "] {
            assert!(!message.contains(word), "{word} leaks into {message}");
        }
    }
    assert!(player.heard()[0].contains("( legal "));
}

#[test]
fn percepts_are_told_in_both_dialects() {
    let text = "
        (role random) (role x)
        (init (step 0)) (after 0 1) (after 1 2)
        (legal random toss)
        (<= (legal x (guess ?n)) (after ?n ?m))
        (<= (sees x (heard ?n)) (does x (guess ?n)))
        (<= (sees x tick) (true (step 0)))
        (<= (next (step ?n)) (true (step ?m)) (after ?m ?n))
        (<= terminal (true (step 2)))
        (goal x 100) (goal random 0)";
    let game = prepared("hidden", text);
    let told = |dialect| {
        let player = FakePlayer::start(|message, stream| {
            let first = message.contains(" NIL )");
            well(stream, if first { "(guess 1)" } else { "illegal" })
        });
        let seat = remote(player.port).unwrap();
        let seat = Arc::new(PlayerConfig { dialect, ..(*seat).clone() });
        let played = play(&setup(&game, vec![None, Some(seat)]));
        assert_eq!(played.faults(1), [None, Some(FaultKind::IllegalMove)]);
        (player.heard()[1..].to_vec(), played.steps[1][1].executed.to_string())
    };
    let (heard, substitute) = told(Dialect::Official);
    let guessed = &substitute["(guess ".len()..substitute.len() - 1];
    assert_eq!(
        heard,
        [
            "( PLAY match.0123456789abcdef 0 NIL NIL )".to_owned(),
            "( PLAY match.0123456789abcdef 1 ( guess 1 ) (tick ( heard 1 ) ) )".to_owned(),
            format!("( STOP match.0123456789abcdef 2 ( guess {guessed} ) (( heard {guessed} ) ) )"),
        ]
        .map(|line| reorder(&line))
    );
    let (heard, _) = told(Dialect::OldDresden);
    assert_eq!(heard[0], "( PLAY match.0123456789abcdef NIL )");
    assert!(heard[2].starts_with("( STOP match.0123456789abcdef (( heard "));
}

/// The order of percepts carries no meaning; canonical order is that of first
/// appearance in the text.
fn reorder(line: &str) -> String {
    line.replace("(tick ( heard 1 ) )", "(( heard 1 ) tick )")
}

#[test]
fn nature_moves_uniformly_and_by_the_seed() {
    let text = "
        (role x) (role random) (init (step 0))
        (legal random (roll 1)) (legal random (roll 2)) (legal random (roll 3))
        (legal x wait)
        (<= (next done) (does x wait)) (<= terminal (true done)) (goal x 1) (goal random 100)";
    let game = prepared("dice", text);
    let mut worker = Manager::new(ManagerSettings::default()).worker();
    let mut setup = setup(&game, vec![built_in("legal"), None]);
    let mut counts = [0_u32; 3];
    for seed in 0..3000 {
        Arc::get_mut(&mut setup.job).unwrap().seed = seed;
        let played = play_with(&mut worker, &setup);
        let rolled = played.steps[0][1].executed.to_string();
        counts[["(roll 1)", "(roll 2)", "(roll 3)"].iter().position(|&r| r == rolled).unwrap()] +=
            1;
        assert_eq!(played.goal_flags, []);
    }
    // Two degrees of freedom; 13.8 is exceeded once in a thousand.
    let chi_square: f64 =
        counts.iter().map(|&count| (f64::from(count) - 1000.0).powi(2) / 1000.0).sum();
    assert!(chi_square < 13.8, "{counts:?}");
    assert_eq!(play_with(&mut worker, &setup).moves(), play_with(&mut worker, &setup).moves());
}

#[test]
fn shipped_games_are_played_by_instant_players() {
    let manager = Manager::new(ManagerSettings::default());
    let mut worker = manager.worker();
    for name in ["tic_tac_toe", "monty_hall", "nim", "rock_paper_scissors", "two_roads"] {
        let game = prepared(name, shipped(name));
        let roles = game.game.roles().to_vec();
        let random = game.game.random();
        let seats = (0..)
            .zip(&roles)
            .map(
                |(role, _)| {
                    if random == Some(games::RoleId(role)) { None } else { built_in("random") }
                },
            )
            .collect();
        let played = play_with(&mut worker, &setup(&game, seats));
        assert_eq!(played.ending, Ending::Terminal, "{name}");
        assert_eq!(played.rewards.len(), roles.len(), "{name}");
    }
}
