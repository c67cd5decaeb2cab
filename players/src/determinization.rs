//! Determinization: the move that is best on average over deals, each of them played with
//! open cards (GIB: Ginsberg, "GIB: Imperfect information in a computationally challenging
//! game", JAIR 2001).
//!
//! It assumes that later on it will know the state. So it never sees a use in finding out
//! what it does not know, and it takes a fork in the road that is good on either side only
//! if one knows which (Russell and Norvig, "Artificial Intelligence: A Modern Approach",
//! section on card games; Frank and Basin, "Search in games with incomplete information",
//! Artificial Intelligence 1998).

use games::{MoveId, ReasoningError, StateMachine};
use rand::RngExt;
use rand_pcg::Pcg64;

use crate::belief::{Belief, PARTICLES, Tracker, TrackerSettings};
use crate::kind::PlayerKind;
use crate::options::OptionSpec;
use crate::search::chance::ChanceCuts;
use crate::search::{
    BOUNDED, MAX_LEVELS, Memory, Opponents, Search, Settings, endless_lines, settings,
};
use crate::seed;
use crate::{
    Candidate, Deliberation, Failure, OptionError, Options, Player, Seat, Stop, Turn, ValueBound,
};

/// The determinizing player.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "determinization",
    summary: "Guesses deals, solves each by alpha-beta as if nothing was hidden, and takes the best \
              move on average.",
    options: OPTIONS,
    instant: false,
    plays_hidden_information: true,
    make,
};

const DEALS: OptionSpec = OptionSpec {
    name: "deals",
    accepts: "a whole number from 1 to 100000",
    default: "100",
    help: "States drawn from the belief for each move; if the belief has at most this many \
           states, all are used, with their probabilities.",
};

const OPPONENTS: OptionSpec = OptionSpec {
    name: "opponents",
    accepts: "\"paranoid\" or \"cooperative\"",
    default: "\"paranoid\"",
    help: "How the others reply if nothing is hidden: `paranoid`, as a coalition that knows the \
           player's move; `cooperative`, all in its favour.",
};

const OPTIONS: &[OptionSpec] =
    &[DEALS, PARTICLES, OPPONENTS, settings::DEPTH, settings::EVALUATION, settings::TRANSPOSITION];

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    let seed = reader.seed()?;
    let opponents = [("paranoid", Opponents::Paranoid), ("cooperative", Opponents::Cooperative)];
    let deals = reader.integer(DEALS.name, 1..=100_000, 100)?;
    Ok(Box::new(Determinization {
        deals: usize::try_from(deals).expect("the range was checked"),
        following: TrackerSettings::read(&reader)?,
        settings: Settings {
            opponents: reader.choice(OPPONENTS.name, &opponents, Opponents::Paranoid)?,
            window: BOUNDED,
            narrow: true,
            chance_cuts: ChanceCuts::Star1,
            depth: settings::depth(&reader)?,
            evaluation: settings::evaluation(&reader)?,
            deepening: false,
            remembered: settings::remembered(&reader, settings::DEFAULT_REMEMBERED)?,
            ..Settings::TEXTBOOK
        },
        seed,
        rng: seed::generator(0, seed),
        tracker: None,
        memory: Memory::default(),
        deliberation: None,
    }))
}

struct Determinization {
    deals: usize,
    following: TrackerSettings,
    /// Of the search in each deal; its depth is the greatest one.
    settings: Settings,
    seed: Option<i64>,
    rng: Pcg64,
    tracker: Option<Tracker>,
    /// Values of states hold in all deals.
    memory: Memory,
    deliberation: Option<Deliberation>,
}

impl Player for Determinization {
    fn check(&mut self, machine: Box<dyn StateMachine>) -> Result<(), Failure> {
        let refusal = self.settings.evaluation.refusal(&*machine);
        refusal.map_or(Ok(()), |reason| Err(Failure::Unsuitable(reason)))
    }

    fn start(&mut self, seat: Seat, stop: &Stop) -> Result<(), Failure> {
        self.rng = seed::generator(seat.seed, self.seed);
        let tracker = Tracker::new(seat, self.following, self.seed);
        self.check(tracker.machine.fork())?;
        self.forget();
        self.deliberation = Some(Deliberation::default());
        let tracker = self.tracker.insert(tracker);
        tracker.begin(stop)?;
        let has_limit = stop.deadline().is_some() || stop.node_budget().is_some();
        let Some(belief) = tracker.belief().filter(|_| has_limit) else { return Ok(()) };
        // Fills the table, and prepares the reasoner for searches.
        let deals = belief.sample(self.deals, &mut self.rng);
        if tracker.machine.is_terminal(&deals.lines[0].state)? {
            return Ok(());
        }
        let turn = Turn { step: 0, observation: None, legal: &[] };
        match self.deliberate(&deals, &turn, stop) {
            Err(ReasoningError::Cancelled) | Ok(_) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        self.deliberation = Some(Deliberation::default());
        let fallback = turn.legal[self.rng.random_range(0..turn.legal.len())];
        let Some(tracker) = &mut self.tracker else { return Ok(fallback) };
        let deals =
            tracker.follow(turn, stop)?.map(|belief| belief.sample(self.deals, &mut self.rng));
        let (notes, likeliest) = (tracker.notes(), tracker.likeliest());
        let deliberation = self.deliberation.get_or_insert_default();
        deliberation.notes = notes;
        deliberation.belief = likeliest;
        let Some(deals) = deals else { return Ok(fallback) };
        if turn.legal.len() == 1 {
            deliberation.completed = true;
            return Ok(fallback);
        }
        if !deals.is_exact {
            deliberation.notes.push(format!("deals: {} different ones drawn", deals.lines.len()));
        }
        let values = self.deliberate(&deals, turn, stop)?;
        if self.memory.table.has_given_up() {
            let note = settings::full_table(self.settings.remembered);
            self.deliberation.get_or_insert_default().notes.push(note);
        }
        Ok(self.choose(turn.legal, &values).unwrap_or(fallback))
    }

    fn abort(&mut self) {
        self.forget();
    }

    fn belief(&self) -> Option<Belief> {
        self.tracker.as_ref()?.belief().cloned()
    }

    fn deliberation(&self) -> Option<Deliberation> {
        self.deliberation.clone()
    }
}

impl Determinization {
    fn forget(&mut self) {
        self.tracker = None;
        self.memory = Memory::default();
    }

    /// The mean value of each legal move over the deals, from the greatest depth that was
    /// finished in all of them. If not even the first depth was, from those deals in which
    /// it was. Empty if there is none.
    fn deliberate(
        &mut self,
        deals: &Belief,
        turn: &Turn<'_>,
        stop: &Stop,
    ) -> Result<Vec<f64>, ReasoningError> {
        let most = u32::try_from(MAX_LEVELS).expect("it is small");
        let greatest = if self.settings.depth == 0 { most } else { self.settings.depth };
        let mut means = Vec::new();
        let mut is_settled = greatest < most;
        for depth in 1..=greatest {
            if depth == most {
                // Here a state at the limit is worth 0, whatever searches to less depth estimated.
                self.memory.table.forget();
            }
            let mut sums = vec![0.0; turn.legal.len()];
            let (mut weight, mut is_proven, mut is_finished) = (0.0, true, true);
            for line in &deals.lines {
                let Some((values, proven)) = self.solve(&line.state, depth, turn, stop)? else {
                    is_finished = false;
                    break;
                };
                for (sum, value) in sums.iter_mut().zip(values) {
                    *sum += line.weight * value;
                }
                weight += line.weight;
                is_proven &= proven;
            }
            let deliberation = self.deliberation.get_or_insert_default();
            if is_finished || (depth == 1 && weight > 0.0) {
                means = sums.into_iter().map(|sum| sum / weight).collect();
                deliberation.depth = depth;
            }
            if !is_finished {
                if depth == 1 && weight > 0.0 {
                    let share = 100.0 * weight;
                    let note = format!("deals: time for {share:.0} % of them only");
                    deliberation.notes.push(note);
                }
                return Ok(means);
            }
            if is_proven {
                is_settled = true;
                break;
            }
        }
        let deliberation = self.deliberation.get_or_insert_default();
        deliberation.completed = is_settled;
        if !is_settled {
            deliberation.notes.push(endless_lines(MAX_LEVELS));
        }
        Ok(means)
    }

    /// The value of each legal move in one deal with open cards, and whether it is exact;
    /// `None` if the stop was due.
    fn solve(
        &mut self,
        state: &games::State,
        depth: u32,
        turn: &Turn<'_>,
        stop: &Stop,
    ) -> Result<Option<(Vec<f64>, bool)>, ReasoningError> {
        let Some(Tracker { machine, role, .. }) = &mut self.tracker else { return Ok(None) };
        let total = self.deliberation.get_or_insert_default();
        let left = stop.node_budget().map(|budget| budget.saturating_sub(total.nodes));
        let stop = left.map_or_else(|| stop.clone(), |left| stop.clone().after_nodes(left));
        let settings = Settings { depth, ..self.settings.clone() };
        let mut search =
            Search::new(machine.as_mut(), *role, settings, &mut self.memory, &stop).of_every_move();
        let answer = search.best_move(state)?;
        let found = search.deliberation();
        total.nodes += found.nodes;
        total.leaves += found.leaves;
        total.next_calls += found.next_calls;
        total.prunings = total.prunings.saturating_add(found.prunings);
        total.table_hits += found.table_hits;
        total.selective_depth = total.selective_depth.max(found.selective_depth);
        let Some(value) = answer.value else { return Ok(None) };
        let worth = |&action: &MoveId| {
            let candidate = found.candidates.iter().find(|candidate| candidate.action == action);
            candidate.and_then(|candidate| candidate.value).unwrap_or(0.0)
        };
        Ok(Some((turn.legal.iter().map(worth).collect(), value.proven)))
    }

    /// One of the moves with the greatest mean, and what there is to say of all.
    fn choose(&mut self, legal: &[MoveId], means: &[f64]) -> Option<MoveId> {
        let best = means.iter().copied().reduce(f64::max)?;
        let is_best = |mean: f64| best - mean < TIE;
        let ties: Vec<MoveId> = legal
            .iter()
            .zip(means)
            .filter(|(_, mean)| is_best(**mean))
            .map(|(&id, _)| id)
            .collect();
        let chosen = ties[self.rng.random_range(0..ties.len())];
        let deliberation = self.deliberation.get_or_insert_default();
        deliberation.value = Some(best);
        let candidate = |(&action, &mean): (&MoveId, &f64)| Candidate {
            action,
            value: Some(mean),
            bound: ValueBound::Exact,
            visits: 0,
            probability: (ties.len() > 1)
                .then(|| if is_best(mean) { 1.0 / ties.len() as f64 } else { 0.0 }),
        };
        deliberation.candidates = legal.iter().zip(means).map(candidate).collect();
        if let Some(tracker) = &self.tracker {
            deliberation.line = vec![vec![(tracker.role, chosen)]];
        }
        Some(chosen)
    }
}

/// Means that differ by less are equal but for rounding.
const TIE: f64 = 1e-9;
