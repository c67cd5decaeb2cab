//! The state machine over a network against the prover, in lock step: facts,
//! legal moves, ends, goals and percepts, in states of legal play and in others.

#![expect(clippy::print_stderr, reason = "what was not compared is to be seen")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use games::{
    Cancel, Case, Children, Cursor, Expression, Game, GoalReading, GroundingLimits, Guards,
    Leniency, MoveId, Network, Prover, RoleId, State, StateKey, StateMachine, Wanted, ground,
    library, validate,
};
use games::{EvaluationMethod, NetworkMachine};

use super::random::Random;

/// Gates of networks that are made smaller while they are walked through.
const MAX_IMPROVED: usize = 1_000;

/// Walks and most steps of each.
fn walks() -> (usize, usize) {
    let slow = std::env::var_os("RUN_SLOW_TESTS");
    let is_slow = slow.is_some_and(|value| !value.is_empty() && value != "0");
    if is_slow { (10, 1000) } else { (2, 60) }
}

#[test]
fn shipped_games_are_played_as_the_prover_plays_them() {
    for shipped in library::all() {
        let game = validate::read(shipped.name, shipped.text, Case::Folded, Leniency::Strict).game;
        assert!(check(Arc::new(game.unwrap())), "{} has no network", shipped.name);
    }
}

#[test]
fn published_games_are_played_as_the_prover_plays_them() {
    let Some(folder) = std::env::var_os("GAMEMASTER_CORPUS") else {
        eprintln!("skipped: GAMEMASTER_CORPUS names no folder");
        return;
    };
    let mut n_compared = 0;
    let folder = Path::new(&folder).join("rulesheets");
    let mut paths: Vec<_> =
        std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in &paths {
        let name = path.file_stem().unwrap().to_str().unwrap();
        let text = std::fs::read(path).unwrap();
        let game = validate::read(name, &text, Case::Sensitive, Leniency::Lenient).game;
        n_compared += usize::from(check(Arc::new(game.unwrap())));
    }
    eprintln!("{n_compared} of {} compared", paths.len());
    assert!(n_compared > paths.len() / 2);
}

/// A choice among numbers leads to the same positions by every reasoner and method.
#[test]
fn chosen_moves_are_the_same_for_all_cursors() {
    for name in ["tic_tac_toe", "tron", "checkers_6x6"] {
        let text = library::find(name).unwrap().text;
        let game = validate::read(name, text, Case::Folded, Leniency::Strict).game;
        let game = Arc::new(game.unwrap());
        let prover = Prover::new(Arc::clone(&game), Guards::default()).unwrap();
        let network = Arc::new(ground(&game, &budget(), &Cancel::new()).unwrap());
        let by = |evaluation| {
            let network = Arc::clone(&network);
            Box::new(NetworkMachine::with_evaluation(network, prover.clone(), evaluation))
        };
        let mut keys: Vec<Vec<StateKey>> = Vec::new();
        let machines: [Box<dyn StateMachine>; 3] = [
            Box::new(prover.clone()),
            by(EvaluationMethod::Differential),
            by(EvaluationMethod::Pass),
        ];
        for mut machine in machines {
            let initial = machine.initial_state().unwrap();
            let mut cursor = machine.cursor(&initial);
            let (mut random, mut met) = (Random::new(3), Vec::new());
            while cursor.play_chosen(&mut |n| random.below(n)).unwrap() {
                met.push(cursor.key());
            }
            assert!(cursor.is_terminal().unwrap(), "{name}");
            assert!(!cursor.play_chosen(&mut |_| panic!("nothing to choose")).unwrap());
            keys.push(met);
        }
        assert!(keys[0].len() > 3 && keys.iter().all(|met| *met == keys[0]), "{name}");
    }
}

/// Small networks: the others are compared by their own tests.
fn budget() -> GroundingLimits {
    GroundingLimits { max_steps: 30_000_000, max_bytes: 256 << 20, ..GroundingLimits::default() }
}

fn check(game: Arc<Game>) -> bool {
    let Ok(network) = ground(&game, &budget(), &Cancel::new()) else { return false };
    let network = Arc::new(network);
    for evaluation in [EvaluationMethod::Differential, EvaluationMethod::Pass] {
        walk(&game, &network, evaluation);
    }
    true
}

fn walk(game: &Arc<Game>, network: &Arc<Network>, evaluation: EvaluationMethod) {
    let mut prover = Prover::new(Arc::clone(game), Guards::default()).unwrap();
    let mut machine =
        NetworkMachine::with_evaluation(Arc::clone(network), prover.clone(), evaluation);
    assert_eq!(machine.evaluation(), evaluation);
    let mut random = Random::new(7);
    let (n_walks, n_steps) = walks();
    for walk in 0..n_walks {
        // The second machine is a fork, which shares states and moves.
        let mut fork = machine.fork();
        let machine: &mut dyn StateMachine = if walk % 2 == 0 { &mut machine } else { &mut *fork };
        let mut pair = Pair {
            proven: prover.initial_state().unwrap(),
            state: machine.initial_state().unwrap(),
            cursor: machine.cursor(&network.initial_state()),
            prover: &mut prover,
            machine,
            name: game.name(),
            seen: BTreeMap::new(),
        };
        for step in 0..n_steps {
            if walk == 1 && step == 5 {
                improve(&*pair.machine, network);
            }
            pair.compare(step);
            let Some(joint_move) = pair.draw(&mut random) else { break };
            pair.compare_percepts(&joint_move, step);
            if step % 10 == 0 {
                pair.compare_children(&mut random, if step == 0 { 70 } else { 5 }, step);
            }
            pair.advance(&joint_move);
        }
        // And from facts, which are as good as a state that was played to.
        let facts = pair.prover.facts(&pair.proven);
        pair.state = pair.machine.state_of(&facts).unwrap();
        pair.cursor.enter(&pair.state);
        pair.compare(n_steps);
        if let Some(joint_move) = pair.draw(&mut random) {
            pair.advance(&joint_move);
            pair.compare(n_steps + 1);
        }
        // And by moves that are not legal: each role's first of the start.
        let start = pair.machine.initial_state().unwrap();
        let proven_start = pair.prover.initial_state().unwrap();
        if let Some(joint_move) = pair.first_moves(&proven_start) {
            pair.advance(&joint_move);
            pair.compare(n_steps + 2);
            assert_eq!(pair.machine.initial_state().unwrap(), start);
            // And in the initial state, which the network covers: what follows may not be.
            (pair.state, pair.proven) = (start.clone(), proven_start);
            pair.cursor.enter(&start);
            assert!(!pair.cursor.take_back());
            for step in 0..3 {
                pair.compare(step);
                pair.advance(&joint_move);
            }
            pair.compare(3);
            let (state, proven) = (pair.state.clone(), pair.proven.clone());
            pair.advance(&joint_move);
            assert!(pair.cursor.take_back());
            (pair.state, pair.proven) = (state, proven);
            pair.compare(3);
            if walk == 1 {
                pair.cursor.forget_way();
                assert!(!pair.cursor.take_back());
                pair.compare(3);
                continue;
            }
            while pair.cursor.take_back() {}
            (pair.state, pair.proven) = (start, pair.prover.initial_state().unwrap());
            pair.compare(0);
        }
    }
}

/// What time left over is for, where it does not take long: from then on a smaller
/// network answers, if one was found.
fn improve(machine: &dyn StateMachine, network: &Network) {
    if network.graph.n_ands() <= MAX_IMPROVED
        && let Some(work) = machine.spare_work()
    {
        work(&Cancel::new());
        assert!(machine.spare_work().is_none(), "it was done");
    }
}

/// The changed facts by id are those by comparison of all facts, and a fork calls them the
/// same.
fn compare_changes(machine: &mut dyn StateMachine, start: &State, state: &State, place: &str) {
    let fork = machine.fork();
    let facts = |state: &State| fork.facts(state).into_iter().collect::<BTreeSet<_>>();
    for from in [&State::default(), start] {
        let (before, after) = match *from == State::default() {
            true => (BTreeSet::new(), facts(state)),
            false => (facts(from), facts(state)),
        };
        let (mut gained, mut lost) = (Vec::new(), Vec::new());
        machine.changed_facts(from, state, &mut gained, &mut lost);
        for (ids, expected) in [(gained, &after - &before), (lost, &before - &after)] {
            let named: BTreeSet<Expression> = ids.iter().map(|&id| fork.fact(id)).collect();
            assert_eq!(named, expected, "{place}");
            assert_eq!(named.len(), ids.len(), "{place}: each once");
            assert!(ids.iter().all(|&id| machine.fact(id) == fork.fact(id)), "{place}");
        }
    }
}

struct Pair<'a> {
    prover: &'a mut Prover,
    machine: &'a mut dyn StateMachine,
    proven: State,
    state: State,
    /// Is where `state` is.
    cursor: Box<dyn Cursor>,
    name: &'a str,
    /// The states met, by their keys.
    seen: BTreeMap<StateKey, Vec<Expression>>,
}

impl Pair<'_> {
    fn roles(&self) -> impl Iterator<Item = RoleId> + use<> {
        self.prover.game().role_ids()
    }

    fn legal(&mut self, role: RoleId) -> Vec<Expression> {
        let mut moves = Vec::new();
        self.prover.legal_moves(&self.proven, role, &mut moves).unwrap();
        moves.iter().map(|&id| self.prover.move_expression(id)).collect()
    }

    fn compare(&mut self, step: usize) {
        let place = format!("{} after {step} steps", self.name);
        assert_eq!(self.machine.facts(&self.state), self.prover.facts(&self.proven), "{place}");
        self.compare_keys(&place);
        let start = self.machine.initial_state().unwrap();
        compare_changes(self.machine, &start, &self.state, &place);
        let start = self.prover.initial_state().unwrap();
        compare_changes(self.prover, &start, &self.proven, &place);
        let ends = self.prover.is_terminal(&self.proven).unwrap();
        assert_eq!(self.machine.is_terminal(&self.state).unwrap(), ends, "{place}");
        let unlisted = vec![vec![MoveId(u32::MAX)]; self.roles().count()];
        let (mut all_moves, mut shared) = (unlisted.clone(), unlisted);
        for (moves, before_successors) in [(&mut all_moves, false), (&mut shared, true)] {
            let are_listed = self.machine.all_legal_moves(&self.state, moves, before_successors);
            assert_eq!(are_listed.unwrap(), !ends, "{place}");
        }
        assert_eq!(shared, all_moves, "{place}");
        for role in self.roles() {
            let mut moves = Vec::new();
            self.machine.legal_moves(&self.state, role, &mut moves).unwrap();
            let listed = if ends { &[MoveId(u32::MAX)][..] } else { moves.as_slice() };
            assert_eq!(all_moves[usize::from(role.0)], listed, "{place}");
            let moves: Vec<Expression> =
                moves.iter().map(|&id| self.machine.move_expression(id)).collect();
            assert_eq!(moves, self.legal(role), "{place}");
            let goal = self.machine.goal(&self.state, role).unwrap();
            assert_eq!(goal, self.prover.goal(&self.proven, role).unwrap(), "{place}");
            let found = self.cursor.legal_moves(role).unwrap();
            let found: Vec<MoveId> = found.iter().collect();
            let found: Vec<_> = found.iter().map(|&id| self.machine.move_expression(id)).collect();
            assert_eq!(found, moves, "cursor, {place}");
            assert_eq!(self.cursor.goal(role).unwrap(), goal, "cursor, {place}");
        }
        assert_eq!(self.cursor.is_terminal().unwrap(), ends, "cursor, {place}");
        assert_eq!(self.cursor.key(), self.machine.key(&self.state), "cursor, {place}");
        let mut found = State::default();
        self.cursor.copy_state(&mut found);
        let facts = self.machine.facts(&self.state);
        assert_eq!(self.machine.facts(&found), facts, "cursor, {place}");
    }

    /// The key that follows from the state before is that of a machine which never
    /// saw another, and the prover's; and no other state's.
    fn compare_keys(&mut self, place: &str) {
        let key = self.machine.key(&self.state);
        assert_eq!(key, self.prover.key(&self.proven), "{place}");
        assert_eq!(key, self.machine.fork().key(&self.state), "{place}");
        let facts = self.machine.facts(&self.state);
        assert_eq!(*self.seen.entry(key).or_insert_with(|| facts.clone()), facts, "{place}");
    }

    /// A legal move for each role, unless the state is terminal or stuck.
    fn draw(&mut self, random: &mut Random) -> Option<Vec<Expression>> {
        if self.prover.is_terminal(&self.proven).unwrap() {
            return None;
        }
        let roles: Vec<RoleId> = self.roles().collect();
        roles
            .into_iter()
            .map(|role| {
                let legal = self.legal(role);
                (!legal.is_empty()).then(|| legal[random.below(legal.len())].clone())
            })
            .collect()
    }

    fn first_moves(&mut self, start: &State) -> Option<Vec<Expression>> {
        let here = std::mem::replace(&mut self.proven, start.clone());
        let roles: Vec<RoleId> = self.roles().collect();
        let moves = roles.into_iter().map(|role| self.legal(role).into_iter().next()).collect();
        self.proven = here;
        moves
    }

    fn ids(&mut self, joint_move: &[Expression]) -> (Vec<MoveId>, Vec<MoveId>) {
        let proven = joint_move.iter().map(|term| self.prover.find_move(term).unwrap()).collect();
        let played = joint_move.iter().map(|term| self.machine.find_move(term).unwrap()).collect();
        (proven, played)
    }

    fn compare_percepts(&mut self, joint_move: &[Expression], step: usize) {
        let (proven, played) = self.ids(joint_move);
        for role in self.roles() {
            assert_eq!(
                self.machine.percepts(&self.state, &played, role).unwrap(),
                self.prover.percepts(&self.proven, &proven, role).unwrap(),
                "{} after {step} steps",
                self.name
            );
        }
    }

    /// Some children at once against the prover, one after the other.
    fn compare_children(&mut self, random: &mut Random, n: usize, step: usize) {
        let joint_moves: Vec<_> = (0..n).filter_map(|_| self.draw(random)).collect();
        let ids: Vec<_> = joint_moves.iter().map(|joint_move| self.ids(joint_move)).collect();
        let flat: Vec<MoveId> = ids.iter().flat_map(|(_, played)| played.clone()).collect();
        let mut children = Children::default();
        for wanted in [
            Wanted { legal: true, all_goals: true },
            Wanted { legal: true, all_goals: false },
            Wanted { legal: false, all_goals: false },
        ] {
            self.machine.expand(&self.state, &flat, wanted, &mut children).unwrap();
            assert_eq!(children.len(), joint_moves.len());
            for (child, (proven, _)) in ids.iter().enumerate() {
                self.compare_child(proven, &children, child, wanted, step);
            }
        }
    }

    fn compare_child(
        &mut self,
        joint_move: &[MoveId],
        children: &Children,
        child: usize,
        wanted: Wanted,
        step: usize,
    ) {
        let place = format!("{} after {step} steps, child {child}, {wanted:?}", self.name);
        let mut next = State::default();
        self.prover.next_state(&self.proven, joint_move, &mut next).unwrap();
        let facts = self.machine.facts(children.state(child));
        assert_eq!(facts, self.prover.facts(&next), "{place}");
        let is_terminal = self.prover.is_terminal(&next).unwrap();
        assert_eq!(children.is_terminal(child), is_terminal, "{place}");
        let mut moves = Vec::new();
        for role in self.roles() {
            let goal = if wanted.all_goals || is_terminal {
                self.prover.goal(&next, role).unwrap()
            } else {
                GoalReading::default()
            };
            assert_eq!(children.goal(child, role), &goal, "{place}");
            moves.clear();
            if wanted.legal && !is_terminal {
                self.prover.legal_moves(&next, role, &mut moves).unwrap();
            }
            let proven = moves.iter().map(|&id| self.prover.move_expression(id));
            let legal = children.legal(child, role).iter();
            let legal = legal.map(|&id| self.machine.move_expression(id));
            assert!(legal.eq(proven), "{place}");
        }
    }

    fn advance(&mut self, joint_move: &[Expression]) {
        let (proven, played) = self.ids(joint_move);
        let mut next = State::default();
        self.prover.next_state(&self.proven, &proven, &mut next).unwrap();
        self.proven = next;
        let mut next = State::default();
        self.machine.next_state(&self.state, &played, &mut next).unwrap();
        self.state = next;
        self.cursor.play(&played).unwrap();
    }
}
