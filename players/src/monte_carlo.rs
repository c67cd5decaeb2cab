//! Flat Monte-Carlo: the move after which random play goes best (Abramson,
//! "Expected-outcome: a general model of static evaluation", IEEE TPAMI 1990; depth
//! charges of Genesereth and Thielscher, "General Game Playing", 2014).
//!
//! Every legal move gets the same number of playouts, in rounds that grow; all
//! playouts of a round run side by side if the reasoner supports it. It does not consider
//! the best reply of an opponent, only the average.

use std::time::Instant;

use games::{MoveId, PlayoutEnd, PlayoutEnds, ReasoningError, State};
use rand::seq::SliceRandom as _;
use rand::{Rng, RngExt};
use rand_pcg::Pcg64;

use crate::kind::PlayerKind;
use crate::options::OptionSpec;
use crate::search::track::Track;
use crate::search::worst;
use crate::seed;
use crate::{
    Candidate, Deliberation, Failure, OptionError, Options, Player, Seat, Stop, Turn, ValueBound,
};

/// The Monte-Carlo player.
pub(crate) const KIND: PlayerKind = PlayerKind {
    name: "monte_carlo",
    summary: "Plays random playouts after each legal move and takes the move with the best mean.",
    options: OPTIONS,
    instant: false,
    plays_hidden_information: false,
    make,
};

const PLAYOUTS: OptionSpec = OptionSpec {
    name: "playouts",
    accepts: "a whole number from 0",
    default: "0",
    help: "Playouts for each legal move; 0: as many as the budget allows (1000 without a clock or \
           node budget). With fewer than 64 nodes for each legal move, only some of the moves \
           are tried, and part of the budget stays unused.",
};

const MAX_LENGTH: OptionSpec = OptionSpec {
    name: "max_length",
    accepts: "a whole number from 1 to 1000000",
    default: "1000",
    help: "Steps after which a playout stops and counts 50.",
};

const OPTIONS: &[OptionSpec] = &[PLAYOUTS, MAX_LENGTH];

/// Playouts for each legal move where nothing else ends them.
const UNLIMITED: u64 = 1000;
/// Playouts of all moves in the first round, and at most in one round. If the first round
/// is not played to its end, short playouts count more than long ones.
const FIRST_ROUND: u64 = 64;
const LARGEST_ROUND: u64 = 8192;
/// States that a playout of the first round is expected to enter.
const EXPECTED_LENGTH: u64 = 64;
/// The reward of a playout that reached no end.
const NO_END: f64 = 50.0;

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    let reader = options.read(KIND.name, OPTIONS)?;
    let seed = reader.seed()?;
    let max_length = reader.integer(MAX_LENGTH.name, 1..=1_000_000, 1000)?;
    Ok(Box::new(MonteCarlo {
        playouts: reader.integer(PLAYOUTS.name, 0..=i64::MAX, 0)?.cast_unsigned(),
        max_length: u32::try_from(max_length).expect("a million at most"),
        seed,
        rng: seed::generator(0, seed),
        track: None,
        deliberation: None,
    }))
}

struct MonteCarlo {
    /// For each legal move; 0 if not limited.
    playouts: u64,
    max_length: u32,
    seed: Option<i64>,
    rng: Pcg64,
    track: Option<Track>,
    deliberation: Option<Deliberation>,
}

impl Player for MonteCarlo {
    fn start(&mut self, seat: Seat, stop: &Stop) -> Result<(), Failure> {
        self.deliberation = Some(Deliberation::default());
        self.rng = seed::generator(seat.seed, self.seed);
        let track = self.track.insert(Track::new(seat, KIND.name)?);
        if track.begin(stop)?.is_some() {
            // Prepares for playouts while there is time.
            let Track { machine, .. } = track;
            let none = machine.playouts(&[], 0, 0, &mut |_| true, &mut PlayoutEnds::default());
            unless_cancelled(none)?;
        }
        Ok(())
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        self.deliberation = Some(Deliberation::default());
        let fallback = turn.legal[self.rng.random_range(0..turn.legal.len())];
        let Some(track) = &mut self.track else { return Ok(fallback) };
        let Some(state) = track.follow(turn, stop)? else { return Ok(fallback) };
        if turn.legal.len() == 1 {
            return Ok(fallback);
        }
        let limit = match (self.playouts, stop.deadline(), stop.node_budget()) {
            (0, None, None) => UNLIMITED,
            (0, ..) => u64::MAX,
            (playouts, ..) => playouts,
        };
        let mut trial = Trial {
            track,
            rng: &mut self.rng,
            stop,
            legal: turn.legal,
            max_length: self.max_length,
            began: Instant::now(),
            totals: vec![Total::default(); turn.legal.len()],
            deliberation: Deliberation::default(),
        };
        unless_cancelled(trial.run(&state, limit))?;
        let best = trial.best();
        let candidates = trial.candidates();
        let mut deliberation = trial.deliberation;
        deliberation.playouts = candidates.iter().map(|candidate| candidate.visits).sum();
        deliberation.candidates = candidates;
        let role = track.role;
        deliberation.line =
            best.iter().map(|&(index, _)| vec![(role, turn.legal[index])]).collect();
        deliberation.value = best.map(|(_, mean)| mean);
        self.deliberation = Some(deliberation);
        Ok(best.map_or(fallback, |(index, _)| turn.legal[index]))
    }

    fn abort(&mut self) {
        self.track = None;
    }

    fn deliberation(&self) -> Option<Deliberation> {
        self.deliberation.clone()
    }
}

/// What the playouts after one move brought.
#[derive(Clone, Copy, Debug, Default)]
struct Total {
    sum: f64,
    n: u64,
}

/// The playouts for one question.
struct Trial<'a> {
    track: &'a mut Track,
    rng: &'a mut Pcg64,
    stop: &'a Stop,
    legal: &'a [MoveId],
    max_length: u32,
    began: Instant,
    /// By legal move.
    totals: Vec<Total>,
    deliberation: Deliberation,
}

impl Trial<'_> {
    /// Plays rounds until each move has had `limit` playouts or time is up.
    fn run(&mut self, state: &State, limit: u64) -> Result<(), ReasoningError> {
        let Some(replies) = self.replies(state)? else { return Ok(()) };
        let mut children = Children { state, replies, known: vec![None; self.legal.len()] };
        let mut playouts = PlayoutEnds::default();
        let mut starts: Vec<State> = Vec::new();
        let tried = self.tried();
        let mut done = 0;
        while done < limit {
            let n = self.round(done).min(limit - done);
            if n == 0 {
                return Ok(());
            }
            starts.clear();
            for _ in 0..n {
                for &own in &tried {
                    if self.stop.is_due(self.deliberation.nodes) {
                        return Ok(());
                    }
                    starts.push(children.draw(self, own)?);
                }
            }
            let (stop, nodes) = (self.stop, self.deliberation.nodes);
            let mut go_on = |n_states| !stop.is_due(nodes + n_states);
            let seed = self.rng.next_u64();
            let machine = self.track.machine.as_mut();
            machine.playouts(&starts, self.max_length, seed, &mut go_on, &mut playouts)?;
            self.deliberation.nodes += playouts.n_states;
            self.deliberation.next_calls += playouts.n_states;
            let is_whole = playouts.ends.iter().all(Option::is_some);
            // If a round was stopped, only its shorter playouts ended: they count only
            // if there are no others.
            if is_whole || done == 0 {
                self.count(&tried, &playouts.ends);
            }
            if !is_whole || tried.len() < self.legal.len() {
                return Ok(());
            }
            done += n;
        }
        self.deliberation.completed = true;
        Ok(())
    }

    /// The moves that get playouts: all, or as many random ones as the node budget
    /// suffices for.
    fn tried(&mut self) -> Vec<usize> {
        let mut moves: Vec<usize> = (0..self.legal.len()).collect();
        let affordable = self.stop.node_budget().map(|nodes| (nodes / EXPECTED_LENGTH).max(1));
        if let Some(n) = affordable.and_then(|n| usize::try_from(n).ok())
            && n < moves.len()
        {
            moves.shuffle(self.rng);
            moves.truncate(n);
        }
        moves
    }

    /// Playouts for each move in the next round, after `done` were played.
    fn round(&self, done: u64) -> u64 {
        let n_moves = self.legal.len() as u64;
        let nodes_left = self.stop.node_budget().map(|all| all.saturating_sub(self.nodes()));
        if done == 0 {
            let affordable = nodes_left.map_or(u64::MAX, |left| left / EXPECTED_LENGTH / n_moves);
            return (FIRST_ROUND / n_moves).min(affordable).max(1);
        }
        let mut round = done.min(LARGEST_ROUND / n_moves).max(1);
        if let Some(left) = nodes_left {
            let one = self.nodes().div_ceil(done).max(1);
            round = round.min(left / one);
        }
        if let Some(deadline) = self.stop.deadline() {
            let now = Instant::now();
            let one = (now - self.began).as_secs_f64() / done as f64;
            let left = deadline.saturating_duration_since(now).as_secs_f64();
            round = round.min((left / one.max(1e-9)) as u64);
        }
        round
    }

    fn nodes(&self) -> u64 {
        self.deliberation.nodes
    }

    /// By role, its legal moves; mine are not among them. `None` if some role has none.
    fn replies(&mut self, state: &State) -> Result<Option<Vec<Vec<MoveId>>>, ReasoningError> {
        let Track { machine, role, .. } = &mut *self.track;
        let mut replies = Vec::new();
        for other in machine.game().role_ids() {
            let mut moves = Vec::new();
            if other != *role {
                machine.legal_moves(state, other, &mut moves)?;
                if moves.is_empty() {
                    return Ok(None);
                }
            }
            replies.push(moves);
        }
        Ok(Some(replies))
    }

    /// Counts playouts, of one of these moves after the other.
    fn count(&mut self, tried: &[usize], ends: &[Option<PlayoutEnd>]) {
        let role = usize::from(self.track.role.0);
        for (index, end) in ends.iter().enumerate() {
            let Some(end) = end else { continue };
            let total = &mut self.totals[tried[index % tried.len()]];
            total.sum += end.goals.get(role).map_or(NO_END, |goal| f64::from(worst(goal)));
            total.n += 1;
            self.deliberation.leaves += 1;
            let depth = &mut self.deliberation.selective_depth;
            *depth = (*depth).max(end.length.saturating_add(1));
        }
    }

    /// The moves that had playouts, with their means.
    fn candidates(&self) -> Vec<Candidate> {
        let played = self.legal.iter().zip(&self.totals).filter(|(_, total)| total.n > 0);
        let of = |(&action, total): (_, &Total)| Candidate {
            action,
            value: Some(total.sum / total.n as f64),
            bound: ValueBound::Exact,
            visits: total.n,
            probability: None,
        };
        played.map(of).collect()
    }

    /// The move with the best mean, the first of several, and the mean.
    fn best(&self) -> Option<(usize, f64)> {
        let mut best: Option<(usize, f64)> = None;
        for (index, total) in self.totals.iter().enumerate().filter(|(_, total)| total.n > 0) {
            let mean = total.sum / total.n as f64;
            if best.is_none_or(|(_, most)| mean > most) {
                best = Some((index, mean));
            }
        }
        best
    }
}

/// The states after my moves and the others' random replies.
struct Children<'a> {
    state: &'a State,
    /// By role; mine are not among them.
    replies: Vec<Vec<MoveId>>,
    /// By move, where the others have no choice.
    known: Vec<Option<State>>,
}

impl Children<'_> {
    /// The state after one of my moves and random replies.
    fn draw(&mut self, trial: &mut Trial<'_>, own: usize) -> Result<State, ReasoningError> {
        // Each playout enters it, or playouts that end immediately would cost nothing.
        trial.deliberation.nodes += 1;
        if let Some(child) = &self.known[own] {
            return Ok(child.clone());
        }
        let mut joint_move = Vec::with_capacity(self.replies.len());
        for replies in &self.replies {
            joint_move.push(match replies.as_slice() {
                [] => trial.legal[own],
                [only] => *only,
                replies => replies[trial.rng.random_range(0..replies.len())],
            });
        }
        let mut child = State::default();
        trial.track.machine.next_state(self.state, &joint_move, &mut child)?;
        trial.deliberation.next_calls += 1;
        if self.replies.iter().all(|replies| replies.len() <= 1) {
            self.known[own] = Some(child.clone());
        }
        Ok(child)
    }
}

fn unless_cancelled(result: Result<(), ReasoningError>) -> Result<(), ReasoningError> {
    match result {
        Err(ReasoningError::Cancelled) => Ok(()),
        other => other,
    }
}
