//! The reasoners that are measured.

use std::sync::Arc;

use clap::ValueEnum;
use games::batch::Batch;
use games::compiled_network::{CompiledNetwork, Width};
use games::reasoner::{self, Chosen};
use games::{Cancel, Game, GroundingLimits, Guards, Network, NetworkMachine, StateMachine, ground};

use super::super::{prover, reasoning};
use crate::failure::Failure;

/// The reasoner to measure.
#[derive(Clone, Copy, Debug, Default, ValueEnum)]
pub(super) enum Choice {
    /// The reasoner that matches use
    #[default]
    Auto,
    /// A prover on the rules as written
    Prover,
    /// A network of the grounded rules, one state at a time
    Network,
    /// The same network, many states together, as machine code
    Batch,
}

/// How many states a batch has.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub(super) enum Lanes {
    #[value(name = "64")]
    Lanes64,
    #[value(name = "256")]
    Lanes256,
    #[value(name = "512")]
    Lanes512,
}

impl From<Lanes> for Width {
    fn from(lanes: Lanes) -> Self {
        match lanes {
            Lanes::Lanes64 => Self::Lanes64,
            Lanes::Lanes256 => Self::Lanes256,
            Lanes::Lanes512 => Self::Lanes512,
        }
    }
}

/// The reasoner of one game.
pub(super) enum Reasoner {
    /// One state at a time.
    Single {
        machine: Box<dyn StateMachine>,
        /// Why it is not the network.
        not_ground: Option<String>,
    },
    /// Many at once.
    Batch {
        program: Arc<CompiledNetwork>,
        width: Width,
        /// Into machine code.
        is_translated: bool,
    },
}

impl Reasoner {
    pub(super) fn new(
        game: &Arc<Game>,
        choice: Choice,
        lanes: Option<Lanes>,
        interpreted: bool,
    ) -> Result<Self, Failure> {
        let only_batches = match (lanes, interpreted) {
            (Some(_), _) => Some("--lanes"),
            (None, true) => Some("--interpreted"),
            (None, false) => None,
        };
        if let Some(option) = only_batches
            && !matches!(choice, Choice::Batch)
        {
            return Err(Failure::usage(anyhow::anyhow!(
                "{option} is possible only with --reasoner batch"
            )));
        }
        Ok(match choice {
            Choice::Auto => {
                let chosen = reasoner::choose(Arc::clone(game), Guards::default(), &Cancel::new());
                let Chosen { machine, not_ground } = chosen.map_err(reasoning)?;
                Self::Single { machine, not_ground: not_ground.map(|error| error.to_string()) }
            }
            Choice::Prover => Self::single(prover(game)?),
            Choice::Network => {
                let network = network(game)?;
                Self::single(NetworkMachine::new(Arc::new(network), prover(game)?))
            }
            Choice::Batch => {
                let program = Arc::new(CompiledNetwork::new(Arc::new(network(game)?)));
                let width = lanes.map_or(Width::Lanes512, Into::into);
                // What cannot be translated is interpreted.
                let is_translated = !interpreted && program.translate(width).is_ok();
                Self::Batch { program, width, is_translated }
            }
        })
    }

    /// One state at a time, by the reasoner that was asked for.
    pub(super) fn single(machine: impl StateMachine + 'static) -> Self {
        Self::Single { machine: Box::new(machine), not_ground: None }
    }

    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Single { machine, .. } => machine.reasoner(),
            Self::Batch { is_translated: true, .. } => "batch",
            Self::Batch { is_translated: false, .. } => "interpreted batch",
        }
    }

    /// States computed at once.
    pub(super) fn n_lanes(&self) -> u32 {
        match self {
            Self::Single { .. } => 1,
            Self::Batch { width, .. } => width.n_lanes() as u32,
        }
    }

    /// Time frames of the playouts; 0 if they start at any time.
    pub(super) fn n_time_frames(&self) -> usize {
        match self {
            Self::Single { .. } => 0,
            Self::Batch { program, width, .. } => program.n_time_frames(*width),
        }
    }

    /// Why it is the prover and not the network, if a network was preferred.
    pub(super) fn not_ground(&self) -> Option<&str> {
        match self {
            Self::Single { not_ground, .. } => not_ground.as_deref(),
            Self::Batch { .. } => None,
        }
    }

    /// A reasoner of its own for a thread.
    pub(super) fn fork(&self, seed: u64) -> Fork {
        match self {
            Self::Single { machine, .. } => Fork::Single(machine.fork()),
            Self::Batch { program, width, .. } => Fork::Batch(Batch::new(program, *width, seed)),
        }
    }
}

/// A thread's reasoner.
pub(super) enum Fork {
    Single(Box<dyn StateMachine>),
    Batch(Batch),
}

fn network(game: &Arc<Game>) -> Result<Network, Failure> {
    ground(game, &GroundingLimits::default(), &Cancel::new()).map_err(Failure::preflight)
}
