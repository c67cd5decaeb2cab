//! How the rules of a game are grounded: cost and result.

use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use games::grounding::{GroundingStatistics, Pass, ground_watched};
use games::network::Dot;
use games::{Cancel, Game, GroundingLimits, Guards, Network, NetworkMachine, Prover, StateMachine};
use results::counted::counted;
use serde::Serialize;

use super::super::reasoning;
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::output::to_stdout;

/// Inputs and conjunctions that a picture may have.
const MAX_DRAWN: usize = 2000;

/// How the rules were grounded, or why they were not.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Grounding {
    Done(Box<Done>),
    Refused { not_ground: String },
}

#[derive(Serialize)]
pub(super) struct Done {
    /// Rows of the relations that rest on the rules alone.
    static_rows: u64,
    /// Rows of all relations when all that can hold was derived.
    reachable_rows: u64,
    ground_rules: u64,
    /// Ground sentences that rest on themselves within one state.
    cyclic_sentences: u64,
    before: Size,
    /// Conjunctions without constants.
    conjunctions_without_constants: usize,
    /// Conjunctions when several moves share conditions, before equal parts are merged.
    conjunctions_apart: usize,
    after: Size,
    /// Steps that the budget counts.
    steps: u64,
    /// Memory that relations held at most, roughly.
    relation_bytes: u64,
    passes: Vec<Timed>,
}

/// Size of a network.
#[derive(Serialize)]
struct Size {
    facts: usize,
    moves: usize,
    conjunctions: usize,
}

impl Size {
    fn words(&self, n_conjunctions: usize) -> String {
        let facts = counted(self.facts, "possible fact", "possible facts");
        let moves = counted(self.moves, "possible move", "possible moves");
        format!("{facts}, {moves}, {}", counted(n_conjunctions, "conjunction", "conjunctions"))
    }
}

#[derive(Serialize)]
struct Timed {
    pass: &'static str,
    /// What it is called in the text.
    #[serde(skip)]
    label: &'static str,
    seconds: f64,
}

impl Grounding {
    /// For people.
    pub(super) fn lines(&self) -> Vec<String> {
        let done = match self {
            Self::Done(done) => done,
            Self::Refused { not_ground } => return vec![format!("none: {not_ground}")],
        };
        let Done { ground_rules, cyclic_sentences, before, after, passes, .. } = &**done;
        let total: f64 = passes.iter().map(|timed| timed.seconds).sum();
        let each = passes.iter().map(|timed| format!("{} {}", timed.label, shown(timed.seconds)));
        let cyclic = match cyclic_sentences {
            0 => String::new(),
            n => format!(", {n} recursive sentences"),
        };
        let mut fewer = String::new();
        if done.conjunctions_apart < done.conjunctions_without_constants {
            let n = done.conjunctions_apart;
            fewer += &format!("; {n} with conditions that several moves share");
        }
        if after.conjunctions < done.conjunctions_apart {
            fewer += &format!("; {} after merging equal parts", after.conjunctions);
        }
        vec![
            format!("{ground_rules} grounded rules from {} rows{cyclic}", done.reachable_rows),
            before.words(before.conjunctions),
            format!(
                "without constant parts: {}{fewer}",
                after.words(done.conjunctions_without_constants)
            ),
            format!("in {}: {}", shown(total), each.collect::<Vec<_>>().join(", ")),
        ]
    }
}

fn shown(seconds: f64) -> String {
    if seconds >= 1.0 { format!("{seconds:.2} s") } else { format!("{:.2} ms", seconds * 1e3) }
}

/// The reasoner for a game, and what it is made of.
pub(super) struct Reasoner {
    /// As it is chosen for matches.
    pub(super) machine: Box<dyn StateMachine>,
    /// How it came about.
    pub(super) grounding: Grounding,
    /// Its network, if it has one.
    pub(super) network: Option<Arc<Network>>,
}

/// The reasoner for a game.
pub(super) fn reasoner(game: &Arc<Game>) -> Result<Reasoner, Failure> {
    let prover = Prover::new(Arc::clone(game), Guards::default()).map_err(reasoning)?;
    let mut passes = Vec::new();
    let mut last = Instant::now();
    let mut watch = |pass, _: &GroundingStatistics| {
        let now = Instant::now();
        let (pass, label) = names(pass);
        passes.push(Timed { pass, label, seconds: (now - last).as_secs_f64() });
        last = now;
    };
    let ground = ground_watched(game, &GroundingLimits::default(), &Cancel::new(), &mut watch);
    Ok(match ground {
        Ok((network, statistics)) => {
            let network = Arc::new(network);
            let machine = NetworkMachine::new(Arc::clone(&network), prover);
            let done = Box::new(done(&statistics, passes));
            Reasoner {
                machine: Box::new(machine),
                grounding: Grounding::Done(done),
                network: Some(network),
            }
        }
        Err(error) => Reasoner {
            machine: Box::new(prover),
            grounding: Grounding::Refused { not_ground: error.to_string() },
            network: None,
        },
    })
}

fn done(statistics: &GroundingStatistics, passes: Vec<Timed>) -> Done {
    Done {
        static_rows: statistics.n_static_rows,
        reachable_rows: statistics.n_reach_rows,
        ground_rules: statistics.n_ground_rules,
        cyclic_sentences: statistics.n_cyclic,
        before: Size {
            facts: statistics.n_facts_reached,
            moves: statistics.n_moves_reached,
            conjunctions: statistics.n_ands_before,
        },
        after: Size {
            facts: statistics.n_facts,
            moves: statistics.n_moves,
            conjunctions: statistics.n_ands,
        },
        conjunctions_without_constants: statistics.n_ands_without_constants,
        conjunctions_apart: statistics.n_ands_apart,
        steps: statistics.n_steps,
        relation_bytes: statistics.n_bytes,
        passes,
    }
}

/// The key of a pass in JSON, and its label in the text.
fn names(pass: Pass) -> (&'static str, &'static str) {
    match pass {
        Pass::Static => ("static", "constant relations"),
        Pass::Reach => ("reach", "reachable facts"),
        Pass::Split => ("split", "join orders"),
        Pass::Circuit => ("circuit", "gates"),
        Pass::Constants => ("constants", "constant parts"),
        Pass::Moves => ("shared conditions", "shared conditions"),
        Pass::Equal => ("equal parts", "equal parts"),
    }
}

/// Prints the network as a graph.
pub(super) fn draw(game: &Arc<Game>) -> CommandResult {
    let network = games::ground(game, &GroundingLimits::default(), &Cancel::new())
        .map_err(Failure::preflight)?;
    let n_nodes = network.graph.n_nodes();
    if n_nodes > MAX_DRAWN {
        return Err(Failure::preflight(anyhow::anyhow!(
            "the network of {} has {n_nodes} nodes, too many to draw (at most {MAX_DRAWN})",
            game.name()
        )));
    }
    to_stdout(|stdout| {
        write!(stdout, "{}", Dot(&network))?;
        Ok(exit_code::OK)
    })
}
