//! Regret: how much reward each decision of a run gave away, by tables of solved games.
//!
//! The regret of a decision is what the state was worth to the role under best play, less
//! what it is worth after the move if all play their best from there on. Where roles
//! choose at the same time, the others are taken to play their best strategies, which may be mixed.
//! Moves where there was no choice are no decisions.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use games::solve::best_play::{BestPlay, LookUpError};
use games::solve::{GameHash, ValueTable};
use games::{MoveId, State, StateMachine};
use results::journal::each_match;
use results::record::{DecisionRecord, MatchRecord};
use results::regret::{JudgedDecision, RegretOfPlayer, RegretSummary};
use results::stats::interval::{Part, REWARDS, interval, mean};

use crate::recorded::{RecordedError, RecordedRun, joint_move};

/// Why decisions could not be judged.
#[derive(Debug, thiserror::Error)]
pub enum RegretError {
    /// The match cannot be computed again.
    #[error(transparent)]
    Recorded(#[from] RecordedError),
    /// No match could be judged.
    #[error(
        "none of the tables is for a game of the run {run}, which has {games}; make one with \
         `gamemaster solve GAME --out FILE`"
    )]
    NoTable {
        /// The run.
        run: String,
        /// Its games.
        games: String,
    },
    /// There are tables of its games, but they have no state in which a player chose.
    #[error(
        "the tables have no state of the run {run} in which a player had a choice; tables of \
         endgames have only the states after their `--moves`"
    )]
    NoState {
        /// The run.
        run: String,
    },
    /// A state could not be looked up.
    #[error("cannot judge step {step} of match {match_id}")]
    LookUp {
        /// The match.
        match_id: String,
        /// Steps before it.
        step: usize,
        /// Why.
        #[source]
        source: LookUpError,
    },
}

/// How decisions are summed up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Judging {
    /// Points from which a decision is a blunder, above 0.
    pub blunder: f64,
    /// Worst decisions that are kept.
    pub n_worst: usize,
}

impl Default for Judging {
    fn default() -> Self {
        Self { blunder: 25.0, n_worst: 10 }
    }
}

/// The judged decisions of a run.
#[derive(Clone, Debug)]
pub struct JudgedRun {
    /// What they gave away.
    pub summary: RegretSummary,
    /// The matches of the worst decisions, each once, in the order of their numbers.
    pub worst_matches: Vec<MatchRecord>,
}

/// Judges all decisions of the run in `folder` by tables of its games. `each` sees those of
/// one match after the other, in the order of the journal, and may stop.
///
/// # Errors
/// If the run cannot be read or computed again, a state cannot be looked up, no match is of a
/// game with a table, or no decision is in a state that a table has.
pub fn judge_run(
    folder: &Path,
    tables: impl IntoIterator<Item = Arc<ValueTable>>,
    judging: Judging,
    each: &mut dyn FnMut(&[JudgedDecision]) -> ControlFlow<()>,
) -> Result<JudgedRun, RegretError> {
    let mut run = RecordedRun::open(folder)?;
    let mut judge = Judge::new(tables);
    let mut regrets = Regrets::new(judging.blunder, judging.n_worst);
    let mut worst: BTreeMap<u64, MatchRecord> = BTreeMap::new();
    let (mut n_matches, mut n_skipped) = (0, 0);
    let mut skipped_games = BTreeSet::new();
    let mut judge_match = |record: MatchRecord| -> Result<ControlFlow<()>, RegretError> {
        let machine = run.machine(&record)?;
        if !judge.knows(machine) {
            n_skipped += 1;
            skipped_games.insert(record.game);
            return Ok(ControlFlow::Continue(()));
        }
        n_matches += 1;
        let decisions = judge.decisions(machine, &record)?;
        regrets.add(&record, &decisions);
        let is_worst = |job: u64| regrets.worst().iter().any(|decision| decision.job == job);
        if is_worst(record.job) {
            worst.insert(record.job, record);
            worst.retain(|&job, _| is_worst(job));
        }
        Ok(each(&decisions))
    };
    let mut failed = None;
    each_match(folder, |record| {
        judge_match(record).unwrap_or_else(|error| {
            failed = Some(error);
            ControlFlow::Break(())
        })
    })
    .map_err(RecordedError::from)?;
    if let Some(error) = failed {
        return Err(error);
    }
    let run = folder.display().to_string();
    if n_matches == 0 {
        let games = skipped_games.into_iter().collect::<Vec<_>>().join(", ");
        return Err(RegretError::NoTable { run, games });
    }
    let players = regrets.players();
    if players.is_empty() {
        return Err(RegretError::NoState { run });
    }
    let summary = RegretSummary {
        run,
        matches: n_matches,
        skipped_matches: n_skipped,
        skipped_decisions: judge.n_skipped,
        decisions: players.iter().map(|player| player.decisions).sum(),
        blunder_points: judging.blunder,
        players,
        worst: regrets.worst().to_vec(),
    };
    Ok(JudgedRun { summary, worst_matches: worst.into_values().collect() })
}

/// Judges the decisions of matches by tables.
pub struct Judge {
    /// By game: a state is looked up in one after the other.
    tables: BTreeMap<String, Vec<Arc<ValueTable>>>,
    /// By game and state: what was looked up before.
    known: BTreeMap<(String, u128), Arc<Looked>>,
    /// Decisions in states that no table of their game has.
    n_skipped: u64,
}

/// What a state says of each role's moves.
struct Looked {
    legal: Vec<Vec<MoveId>>,
    /// By role: the value of the state.
    values: Vec<f64>,
    /// By role and move: its value.
    moves: Vec<Vec<f64>>,
}

/// Maximum number of states that are remembered, so that memory does not grow with the run.
const MAX_KNOWN: usize = 200_000;

impl Judge {
    /// With these tables. Several of one game, such as those of its endgames, serve as one.
    #[must_use]
    pub fn new(tables: impl IntoIterator<Item = Arc<ValueTable>>) -> Self {
        let mut by_game: BTreeMap<String, Vec<Arc<ValueTable>>> = BTreeMap::new();
        for table in tables {
            by_game.entry(table.game().to_string()).or_default().push(table);
        }
        Self { tables: by_game, known: BTreeMap::new(), n_skipped: 0 }
    }

    /// Whether there is a table of this machine's game.
    #[must_use]
    pub fn knows(&self, machine: &dyn StateMachine) -> bool {
        self.tables.contains_key(&GameHash::of(machine.game()).to_string())
    }

    /// All decisions of players in a match, in the states that the table has; none if there
    /// is no table of its game.
    ///
    /// # Errors
    /// If a move is none of the game's, or the rules cannot be computed.
    pub fn decisions(
        &mut self,
        machine: &mut dyn StateMachine,
        record: &MatchRecord,
    ) -> Result<Vec<JudgedDecision>, RegretError> {
        let hash = GameHash::of(machine.game()).to_string();
        let Some(tables) = self.tables.get(&hash).cloned() else { return Ok(Vec::new()) };
        let reasoning = |source| RecordedError::Reasoning { game: record.game.clone(), source };
        let mut state = machine.initial_state().map_err(reasoning)?;
        let mut next = State::default();
        let mut found = Vec::new();
        for (step, decisions) in record.steps.iter().enumerate() {
            let joint_move = joint_move(machine, decisions, step)?;
            if decisions.iter().any(|decision| decision.n_legal > 1) {
                let looked = match self.look_up(machine, &hash, &tables, &state) {
                    Ok(looked) => Some(looked),
                    // As in the table of an endgame.
                    Err(LookUpError::Unreached) => None,
                    Err(source) => {
                        let match_id = record.match_id.clone();
                        return Err(RegretError::LookUp { match_id, step, source });
                    }
                };
                match looked {
                    Some(looked) => {
                        found.extend(judged(record, step, &*machine, &looked, &joint_move));
                    }
                    None => self.n_skipped += n_decisions(record, decisions),
                }
            }
            machine.next_state(&state, &joint_move, &mut next).map_err(reasoning)?;
            std::mem::swap(&mut state, &mut next);
        }
        Ok(found)
    }

    fn look_up(
        &mut self,
        machine: &mut dyn StateMachine,
        hash: &str,
        tables: &[Arc<ValueTable>],
        state: &State,
    ) -> Result<Arc<Looked>, LookUpError> {
        let key = (hash.to_owned(), machine.key(state).bits());
        if let Some(known) = self.known.get(&key) {
            return Ok(Arc::clone(known));
        }
        let play = BestPlay::of(machine, &tables, state)?;
        let roles = 0..play.legal.len();
        let looked = Arc::new(Looked {
            moves: roles.map(|role| play.move_values(role)).collect(),
            values: play.best.value,
            legal: play.legal,
        });
        if self.known.len() == MAX_KNOWN {
            self.known.clear();
        }
        self.known.insert(key, Arc::clone(&looked));
        Ok(looked)
    }
}

/// Number of players that had a choice in a step.
fn n_decisions(record: &MatchRecord, decisions: &[DecisionRecord]) -> u64 {
    let of_player = record.seats.iter().zip(decisions);
    of_player.filter(|(seat, it)| seat.player.is_some() && it.n_legal > 1).count() as u64
}

/// The decisions of a step, in a state that was looked up.
fn judged(
    record: &MatchRecord,
    step: usize,
    machine: &dyn StateMachine,
    looked: &Looked,
    joint_move: &[MoveId],
) -> Vec<JudgedDecision> {
    let of_role = |(role, decision): (usize, &DecisionRecord)| {
        let seat = &record.seats[role];
        let legal = &looked.legal[role];
        let player = seat.player.clone().filter(|_| legal.len() > 1)?;
        let at = legal.iter().position(|&id| id == joint_move[role])?;
        let values = &looked.moves[role];
        let best = (0..values.len())
            .reduce(|best, at| if values[at] > values[best] { at } else { best })
            .expect("there are several moves");
        Some(JudgedDecision {
            job: record.job,
            match_id: record.match_id.clone(),
            game: record.game.clone(),
            step,
            player,
            role: seat.role.clone(),
            action: decision.executed.clone(),
            substitute: decision.fault.is_some(),
            legal: values.len(),
            value: looked.values[role],
            regret: points(values[best] - values[at]),
            best_move: machine.move_expression(legal[best]).to_string(),
        })
    };
    record.steps[step].iter().enumerate().filter_map(of_role).collect()
}

/// Rounding is no regret.
fn points(difference: f64) -> f64 {
    if difference < 1e-6 { 0.0 } else { difference }
}

/// The decisions of each player, summed up.
#[derive(Debug)]
pub struct Regrets {
    /// Points from which a decision is a blunder.
    blunder: f64,
    n_worst: usize,
    players: BTreeMap<String, PlayerSums>,
    worst: Vec<JudgedDecision>,
}

#[derive(Debug, Default)]
struct PlayerSums {
    n_decisions: u64,
    n_perfect: u64,
    n_blunders: u64,
    /// By game and block: regrets and decisions.
    blocks: BTreeMap<String, BTreeMap<u64, (f64, u64)>>,
}

impl Regrets {
    /// Without any decision yet.
    #[must_use]
    pub fn new(blunder: f64, n_worst: usize) -> Self {
        Self { blunder, n_worst, players: BTreeMap::new(), worst: Vec::new() }
    }

    /// Adds the decisions of a match.
    pub fn add(&mut self, record: &MatchRecord, decisions: &[JudgedDecision]) {
        for decision in decisions {
            let sums = self.players.entry(decision.player.clone()).or_default();
            sums.n_decisions += 1;
            sums.n_perfect += u64::from(decision.regret == 0.0);
            sums.n_blunders += u64::from(decision.regret >= self.blunder);
            let game = sums.blocks.entry(decision.game.clone()).or_default();
            let (sum, n) = game.entry(record.block).or_default();
            *sum += decision.regret;
            *n += 1;
            self.keep_if_bad(decision);
        }
    }

    /// Keeps the worst decisions, the first of equal ones.
    fn keep_if_bad(&mut self, decision: &JudgedDecision) {
        let at = self.worst.partition_point(|other| other.regret >= decision.regret);
        if decision.regret > 0.0 && at < self.n_worst {
            self.worst.insert(at, decision.clone());
            self.worst.truncate(self.n_worst);
        }
    }

    /// The worst decisions, the worst first.
    #[must_use]
    pub fn worst(&self) -> &[JudgedDecision] {
        &self.worst
    }

    /// The players, those with the least mean regret first.
    #[must_use]
    pub fn players(&self) -> Vec<RegretOfPlayer> {
        let mut players: Vec<RegretOfPlayer> = self.players.iter().map(player).collect();
        players.sort_by(|one, other| one.mean_regret.total_cmp(&other.mean_regret));
        players
    }
}

fn player((name, sums): (&String, &PlayerSums)) -> RegretOfPlayer {
    let weight = 1.0 / sums.blocks.len() as f64;
    let part = |blocks: &BTreeMap<u64, (f64, u64)>| {
        let means: Vec<f64> = blocks.values().map(|&(sum, n)| sum / n as f64).collect();
        Some(Part { weight, ..Part::of(&means)? })
    };
    let parts: Vec<Part> = sums.blocks.values().filter_map(part).collect();
    let share = |n: u64| n as f64 / sums.n_decisions as f64;
    RegretOfPlayer {
        player: name.clone(),
        games: sums.blocks.len(),
        decisions: sums.n_decisions,
        mean_regret: mean(&parts),
        interval: interval(&parts, REWARDS, [0.025; 2]),
        perfect: share(sums.n_perfect),
        blunders: share(sums.n_blunders),
    }
}
