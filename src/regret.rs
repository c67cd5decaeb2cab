//! Regret: how much reward each decision of a run gave away, by tables of solved games.
//!
//! The regret of a decision is what the state was worth to the role under best play, less
//! what it is worth after the move if all play their best from there on. Where roles
//! choose at once, the others are taken to play their best strategies, which may be mixed.
//! Moves where there was no choice are no decisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use games::solve::best_play::{BestPlay, LookUpError};
use games::solve::{GameHash, ValueTable};
use games::{Expression, MoveId, State, StateMachine};
use results::record::{DecisionRecord, MatchRecord};
use results::stats::interval::{Part, REWARDS, interval, mean};

use crate::recorded::RecordedError;

/// Why decisions could not be judged.
#[derive(Debug, thiserror::Error)]
pub enum RegretError {
    /// The match cannot be computed again.
    #[error(transparent)]
    Recorded(#[from] RecordedError),
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

/// A decision and what it gave away.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// Its match.
    pub job: u64,
    /// Its match.
    pub match_id: String,
    /// The game.
    pub game: String,
    /// Steps before it.
    pub step: usize,
    /// Who decided.
    pub player: String,
    /// In which role.
    pub role: String,
    /// The move that was executed.
    pub action: String,
    /// Whether the move was a substitute for a fault of the player.
    pub is_substitute: bool,
    /// Legal moves.
    pub n_legal: usize,
    /// What the state was worth to the role.
    pub value: f64,
    /// Points given away, 0 or more.
    pub regret: f64,
    /// A move that gives nothing away.
    pub best: String,
}

/// Judges the decisions of matches by tables.
pub struct Judge {
    tables: BTreeMap<String, Arc<ValueTable>>,
    /// By game and state: what was looked up before.
    known: BTreeMap<(String, u128), Arc<Looked>>,
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
    /// With these tables.
    #[must_use]
    pub fn new(tables: impl IntoIterator<Item = Arc<ValueTable>>) -> Self {
        let by_game = tables.into_iter().map(|table| (table.game().to_string(), table));
        Self { tables: by_game.collect(), known: BTreeMap::new() }
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
    ) -> Result<Vec<Decision>, RegretError> {
        let hash = GameHash::of(machine.game()).to_string();
        let Some(table) = self.tables.get(&hash).map(Arc::clone) else { return Ok(Vec::new()) };
        let reasoning = |source| RecordedError::Reasoning { game: record.game.clone(), source };
        let mut state = machine.initial_state().map_err(reasoning)?;
        let mut next = State::default();
        let mut found = Vec::new();
        for (step, decisions) in record.steps.iter().enumerate() {
            let mut joint_move = Vec::with_capacity(decisions.len());
            for decision in decisions {
                joint_move.push(executed(machine, decision, step)?);
            }
            if decisions.iter().any(|decision| decision.n_legal > 1) {
                let looked = self.look_up(machine, &hash, &table, &state);
                let looked = looked.map_err(|source| RegretError::LookUp {
                    match_id: record.match_id.clone(),
                    step,
                    source,
                })?;
                for (role, decision) in decisions.iter().enumerate() {
                    let player = &record.seats[role].player;
                    let (Some(player), true) = (player, looked.legal[role].len() > 1) else {
                        continue;
                    };
                    let Some(at) = looked.legal[role].iter().position(|&id| id == joint_move[role])
                    else {
                        continue;
                    };
                    let values = &looked.moves[role];
                    let best = (0..values.len())
                        .reduce(|best, at| if values[at] > values[best] { at } else { best })
                        .expect("there are several moves");
                    found.push(Decision {
                        job: record.job,
                        match_id: record.match_id.clone(),
                        game: record.game.clone(),
                        step,
                        player: player.clone(),
                        role: record.seats[role].role.clone(),
                        action: decision.executed.clone(),
                        is_substitute: decision.fault.is_some(),
                        n_legal: values.len(),
                        value: looked.values[role],
                        regret: points(values[best] - values[at]),
                        best: machine.move_expression(looked.legal[role][best]).to_string(),
                    });
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
        table: &ValueTable,
        state: &State,
    ) -> Result<Arc<Looked>, LookUpError> {
        let key = (hash.to_owned(), machine.key(state).bits());
        if let Some(known) = self.known.get(&key) {
            return Ok(Arc::clone(known));
        }
        let play = BestPlay::of(machine, table, state)?;
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

/// Rounding is no regret.
fn points(difference: f64) -> f64 {
    if difference < 1e-6 { 0.0 } else { difference }
}

fn executed(
    machine: &mut dyn StateMachine,
    decision: &DecisionRecord,
    step: usize,
) -> Result<MoveId, RecordedError> {
    let expression: Option<Expression> = decision.executed.parse().ok();
    let id = expression.and_then(|expression| machine.find_move(&expression));
    id.ok_or_else(|| RecordedError::Move { played: decision.executed.clone(), step })
}

/// The decisions of each player, summed up.
#[derive(Debug)]
pub struct Regrets {
    /// Points from which a decision is a blunder.
    blunder: f64,
    n_worst: usize,
    players: BTreeMap<String, PlayerSums>,
    worst: Vec<Decision>,
}

#[derive(Debug, Default)]
struct PlayerSums {
    n_decisions: u64,
    n_perfect: u64,
    n_blunders: u64,
    /// By game and block: regrets and decisions.
    blocks: BTreeMap<String, BTreeMap<u64, (f64, u64)>>,
}

/// What is known of one player.
#[derive(Clone, Debug, PartialEq)]
pub struct PlayerRegret {
    /// The player.
    pub player: String,
    /// Decisions in games with a table.
    pub n_decisions: u64,
    /// Games with a table that it played.
    pub n_games: usize,
    /// Mean regret of a decision, points: games weigh the same, and blocks within a game.
    pub mean: f64,
    /// Its interval of 95 %; `None` if all games have a single block.
    pub interval: Option<[f64; 2]>,
    /// Decisions without regret.
    pub n_perfect: u64,
    /// Decisions with so much regret that they are blunders.
    pub n_blunders: u64,
}

impl Regrets {
    /// Without any decision yet.
    #[must_use]
    pub fn new(blunder: f64, n_worst: usize) -> Self {
        Self { blunder, n_worst, players: BTreeMap::new(), worst: Vec::new() }
    }

    /// Adds the decisions of a match.
    pub fn add(&mut self, record: &MatchRecord, decisions: &[Decision]) {
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
    fn keep_if_bad(&mut self, decision: &Decision) {
        let at = self.worst.partition_point(|other| other.regret >= decision.regret);
        if decision.regret > 0.0 && at < self.n_worst {
            self.worst.insert(at, decision.clone());
            self.worst.truncate(self.n_worst);
        }
    }

    /// The worst decisions, the worst first.
    #[must_use]
    pub fn worst(&self) -> &[Decision] {
        &self.worst
    }

    /// The players, those with the least mean regret first.
    #[must_use]
    pub fn players(&self) -> Vec<PlayerRegret> {
        let mut players: Vec<PlayerRegret> = self.players.iter().map(player).collect();
        players.sort_by(|one, other| one.mean.total_cmp(&other.mean));
        players
    }
}

fn player((name, sums): (&String, &PlayerSums)) -> PlayerRegret {
    let weight = 1.0 / sums.blocks.len() as f64;
    let part = |blocks: &BTreeMap<u64, (f64, u64)>| {
        let means: Vec<f64> = blocks.values().map(|&(sum, n)| sum / n as f64).collect();
        Some(Part { weight, ..Part::of(&means)? })
    };
    let parts: Vec<Part> = sums.blocks.values().filter_map(part).collect();
    PlayerRegret {
        player: name.clone(),
        n_decisions: sums.n_decisions,
        n_games: sums.blocks.len(),
        mean: mean(&parts),
        interval: interval(&parts, REWARDS, [0.025; 2]),
        n_perfect: sums.n_perfect,
        n_blunders: sums.n_blunders,
    }
}
