//! An equilibrium of the whole game by counterfactual regret minimisation.
//!
//! The rules are written out as one tree of information sets before the first move, and
//! regrets are matched over all of it until time is up. What is played is the average
//! strategy, drawn at random as it demands: it bluffs as often as pays, and keeps hidden
//! what should be. For two roles whose rewards add up to a constant it approaches an
//! equilibrium, which no opponent can exploit. How far it is from one is computed by best
//! responses and reported. With more roles, or partners, there is no such guarantee.
//!
//! A game whose tree has too many nodes is refused before the match, if `MOST_CHECKED` states
//! show it; otherwise in the match, which is a fault of the player.

mod best_response;
pub mod exploitability;
mod size;
mod solver;
#[cfg(test)]
pub(crate) mod tests;
mod tree;

use games::{MoveId, ReasoningError, RoleId, StateMachine};
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::belief::Knowledge;
use crate::counted::counted;
use crate::kind::PlayerKind;
use crate::options::OptionSpec;
use crate::seed;
use crate::{
    Candidate, Deliberation, Failure, OptionError, Options, Player, Seat, Stop, Turn, ValueBound,
};
use best_response::{Judgement, judge};
use solver::{Method, Solver};
use tree::{Builder, Growth, TooLarge, Tree};

/// The player.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "cfr",
    summary: "Solves small games of hidden information by counterfactual regret minimisation, and \
              plays the equilibrium.",
    options: OPTIONS,
    instant: false,
    plays_hidden_information: true,
    make,
};

const METHOD: OptionSpec = OptionSpec {
    name: "method",
    accepts: "\"predictive\", \"discounted\" or \"plus\"",
    default: "\"predictive\"",
    help: "How regrets are matched: predictive CFR+, discounted CFR, or CFR+.",
};

const NODES: OptionSpec = OptionSpec {
    name: "nodes",
    accepts: "a whole number from 1 to 1000000000",
    default: "1000000",
    help: "Nodes of the largest tree that is built; larger games are refused. A million usually \
           takes about 250 MB, and never more than 600.",
};

const ITERATIONS: OptionSpec = OptionSpec {
    name: "iterations",
    accepts: "a whole number from 1",
    default: "10000",
    help: "Maximum number of iterations in a match.",
};

const TARGET: OptionSpec = OptionSpec {
    name: "target",
    accepts: "a number from 0 to 100",
    default: "0.02",
    help: "Stop when a best response gains at most this many points.",
};

const OPTIONS: &[OptionSpec] = &[METHOD, NODES, ITERATIONS, TARGET];

/// Iterations before the strategy is judged for the first time; then it is after twice as
/// many each time.
const FIRST_CHECK: u64 = 8;
/// Moves with a smaller probability are not played.
const LEAST_SHARE: f64 = 1e-3;

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    let seed = reader.seed()?;
    let methods = [
        ("predictive", Method::Predictive),
        ("discounted", Method::Discounted),
        ("plus", Method::Plus),
    ];
    let nodes = reader.integer(NODES.name, 1..=1_000_000_000, 1_000_000)?;
    Ok(Box::new(Cfr {
        method: reader.choice(METHOD.name, &methods, Method::Predictive)?,
        most_nodes: usize::try_from(nodes).expect("the range was checked"),
        iterations: reader.integer(ITERATIONS.name, 1..=i64::MAX, 10_000)?.cast_unsigned(),
        target: reader.float(TARGET.name, 0.0..=100.0, 0.02)?,
        seed,
        rng: seed::generator(0, seed),
        seated: None,
        deliberation: None,
    }))
}

struct Cfr {
    method: Method,
    most_nodes: usize,
    iterations: u64,
    target: f64,
    seed: Option<i64>,
    rng: Pcg64,
    seated: Option<Seated>,
    deliberation: Option<Deliberation>,
}

/// A seat, what its role knows, and the solution so far.
struct Seated {
    machine: Box<dyn StateMachine>,
    role: RoleId,
    known: Knowledge,
    n_observed: u32,
    work: Work,
}

/// How far the solution is.
enum Work {
    /// Nothing was done yet.
    None,
    /// The tree is being built.
    Building(Box<Builder>),
    /// It is whole.
    Solving(Box<Solution>),
}

struct Solution {
    tree: Tree,
    solver: Solver,
    /// The judgement of the strategy, and the number of iterations that it had then.
    judged: Option<(Judgement, u64)>,
    /// When to judge it next.
    next_check: u64,
}

impl Player for Cfr {
    fn start(&mut self, seat: Seat, stop: &Stop) -> Result<(), Failure> {
        self.deliberation = Some(Deliberation::default());
        self.rng = seed::generator(seat.seed, self.seed);
        let (machine, role) = (seat.machine.take(), seat.role);
        let known = Knowledge::default();
        self.seated = Some(Seated { machine, role, known, n_observed: 0, work: Work::None });
        self.solve(stop)
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        self.deliberation = Some(Deliberation::default());
        let fallback = turn.legal[self.rng.random_range(0..turn.legal.len())];
        let Some(seated) = &mut self.seated else { return Ok(fallback) };
        if let Some(observation) = turn.observation {
            seated.known = seated.known.observed(seated.role, observation);
            seated.n_observed += 1;
        }
        seated.known = seated.known.allowed(turn.legal);
        let is_lost = seated.n_observed != turn.step;
        self.solve(stop)?;
        Ok(if is_lost { fallback } else { self.choose(turn.legal).unwrap_or(fallback) })
    }

    fn abort(&mut self) {
        self.seated = None;
    }

    fn deliberation(&self) -> Option<Deliberation> {
        self.deliberation.clone()
    }

    fn check(&mut self, mut machine: Box<dyn StateMachine>) -> Result<(), Failure> {
        // A tree that takes more states to count or to build is measured in the match.
        let stop = Stop::never().after_nodes(size::MOST_CHECKED);
        if size::is_too_large(machine.as_mut(), self.most_nodes, &stop, &mut 0)? {
            return Err(too_large(TooLarge::Nodes(self.most_nodes)));
        }
        let mut builder = Builder::new(machine.as_mut(), self.most_nodes)?;
        match builder.grow(machine.as_mut(), &stop, &mut 0)? {
            Growth::Whole | Growth::Stopped => Ok(()),
            Growth::TooLarge(excess) => Err(too_large(excess)),
        }
    }
}

fn too_large(excess: TooLarge) -> Failure {
    let (name, option) = (KIND.name, NODES.name);
    Failure::Unsuitable(format!("{excess}, and `{name}` solves whole games (option `{option}`)"))
}

impl Cfr {
    /// Builds the tree and improves the strategy until it is good enough or `stop` is due.
    fn solve(&mut self, stop: &Stop) -> Result<(), Failure> {
        let deliberation = self.deliberation.get_or_insert_default();
        let Some(seated) = &mut self.seated else { return Ok(()) };
        seated.machine.set_cancel(stop.cancel().clone());
        let growth = seated.build(self.most_nodes, stop, &mut deliberation.nodes);
        deliberation.next_calls = deliberation.nodes;
        match growth {
            Ok(Growth::Whole) => {}
            Ok(Growth::Stopped) | Err(ReasoningError::Cancelled) => {
                let n = seated.work.n_nodes();
                let nodes = counted(n, "node");
                deliberation.notes.push(format!(
                    "the tree is not complete yet ({nodes}); moves are random until it is"
                ));
                return Ok(());
            }
            Ok(Growth::TooLarge(excess)) => return Err(too_large(excess)),
            Err(error) => return Err(error.into()),
        }
        if matches!(seated.work, Work::Building(_))
            && let Work::Building(builder) = std::mem::replace(&mut seated.work, Work::None)
        {
            let tree = builder.finish();
            let solver = Solver::new(&tree, self.method);
            let solution = Solution { tree, solver, judged: None, next_check: FIRST_CHECK };
            seated.work = Work::Solving(Box::new(solution));
        }
        if let Work::Solving(solution) = &mut seated.work {
            let nodes = &mut deliberation.nodes;
            deliberation.completed = solution.improve(self.iterations, self.target, stop, nodes);
        }
        Ok(())
    }

    /// Draws a move of the strategy, and says what there is to say of it. `None` if there
    /// is no strategy yet.
    fn choose(&mut self, legal: &[MoveId]) -> Option<MoveId> {
        let Seated { role, known, work: Work::Solving(solution), .. } = self.seated.as_ref()?
        else {
            return None;
        };
        let deliberation = self.deliberation.get_or_insert_default();
        deliberation.notes.extend(solution.notes(*role, self.target));
        let tree = &solution.tree;
        if legal.len() == 1 {
            return None;
        }
        let Some(set) = tree.set(*role, *known) else {
            let note = "the rules do not lead to what was seen: the move is random";
            deliberation.notes.push(note.to_owned());
            return None;
        };
        let average = solution.solver.average(tree, LEAST_SHARE);
        let judged = solution.judged.as_ref().map(|(judgement, _)| &judgement.slots);
        let mut left = self.rng.random::<f64>();
        let mut chosen = None;
        let mut value = Some(0.0);
        for slot in tree.sets[set].slots() {
            let (action, share) = (tree.action(slot), average[slot]);
            let worth = judged.and_then(|slots| slots[slot]);
            if share > 0.0 {
                value = value.zip(worth).map(|(sum, worth)| sum + share * worth);
                if left >= 0.0 {
                    chosen = Some(action);
                }
                left -= share;
            }
            deliberation.candidates.push(Candidate {
                action,
                value: worth,
                bound: ValueBound::Exact,
                visits: 0,
                probability: Some(share),
            });
        }
        deliberation.value = value;
        chosen
    }
}

impl Seated {
    /// Builds the tree, unless it is whole already.
    fn build(
        &mut self,
        most_nodes: usize,
        stop: &Stop,
        n_entered: &mut u64,
    ) -> Result<Growth, ReasoningError> {
        let machine = self.machine.as_mut();
        if let Work::None = self.work {
            self.work = Work::Building(Box::new(Builder::new(machine, most_nodes)?));
        }
        match &mut self.work {
            Work::Building(builder) => builder.grow(machine, stop, n_entered),
            Work::None | Work::Solving(_) => Ok(Growth::Whole),
        }
    }
}

impl Work {
    fn n_nodes(&self) -> usize {
        match self {
            Self::None => 0,
            Self::Building(builder) => builder.n_nodes(),
            Self::Solving(solution) => solution.tree.nodes.len(),
        }
    }
}

impl Solution {
    /// Iterates until there were enough iterations, the strategy is good enough (`true`), or
    /// `stop` is due (`false`).
    fn improve(&mut self, iterations: u64, target: f64, stop: &Stop, n_nodes: &mut u64) -> bool {
        loop {
            let is_good = |judgement: &Judgement| judgement.exploitability() <= target;
            if self.judged.as_ref().is_some_and(|(judgement, _)| is_good(judgement)) {
                return true;
            }
            let end = self.next_check.min(iterations);
            self.solver.run(&self.tree, end, stop, n_nodes);
            if self.solver.n_iterations() < end {
                return self.solver.is_trivial();
            }
            let strategy = self.solver.average(&self.tree, LEAST_SHARE);
            let Some(judgement) = judge(&self.tree, &strategy, self.solver.roles(), stop) else {
                return false;
            };
            self.judged = Some((judgement, end));
            if end == iterations {
                return true;
            }
            self.next_check = end * 2;
        }
    }

    /// What there is to say of the strategy.
    fn notes(&self, role: RoleId, target: f64) -> Vec<String> {
        let (n_nodes, n_sets) = (self.tree.nodes.len(), self.tree.sets.len());
        let (nodes, sets) = (counted(n_nodes, "node"), counted(n_sets, "information set"));
        let mut notes = vec![format!("tree: {nodes}, {sets}")];
        let n = self.solver.n_iterations();
        notes.push(match &self.judged {
            Some((judgement, at)) => {
                let judged = format!(
                    "after {} a best response gains {:.4} points on average; value of \
                     the game {:.2}",
                    counted(*at, "iteration"),
                    judgement.exploitability(),
                    judgement.values[usize::from(role.0)]
                );
                if n == *at {
                    judged
                } else {
                    format!("{judged}; the move is drawn from the strategy of iteration {n}")
                }
            }
            None if n == 0 => "no strategy yet (0 iterations); the move is random".to_owned(),
            None => format!(
                "strategy after {}; what a best response gains is not computed yet",
                counted(n, "iteration")
            ),
        });
        if self.judged.as_ref().is_some_and(|(judged, _)| judged.exploitability() <= target) {
            notes.push(format!("the search has ended: its `target` is a gain of {target}"));
        }
        notes
    }
}
