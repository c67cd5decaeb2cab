//! Learned evaluations against independent truth: published values, and sums by hand.

use std::sync::Arc;

use expect_test::{Expect, expect};
use games::{Expression, Game, Guards, MoveId, State, StateMachine};
use rand::RngExt;

use super::discovery::discover;
use super::evaluation::{Evaluator, logistic};
use super::*;
use crate::testing::shipped;
use crate::{Stop, seed, testing};

/// The random walk of Sutton (1988), section 4: from the middle of five places, chance
/// steps to either side, and the right end is worth 100.
const RANDOM_WALK: &str = "(role you) (role random)
    (place a) (place b) (place c) (place d) (place e) (init (at c))
    (beside left a) (beside a b) (beside b c) (beside c d) (beside d e) (beside e right)
    (<= (legal you noop) (true (at ?x)))
    (<= (legal random back) (true (at ?x))) (<= (legal random on) (true (at ?x)))
    (<= (next (at ?y)) (does random on) (true (at ?x)) (beside ?x ?y))
    (<= (next (at ?x)) (does random back) (true (at ?y)) (beside ?x ?y))
    (<= terminal (true (at left))) (<= terminal (true (at right)))
    (<= (goal you 100) (true (at right))) (<= (goal you 0) (not (true (at right))))
    (goal random 0)";

fn trained(
    machine: Box<dyn StateMachine>,
    settings: TrainingSettings,
    n_matches: u64,
) -> LinearEvaluation {
    let mut trainer = Trainer::new(machine, settings, &Stop::never()).unwrap();
    for _ in 0..n_matches {
        assert!(trainer.play_match(&Stop::never()).unwrap());
    }
    assert_eq!(trainer.n_matches(), n_matches);
    trainer.evaluation()
}

/// The expected reward of a role by the definition: the features of all facts, one by one.
fn by_hand(
    evaluation: &LinearEvaluation,
    machine: &mut dyn StateMachine,
    state: &State,
    role: usize,
) -> f64 {
    let facts = machine.facts(state);
    let matching = |pattern: &Pattern| {
        facts.iter().filter(|fact| pattern.matches(fact)).cloned().collect::<Vec<_>>()
    };
    let argument = |fact: &Expression, argument: usize| match fact {
        Expression::List(items) => items[argument + 1].to_string(),
        Expression::Atom(_) => unreachable!("it has no arguments"),
    };
    let game = Arc::clone(machine.game());
    let mut sum = evaluation.bias[role];
    for WeightedFeature { feature, weights } in &evaluation.features {
        let value = match feature {
            Feature::Count(pattern) => matching(pattern).len() as f64,
            Feature::Value { pattern, argument: at } => {
                matching(pattern).iter().map(|it| argument(it, *at).parse::<f64>().unwrap()).sum()
            }
            Feature::Rank { pattern, argument: at, order } => {
                let places = matching(pattern)
                    .iter()
                    .map(|it| place(&game, order, &argument(it, *at)))
                    .sum::<usize>();
                places as f64
            }
            Feature::Moves(name) => {
                let mut moves = Vec::new();
                let role = machine.game().find_role(name).unwrap();
                machine.legal_moves(state, role, &mut moves).unwrap();
                moves.len() as f64
            }
        };
        sum += weights[role] * value;
    }
    100.0 * logistic(sum)
}

/// How many constants come before one: by walking back.
fn place(game: &Game, relation: &str, constant: &str) -> usize {
    let before = game.forms().iter().find_map(|form| match form {
        Expression::List(items) if items.len() == 3 && items[2].to_string() == constant => {
            (items[0].to_string() == relation).then(|| items[1].to_string())
        }
        _ => None,
    });
    before.map_or(0, |before| 1 + place(game, relation, &before))
}

fn check_features(machine: &mut dyn StateMachine, expected: &Expect) {
    let mut rng = seed::generator(1, None);
    let found = discover(machine, &mut rng, &Stop::never()).unwrap();
    let names: Vec<String> = found.iter().map(|found| format!("{}\n", found.feature)).collect();
    expected.assert_eq(&names.concat());
}

/// Two pieces move along a track; the step counter says nothing.
#[test]
fn features_are_found_in_the_rules() {
    let text = "(role red) (role blue) (init (at red 0)) (init (at blue 0)) (init (step 0))
        (init (turn red)) (other red blue) (other blue red)
        (after 0 1) (after 1 2) (after 2 3) (tick 0 1) (tick 1 2) (tick 2 3) (tick 3 4) (tick 4 5)
        (tick 5 6) (tick 6 7)
        (<= (legal ?p on) (true (turn ?p))) (<= (legal ?p stay) (true (turn ?p)))
        (<= (legal ?p noop) (true (turn ?q)) (other ?p ?q))
        (<= (next (at ?p ?m)) (does ?p on) (true (at ?p ?n)) (after ?n ?m))
        (<= (next (at ?p ?n)) (true (at ?p ?n)) (not (does ?p on)))
        (<= (next (turn ?p)) (true (turn ?q)) (other ?p ?q))
        (<= (next (step ?t)) (true (step ?s)) (tick ?s ?t))
        (<= terminal (true (at ?p 3))) (<= terminal (true (step 7)))
        (<= (goal ?p 100) (true (at ?p 3)))
        (<= (goal ?p 0) (role ?p) (not (true (at ?p 3))))";
    check_features(
        &mut *testing::machine(text),
        &expect![[r#"
            rank of argument 2 in (at ? ?) by after
            rank of argument 2 in (at blue ?) by after
            rank of argument 2 in (at red ?) by after
            count (at ? 0)
            count (at ? 1)
            count (at ? 2)
            count (at blue 0)
            count (at blue 1)
            count (at blue 2)
            count (at red 0)
            count (at red 1)
            count (at red 2)
            count (turn blue)
            count (turn red)
            moves of red
            moves of blue
        "#]],
    );
}

#[test]
fn features_do_not_depend_on_the_reasoner() {
    for name in ["breakthrough_5x5", "mini_backgammon", "pig"] {
        let mut network = shipped(name);
        assert_eq!(network.reasoner(), "network");
        let mut prover = games::Prover::new(Arc::clone(network.game()), Guards::default()).unwrap();
        let found = |machine: &mut dyn StateMachine| {
            discover(machine, &mut seed::generator(3, None), &Stop::never()).unwrap()
        };
        assert_eq!(found(&mut *network), found(&mut prover), "{name}");
    }
}

/// The values of the five places are 1/6 to 5/6.
#[test]
fn the_random_walk_of_sutton_has_its_published_values() {
    for lambda in [0.0, 0.3, 1.0] {
        let settings = TrainingSettings { lambda, ..TrainingSettings::default() };
        let mut machine = testing::machine(RANDOM_WALK);
        let evaluation = trained(machine.fork(), settings, 20_000);
        let mut evaluator = Evaluator::new(Arc::new(evaluation), machine.game());
        for (sixths, place) in (1..).zip(["a", "b", "c", "d", "e"]) {
            let fact = Expression::parse(&format!("(at {place})")).unwrap();
            let state = machine.state_of(&[fact]).unwrap();
            evaluator.follow(&mut *machine, &state);
            let value = evaluator.value(games::RoleId(0), |_| Ok::<_, ()>(1)).unwrap();
            let error = value - 100.0 * f64::from(sixths) / 6.0;
            assert!(error.abs() < 3.0, "lambda {lambda}, {place}: {value}");
        }
    }
}

/// Sums that follow from the state before are those by the definition, also after jumps
/// between matches, and for states that play does not reach.
#[test]
fn an_evaluator_computes_the_definition() {
    for name in ["breakthrough_5x5", "othello_4x4", "mini_backgammon", "tic_tac_toe_three_players"]
    {
        let mut machine = shipped(name);
        let evaluation = Arc::new(trained(machine.fork(), TrainingSettings::default(), 20));
        assert_eq!(evaluation.check(machine.game()), Ok(()));
        assert!(evaluation.counts_moves() && evaluation.features.len() > 20, "{name}");
        let mut evaluator = Evaluator::new(Arc::clone(&evaluation), machine.game());
        let mut rng = seed::generator(5, None);
        let roles = machine.game().role_ids();
        let mut state = machine.initial_state().unwrap();
        for _ in 0..100 {
            // A state of the prover's now and then, which is the same to the evaluator.
            if rng.random_bool(0.1) {
                let facts = machine.facts(&state);
                state = machine.state_of(&facts).unwrap();
            }
            evaluator.follow(&mut *machine, &state);
            for role in roles.clone() {
                let n_moves = |mover| {
                    let mut moves = Vec::new();
                    machine.legal_moves(&state, mover, &mut moves).map(|()| moves.len())
                };
                let value = evaluator.value(role, n_moves).unwrap();
                let expected = by_hand(&evaluation, &mut *machine, &state, usize::from(role.0));
                assert!((value - expected).abs() < 1e-4, "{name}: {value} {expected}");
            }
            if machine.is_terminal(&state).unwrap() {
                state = machine.initial_state().unwrap();
                continue;
            }
            let mut next = State::default();
            let joint_move: Vec<MoveId> = roles
                .clone()
                .map(|role| {
                    let mut moves = Vec::new();
                    machine.legal_moves(&state, role, &mut moves).unwrap();
                    moves[rng.random_range(0..moves.len())]
                })
                .collect();
            machine.next_state(&state, &joint_move, &mut next).unwrap();
            state = next;
        }
    }
}

#[test]
fn training_follows_from_the_seed() {
    let of = |seed: u64| {
        let settings = TrainingSettings { seed, ..TrainingSettings::default() };
        trained(shipped("breakthrough_5x5"), settings, 30)
    };
    let first = of(1);
    assert_eq!(first, of(1));
    assert_eq!(first.fingerprint(), of(1).fingerprint());
    assert_ne!(first, of(2));
    assert_ne!(first.fingerprint(), of(2).fingerprint());
}

/// In breakthrough, pieces of one's own are good and those of the other are bad.
#[test]
fn the_signs_of_piece_counts_are_right() {
    let evaluation = trained(shipped("breakthrough_5x5"), TrainingSettings::default(), 300);
    let weights = |text: &str| {
        let feature: Feature = text.parse().unwrap();
        &evaluation.features.iter().find(|it| it.feature == feature).unwrap().weights
    };
    let (white, black) = (weights("count (cell ? ? white)"), weights("count (cell ? ? black)"));
    assert!(white[0] > 0.0 && white[1] < 0.0, "{white:?}");
    assert!(black[0] < 0.0 && black[1] > 0.0, "{black:?}");
}

fn check_refused(machine: Box<dyn StateMachine>, expected: &Expect) {
    let refused = Trainer::new(machine, TrainingSettings::default(), &Stop::never());
    expected.assert_eq(&refused.err().unwrap().to_string());
}

#[test]
fn games_without_a_state_to_evaluate_are_refused() {
    check_refused(
        shipped("kuhn_poker"),
        &expect![
            "cannot train an evaluation for `kuhn_poker`: the game has hidden information, so its players do not know the state; `cfr` and `is_mcts` play such games without training"
        ],
    );
    let text = "(role you) (init (at 1)) (legal you go) (<= (next (at 2)) (does you go))
        (<= terminal (true (at 2))) (goal you 100)";
    check_refused(
        testing::machine(text),
        &expect![
            "cannot train an evaluation for `test`: no feature suggested by its rules has different values in different states of random play"
        ],
    );
}

#[test]
fn an_evaluation_is_for_its_game_only() {
    let evaluation = trained(shipped("breakthrough_5x5"), TrainingSettings::default(), 2);
    let check = |evaluation: &LinearEvaluation, name: &str, expected: &str| {
        let error = evaluation.check(shipped(name).game()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    check(&evaluation, "breakthrough_6x6", "was trained for another game");
    let mut short = evaluation.clone();
    short.bias.pop();
    check(&short, "breakthrough_5x5", "for each role");
    let mut foreign = evaluation;
    foreign.features[0].feature = "rank of argument 1 in (cell ? ? ?) by before".parse().unwrap();
    check(&foreign, "breakthrough_5x5", "no feature `rank of argument 1");
    for facts in ["(cel ? ? white)", "(cell ? ? purple)", "(cell ? ?)", "cell"] {
        foreign.features[0].feature = format!("count {facts}").parse().unwrap();
        check(&foreign, "breakthrough_5x5", "no feature `count");
    }
}
