//! Solutions against published values.

use games::library;

use super::*;
use crate::testing::machine;

/// A game, and its solution after some iterations.
struct Solved {
    machine: Box<dyn StateMachine>,
    tree: Tree,
    solver: Solver,
}

impl Solved {
    fn new(game: &str, method: Method) -> Self {
        let text = library::find(game).map_or(game, |shipped| shipped.text);
        let mut machine = machine(text);
        let mut builder = Builder::new(machine.as_mut(), 1_000_000).unwrap();
        let growth = builder.grow(machine.as_mut(), &Stop::never(), &mut 0).unwrap();
        assert_eq!(growth, Growth::Whole);
        let tree = builder.finish();
        let solver = Solver::new(&tree, method);
        Self { machine, tree, solver }
    }

    fn run(&mut self, iterations: u64) -> Judgement {
        self.solver.run(&self.tree, iterations, &Stop::never(), &mut 0);
        self.judge(0.0)
    }

    fn judge(&self, least: f64) -> Judgement {
        let average = self.solver.average(&self.tree, least);
        judge(&self.tree, &average, self.solver.roles(), &Stop::never()).unwrap()
    }

    /// The average strategy: the probability of each move of each set of a role.
    fn strategy(&self, role: usize) -> Vec<Vec<(String, f64)>> {
        let average = self.solver.average(&self.tree, 0.0);
        let sets = self.tree.sets.iter().filter(|set| usize::from(set.role.0) == role);
        let share = |slot| {
            (self.machine.move_expression(self.tree.action(slot)).to_string(), average[slot])
        };
        sets.map(|set| set.slots().map(share).collect()).collect()
    }
}

/// What `role` can expect if all others move at random.
pub(crate) fn best_reward_against_uniform(machine: &mut dyn StateMachine, role: usize) -> f64 {
    let mut builder = Builder::new(machine, 1_000_000).unwrap();
    assert_eq!(builder.grow(machine, &Stop::never(), &mut 0).unwrap(), Growth::Whole);
    let tree = builder.finish();
    let uniform = uniform(&tree);
    let judgement = judge(&tree, &uniform, &[role], &Stop::never()).unwrap();
    judgement.values[role] + judgement.gains[role]
}

fn uniform(tree: &Tree) -> Vec<f64> {
    let mut uniform = vec![0.0; tree.n_slots()];
    for set in &tree.sets {
        uniform[set.slots()].fill(1.0 / set.slots().len() as f64);
    }
    uniform
}

const METHODS: [Method; 3] = [Method::Plus, Method::Discounted, Method::Predictive];

/// Kuhn poker: the first player loses 1/18 of a chip, which is worth 25 points (Kuhn 1950).
/// What can be gained against the strategy falls from check to check.
#[test]
fn kuhn_poker_has_its_value() {
    for method in METHODS {
        let mut solved = Solved::new("kuhn_poker", method);
        assert_eq!(solved.tree.sets.len(), 12);
        let checks = [1, 10, 100, 1000].map(|n| solved.run(n).exploitability());
        assert!(checks.windows(2).all(|pair| pair[1] < pair[0]), "{method:?}: {checks:?}");
        assert!(checks[3] < 0.1, "{method:?}: {checks:?}");
        let judgement = solved.judge(0.0);
        let expected = 50.0 - 25.0 / 18.0;
        assert!((judgement.values[0] - expected).abs() < 0.1, "{:?}", judgement.values);
        assert!((judgement.values[0] + judgement.values[1] - 100.0).abs() < 1e-9);
    }
}

/// The first player's equilibria of Kuhn poker: it bets the jack with a probability of at
/// most a third, never the queen, and the king three times as often as the jack. The
/// second player bluffs with the jack, after a check, in one of three.
#[test]
fn kuhn_poker_is_bluffed() {
    let mut solved = Solved::new("kuhn_poker", Method::Predictive);
    solved.run(2000);
    let average = solved.solver.average(&solved.tree, 0.0);
    let initial = solved.machine.initial_state().unwrap();
    let bets = |solved: &mut Solved, role: usize, deal: &str, first: Option<&str>| {
        let find = |machine: &mut dyn StateMachine, text: &str| {
            machine.find_move(&games::Expression::parse(text).unwrap()).unwrap()
        };
        let machine = solved.machine.as_mut();
        let [noop, bet] = ["noop", "bet"].map(|text| find(machine, text));
        let mut state = initial.clone();
        let id = RoleId(u8::try_from(role).unwrap());
        let mut known = Knowledge::default();
        let mut steps = vec![vec![noop, noop, find(machine, deal)]];
        steps.extend(first.map(|first| vec![find(machine, first), noop, noop]));
        let allowed = |machine: &mut dyn StateMachine, known: Knowledge, state: &games::State| {
            let mut legal = Vec::new();
            machine.legal_moves(state, id, &mut legal).unwrap();
            known.allowed(&legal)
        };
        for joint_move in steps {
            known = allowed(machine, known, &state);
            known =
                crate::belief::knowledge_after(machine, known, &state, &joint_move, id).unwrap();
            let mut next = games::State::default();
            machine.next_state(&state, &joint_move, &mut next).unwrap();
            state = next;
        }
        let known = allowed(machine, known, &state);
        let set = solved.tree.set(id, known).unwrap();
        let slots = solved.tree.sets[set].slots();
        let slot = slots.clone().find(|&slot| solved.tree.action(slot) == bet).unwrap();
        average[slot]
    };
    let jack = bets(&mut solved, 0, "(deal jack king)", None);
    let queen = bets(&mut solved, 0, "(deal queen king)", None);
    let king = bets(&mut solved, 0, "(deal king jack)", None);
    assert!(jack > 0.01 && jack < 1.0 / 3.0 + 0.01, "{jack}");
    assert!(queen < 0.01, "{queen}");
    assert!((king - 3.0 * jack).abs() < 0.05, "{king}, {jack}");
    let bluff = bets(&mut solved, 1, "(deal king jack)", Some("check"));
    assert!((bluff - 1.0 / 3.0).abs() < 0.02, "{bluff}");
}

/// Leduc poker: the first player loses 0.0856 chips, each worth 3 points (the value that
/// OpenSpiel and others have computed).
#[test]
fn leduc_poker_has_its_value() {
    let mut solved = Solved::new("leduc_poker", Method::Predictive);
    let checks = [4, 16, 64, 256].map(|n| solved.run(n).exploitability());
    assert!(checks.windows(2).all(|pair| pair[1] < pair[0]), "{checks:?}");
    assert!(checks[3] < 0.1, "{checks:?}");
    let judgement = solved.judge(0.0);
    assert!((judgement.values[0] - (50.0 - 3.0 * 0.0856)).abs() < 0.1, "{:?}", judgement.values);
}

/// Simultaneous moves without hidden information: each side of the coin half of the time,
/// and each of three throws a third of the time.
#[test]
fn simultaneous_games_are_mixed() {
    for method in METHODS {
        let mut solved = Solved::new("matching_pennies", method);
        let judgement = solved.run(1000);
        assert!((judgement.values[0] - 50.0).abs() < 0.1);
        for share in solved.strategy(0).concat().iter().map(|(_, share)| share) {
            assert!((share - 0.5).abs() < 0.01, "{share}");
        }
        let mut solved = Solved::new("rock_paper_scissors", method);
        let judgement = solved.run(300);
        assert!(judgement.exploitability() < 0.5, "{}", judgement.exploitability());
        for share in solved.strategy(1)[0].iter().map(|(_, share)| share) {
            assert!((share - 1.0 / 3.0).abs() < 0.02, "{share}");
        }
    }
}

/// The four-card hand is worth half of the tricks, and max leads a six.
#[test]
fn the_four_card_hand_is_led_with_a_six() {
    let mut solved = Solved::new("four_card_whist", Method::Predictive);
    let judgement = solved.run(500);
    assert!((judgement.values[0] - 50.0).abs() < 0.1, "{:?}", judgement.values);
    let lead = &solved.strategy(0)[0];
    assert_eq!(lead.len(), 4);
    let sixes: f64 =
        lead.iter().filter(|(name, _)| name.ends_with(" 6)")).map(|(_, share)| share).sum();
    assert!(sixes > 0.98, "{lead:?}");
}

/// Partners whose signals mean nothing by themselves come to a convention.
#[test]
fn partners_find_a_convention() {
    for method in METHODS {
        let mut solved = Solved::new("partner_signalling", method);
        let judgement = solved.run(200);
        assert!(judgement.values[0] > 99.0, "{method:?}: {:?}", judgement.values);
    }
}

/// With one role the best response is the best: expectations under hidden chance.
#[test]
fn single_players_find_the_best_expectation() {
    for (game, value) in [("monty_hall", 200.0 / 3.0), ("two_roads", 60.0), ("two_roads_ask", 90.0)]
    {
        let judgement = Solved::new(game, Method::Predictive).run(500);
        assert!((judgement.values[0] - value).abs() < 0.5, "{game}: {:?}", judgement.values);
        assert!(judgement.exploitability() < 0.5, "{game}");
    }
}

/// Stopping in the middle of a sweep or of the tree changes nothing.
#[test]
fn interruptions_change_nothing() {
    let mut whole = Solved::new("kuhn_poker", Method::Predictive);
    whole.run(20);
    let mut machine = machine(library::find("kuhn_poker").unwrap().text);
    let mut builder = Builder::new(machine.as_mut(), 1000).unwrap();
    let mut n_stops = 0;
    while builder.grow(machine.as_mut(), &Stop::never().after_nodes(1), &mut 0).unwrap()
        != Growth::Whole
    {
        n_stops += 1;
    }
    let tree = builder.finish();
    assert!(n_stops > 10);
    assert_eq!((tree.nodes.len(), tree.n_slots()), (whole.tree.nodes.len(), whole.tree.n_slots()));
    let mut solver = Solver::new(&tree, Method::Predictive);
    while solver.n_iterations() < 20 {
        let mut n_nodes = 0;
        solver.run(&tree, 20, &Stop::never().after_nodes(7), &mut n_nodes);
        assert!(n_nodes <= 7);
    }
    assert_eq!(solver.average(&tree, 0.0), whole.solver.average(&whole.tree, 0.0));
}

/// A role that never chooses has its value, too: that of what the other one leads to.
#[test]
fn a_role_without_a_choice_has_a_value() {
    let rules = "(role mover) (role watcher) (init start) (legal watcher noop)
        (legal mover left) (legal mover right)
        (<= (next (at ?move)) (does mover ?move)) (<= terminal (not (true start)))
        (<= (goal mover 90) (true (at left))) (<= (goal watcher 10) (true (at left)))
        (<= (goal mover 20) (true (at right))) (<= (goal watcher 80) (true (at right)))";
    let Judgement { values, gains, .. } = Solved::new(rules, Method::Plus).run(1000);
    assert!((values[0] - 90.0).abs() < 0.1 && (values[1] - 10.0).abs() < 0.1, "{values:?}");
    assert_eq!(gains[1], 0.0);
}

/// A tree has no more nodes than it may have, but for those of one more step.
#[test]
fn a_large_tree_is_given_up() {
    let mut machine = machine(library::find("phantom_connect_four").unwrap().text);
    let mut builder = Builder::new(machine.as_mut(), 500).unwrap();
    let growth = builder.grow(machine.as_mut(), &Stop::never(), &mut 0).unwrap();
    assert_eq!(growth, Growth::TooLarge(TooLarge::Nodes(500)));
    assert!(builder.n_nodes() < 600);
}

/// The best response against uniform play in matching pennies gains nothing, and against
/// one that always shows heads everything.
#[test]
fn best_responses_are_exact() {
    let solved = Solved::new("matching_pennies", Method::Plus);
    let judge = |strategy: &[f64]| judge(&solved.tree, strategy, &[0, 1], &Stop::never()).unwrap();
    assert_eq!(judge(&[0.5; 4]).gains, [0.0, 0.0]);
    assert_eq!(judge(&[1.0, 0.0, 1.0, 0.0]).gains, [0.0, 100.0]);
    assert_eq!(judge(&[1.0, 0.0, 0.0, 1.0]).gains, [100.0, 0.0]);
}

/// What a best response gains against uniform play, as OpenSpiel has it: 0.458333 chips in
/// Kuhn poker, where uniform play is worth an eighth of a chip, and 2.373611 in Leduc poker.
#[test]
fn uniform_play_is_as_exploitable_as_is_known() {
    for (game, chip, gain) in [("kuhn_poker", 25.0, 0.458_333), ("leduc_poker", 3.0, 2.373_611)] {
        let solved = Solved::new(game, Method::Plus);
        let judgement =
            judge(&solved.tree, &uniform(&solved.tree), &[0, 1], &Stop::never()).unwrap();
        let found = judgement.exploitability() / chip;
        assert!((found - gain).abs() < 1e-5, "{game}: {found}");
        if game == "kuhn_poker" {
            assert!((judgement.values[0] - 53.125).abs() < 1e-9, "{:?}", judgement.values);
        }
    }
}
