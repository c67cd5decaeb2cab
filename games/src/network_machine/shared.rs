//! What all forks of a machine share: the numbering of facts and moves, and the
//! backends.

use std::sync::{Arc, Mutex, OnceLock};

use rustc_hash::FxHashMap;

use super::backend::EvaluationMethod;
use super::best_backend::BestBackend;
use crate::network::Network;
use crate::state::{FactId, MoveId, State};
use crate::{Expression, Prover, StateKey};

/// No input.
pub(super) const NONE: u32 = u32::MAX;

/// The data shared by all forks.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) network: Arc<Network>,
    pub(super) backends: BestBackend,
    pub(super) initial: State,
    /// By fact: its key; computed on first use.
    keys: OnceLock<Vec<StateKey>>,
    /// The facts by expression; computed on first use.
    find_fact: OnceLock<FxHashMap<Expression, FactId>>,
    /// The moves of all roles, each once.
    pub(super) moves: Vec<Expression>,
    /// By role and index of the role's move, its id.
    pub(super) ids: Vec<Vec<MoveId>>,
    /// By role and id, the input; [`NONE`] if the role never has the move.
    pub(super) inputs: Vec<Vec<u32>>,
    /// By role: the input of its first move.
    pub(super) first_inputs: Vec<u32>,
    pub(super) find_move: FxHashMap<Expression, u32>,
    pub(super) prover: Mutex<Prover>,
}

impl Shared {
    pub(super) fn new(
        network: Arc<Network>,
        prover: Prover,
        evaluation: Option<EvaluationMethod>,
    ) -> Self {
        let mut find_move = FxHashMap::default();
        let mut moves: Vec<Expression> = Vec::new();
        let mut ids = Vec::new();
        for role in &network.roles {
            let id = |expression: &Expression| {
                let next = moves.len() as u32;
                let id = *find_move.entry(expression.clone()).or_insert(next);
                if id == next {
                    moves.push(expression.clone());
                }
                MoveId(id)
            };
            ids.push(role.moves.iter().map(id).collect::<Vec<_>>());
        }
        let mut inputs = vec![vec![NONE; moves.len()]; ids.len()];
        for ((role, ids), inputs) in network.role_ids().zip(&ids).zip(&mut inputs) {
            let first = network.first_move(role) as u32;
            for (at, id) in ids.iter().enumerate() {
                inputs[id.0 as usize] = first + at as u32;
            }
        }
        Self {
            backends: BestBackend::new(Arc::clone(&network), evaluation),
            initial: network.initial_state(),
            keys: OnceLock::new(),
            find_fact: OnceLock::new(),
            moves,
            ids,
            first_inputs: network.role_ids().map(|role| network.first_move(role) as u32).collect(),
            inputs,
            find_move,
            prover: Mutex::new(prover),
            network,
        }
    }

    /// By fact: its key.
    pub(super) fn keys(&self) -> &[StateKey] {
        self.keys.get_or_init(|| self.network.facts.iter().map(StateKey::of_fact).collect())
    }

    /// The id of a fact in the network's form, if the network has it.
    pub(super) fn fact_id(&self, fact: &Expression) -> Option<FactId> {
        let facts = &self.network.facts;
        let numbered = || {
            let ids = (0..).map(FactId);
            facts.iter().cloned().zip(ids).collect()
        };
        self.find_fact.get_or_init(numbered).get(fact).copied()
    }

    /// The prover's words of a state, if it is one of the prover.
    pub(super) fn prover_words<'s>(&self, state: &'s State) -> Option<&'s [u64]> {
        let n_words = self.network.n_state_words();
        (state.words.len() != n_words).then(|| &state.words[n_words + 1..])
    }

    /// Marks a state of the prover: it is longer than any state of the network.
    pub(super) fn mark(&self, state: &State) -> State {
        let mut words = vec![0; self.network.n_state_words() + 1];
        words.extend_from_slice(&state.words);
        State { words }
    }

    /// The expression in the network's form: names in the game's spelling, and `p`
    /// for `(p)`.
    pub(super) fn normal(&self, expression: &Expression) -> Option<Expression> {
        let symbols = self.network.game.symbols();
        let name = |name: &str| Some(Expression::atom(symbols.name(symbols.find(name)?)));
        match expression {
            Expression::Atom(atom) => name(atom),
            Expression::List(items) => match items.as_slice() {
                [Expression::Atom(atom)] => name(atom),
                items => {
                    let items = items.iter().map(|item| self.normal(item));
                    Some(Expression::List(items.collect::<Option<_>>()?))
                }
            },
        }
    }
}
