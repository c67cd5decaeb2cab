//! From rules to a network: all instances of the rules that play could ever
//! use, as one circuit.
//!
//! ```text
//! clauses -> what can hold (reach) -> joins by size (join_order) -> gates (circuit)
//! ```
//!
//! First, `reach` derives all facts and moves that play could reach, by evaluating the
//! rules as one program without time. Then each relation is computed once for all
//! states: its rows carry gates instead of truth values (`circuit`, and `cycles` where
//! relations depend on themselves). In both passes rules are split into joins of two
//! relations (`join_order`, `operations`), which `joining` runs.
//! Propositional networks by reachability: Schkufza, Love and Genesereth 2008;
//! grounding by joins as in answer set programming: Gebser, Schaub and Thiele,
//! "GrinGo", 2007.
//!
//! Not every game has a network of reasonable size, so a [`GroundingLimits`] limits all of it.
//! The prover needs none of this and is the reference for the result.

mod circuit;
mod cycles;
mod filling;
mod gates;
mod join_order;
mod joining;
mod limits;
mod operations;
mod reach;
mod unfolding;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use limits::{GroundingError, GroundingLimits, Resource};

use crate::network::constants::without_constants;
use crate::network::shared_by_moves::shared_by_moves;
use crate::network::{GoalValue, Lit, ReductionEffort, RoleOutputs, reduce};
use crate::relational::rules::{Phase, PredicateId, Rules};
use crate::relational::terms::{Store, TermId, compare};
use crate::relational::translation::Translation;
use crate::{Cancel, Expression, Game, MAX_TERM_SIZE, Network};
use circuit::Circuit;
use gates::Gates;
use joining::JoinWorkspace;
use limits::{Halt, Meter};
use reach::Reach;

/// A part of the work, as reported to a watching caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Pass {
    /// Evaluating static relations.
    Static,
    /// Deriving what can hold.
    Reach,
    /// Choosing the order of joins.
    Split,
    /// Building gates.
    Circuit,
    /// Removing constants.
    Constants,
    /// Computing once what differs by the move alone.
    Moves,
    /// Merging parts that are proven equal in all positions, if the network is small.
    Equal,
}

/// Effort and results of grounding a game so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroundingStatistics {
    /// Elementary steps, as [`GroundingLimits::max_steps`] counts them.
    pub n_steps: u64,
    /// Rows of the static relations.
    pub n_static_rows: u64,
    /// Rows of all relations when all that can hold was derived.
    pub n_reach_rows: u64,
    /// Memory that relations held at most, in bytes, roughly.
    pub n_bytes: u64,
    /// Facts that reachability left.
    pub n_facts_reached: usize,
    /// Moves that reachability left.
    pub n_moves_reached: usize,
    /// Instances of operations, which are parts of rules.
    pub n_ground_rules: u64,
    /// Ground sentences that depend on themselves within one state.
    pub n_cyclic: u64,
    /// Conjunctions before constants are found.
    pub n_ands_before: usize,
    /// Conjunctions without constants.
    pub n_ands_without_constants: usize,
    /// Conjunctions when several moves share conditions, before equal parts are merged.
    pub n_ands_apart: usize,
    /// Conjunctions of the network.
    pub n_ands: usize,
    /// Facts of the network.
    pub n_facts: usize,
    /// Moves of the network.
    pub n_moves: usize,
}

/// The network of a game.
///
/// # Errors
/// If the budget does not suffice, or the rules have no network.
pub fn ground(
    game: &Arc<Game>,
    budget: &GroundingLimits,
    cancel: &Cancel,
) -> Result<Network, GroundingError> {
    ground_watched(game, budget, cancel, &mut |_, _| ()).map(|(network, _)| network)
}

/// The network of a game, with statistics. `watch` is called after each pass, so that
/// callers can measure its time.
///
/// # Errors
/// If the budget does not suffice, or the rules have no network.
pub fn ground_watched(
    game: &Arc<Game>,
    budget: &GroundingLimits,
    cancel: &Cancel,
    watch: &mut dyn FnMut(Pass, &GroundingStatistics),
) -> Result<(Network, GroundingStatistics), GroundingError> {
    ground_translation(game, Translation::new(game)?, budget, cancel, watch)
}

/// The network of a game whose rules were translated before.
pub(crate) fn ground_translation(
    game: &Arc<Game>,
    translation: Translation,
    budget: &GroundingLimits,
    cancel: &Cancel,
    watch: &mut dyn FnMut(Pass, &GroundingStatistics),
) -> Result<(Network, GroundingStatistics), GroundingError> {
    let Translation { mut rules, terms, roles } = translation;
    check(game, &rules)?;
    let meter = Meter::new(budget.clone(), cancel.clone());
    let mut statistics = GroundingStatistics::default();
    let mut reach = Reach::new(&rules, JoinWorkspace::new(terms, meter), roles.clone());

    let result = reach.evaluate_static(&mut rules);
    let explained = |reach: &Reach, halt| explain(game, &rules, budget, halt, reach.clause);
    result.map_err(|halt| explained(&reach, halt))?;
    statistics.n_static_rows = reach.workspace.n_rows();
    statistics.n_steps = reach.workspace.meter.steps;
    watch(Pass::Static, &statistics);

    let result = reach.derive(&rules);
    result.map_err(|halt| explained(&reach, halt))?;
    statistics.n_reach_rows = reach.workspace.n_rows();
    statistics.n_bytes = reach.workspace.bytes();
    statistics.n_steps = reach.workspace.meter.steps;
    watch(Pass::Reach, &statistics);

    let result = reach.split_for_circuit(&rules);
    result.map_err(|halt| explained(&reach, halt))?;
    statistics.n_steps = reach.workspace.meter.steps;
    watch(Pass::Split, &statistics);

    if n_symbols(&rules, &reach) > budget.max_symbols {
        return Err(GroundingError::TooManySymbols { limit: budget.max_symbols });
    }
    let (inputs, circuit) = build(&rules, &roles, &mut reach)
        .map_err(|(halt, clause)| explain(game, &rules, budget, halt, clause))?;
    let network = assemble(game, &rules, &roles, &reach, &inputs, circuit, &mut statistics);
    statistics.n_bytes = statistics.n_bytes.max(reach.workspace.bytes());
    statistics.n_steps = reach.workspace.meter.steps;
    statistics.n_facts_reached = network.n_facts();
    statistics.n_moves_reached = network.n_moves();
    statistics.n_ands_before = network.graph.n_ands();
    watch(Pass::Circuit, &statistics);

    let mut network = without_constants(&network);
    statistics.n_ands_without_constants = network.graph.n_ands();
    statistics.n_facts = network.n_facts();
    statistics.n_moves = network.n_moves();
    watch(Pass::Constants, &statistics);

    if let Some(shared) = shared_by_moves(&network, cancel) {
        network = shared;
    }
    statistics.n_ands_apart = network.graph.n_ands();
    statistics.n_ands = network.graph.n_ands();
    watch(Pass::Moves, &statistics);

    if network.graph.n_nodes() <= budget.max_reduced {
        if let Some(reduction) = reduce(&network, &ReductionEffort::default(), cancel) {
            network = reduction.network;
        }
        statistics.n_ands = network.graph.n_ands();
        watch(Pass::Equal, &statistics);
    }
    Ok((network, statistics))
}

/// Refuses rules that the passes cannot handle.
fn check(game: &Game, rules: &Rules) -> Result<(), GroundingError> {
    let roots = &rules.roots;
    for id in [roots.legal, roots.goal, roots.terminal] {
        if rules.predicates[id].phase == Phase::Action {
            return Err(GroundingError::RestsOnMoves { relation: name(game, rules, id) });
        }
    }
    for predicate in &rules.predicates {
        for &at in &predicate.clauses {
            if !join_order::is_short(&rules.clauses[at]) {
                let relation = name(game, rules, rules.clauses[at].head.predicate);
                return Err(GroundingError::TooLong { limit: join_order::MAX_LENGTH, relation });
            }
        }
    }
    Ok(())
}

fn name(game: &Game, rules: &Rules, id: PredicateId) -> String {
    let symbol = rules.predicates[id].name;
    let is_known = (symbol.0 as usize) < game.symbols().len();
    if is_known { game.symbols().name(symbol).to_owned() } else { "an auxiliary one".to_owned() }
}

fn explain(
    game: &Game,
    rules: &Rules,
    budget: &GroundingLimits,
    halt: Halt,
    clause: usize,
) -> GroundingError {
    let relation = match rules.clauses.get(clause) {
        Some(clause) => name(game, rules, clause.head.predicate),
        None => String::new(),
    };
    match halt {
        Halt::Limit(resource) => {
            let limit = match resource {
                Resource::Rows => budget.max_rows,
                Resource::Terms => budget.max_terms,
                Resource::Bytes => budget.max_bytes,
                Resource::Steps => budget.max_steps,
                Resource::Ands => budget.max_ands,
            };
            GroundingError::Limit { resource, limit, relation }
        }
        Halt::TermTooDeep => GroundingError::TermTooDeep { limit: budget.max_term_depth, relation },
        Halt::TermTooLarge => GroundingError::TermTooLarge { limit: MAX_TERM_SIZE, relation },
        Halt::Unstratified => GroundingError::Unstratified { relation },
        Halt::Cancelled => GroundingError::Cancelled,
        Halt::Attempt => unreachable!("attempts end within the pass that makes them"),
    }
}

/// Symbols of all facts, moves and percepts, written out.
fn n_symbols(rules: &Rules, reach: &Reach) -> u64 {
    let JoinWorkspace { terms, tables, .. } = &reach.workspace;
    let size = |term: TermId| u64::from(terms.size(term));
    let facts = reach.facts.iter().map(|&fact| size(fact)).sum::<u64>();
    let of_roles = [rules.roots.does, rules.roots.sees].map(|id| {
        let rows = 0..tables[id].n_rows();
        rows.map(|row| size(tables[id].value(row, 1))).sum::<u64>()
    });
    facts + of_roles.iter().sum::<u64>()
}

/// The inputs of the circuit, in canonical order.
struct Inputs {
    facts: Vec<TermId>,
    /// By role.
    moves: Vec<Vec<TermId>>,
}

/// Fills all relations with gates.
fn build(
    rules: &Rules,
    roles: &[TermId],
    reach: &mut Reach,
) -> Result<(Inputs, Circuit), (Halt, usize)> {
    let terms = &reach.workspace.terms;
    let mut facts = reach.facts.clone();
    facts.sort_unstable_by(|&left, &right| compare(terms, left, right));
    let does = &reach.workspace.tables[rules.roots.does];
    let mut moves: Vec<Vec<TermId>> = vec![Vec::new(); roles.len()];
    for row in 0..does.n_rows() {
        let at = roles.iter().position(|&role| role == does.value(row, 0));
        moves[at.expect("only roles move")].push(does.value(row, 1));
    }
    for moves in &mut moves {
        moves.sort_unstable_by(|&left, &right| compare(terms, left, right));
    }
    let operations = reach.joins.needed(reach::roots(rules).into_iter());
    let order = circuit::order(&reach.joins, &operations);
    let keeps = circuit::negated_inside(&reach.joins, &order);
    let is_static: Vec<bool> = reach.joins.relations.iter().map(|info| info.is_static).collect();
    reach.workspace.start_over(&reach.joins, |id| !is_static[id], |id| keeps.contains(&id));
    let gates = Gates::new(facts.len(), moves.iter().map(Vec::len));
    let mut circuit = Circuit::new(gates, &reach.joins);
    for (input, &fact) in facts.iter().enumerate() {
        let lit = circuit.gates.input(input);
        reach.enter_fact(fact, |relation, _| circuit.lits[relation].push(lit));
    }
    let mut input = facts.len();
    for (&role, moves) in roles.iter().zip(&moves) {
        for &played in moves {
            reach.workspace.tables[rules.roots.does].insert(&[role, played]);
            circuit.lits[rules.roots.does].push(circuit.gates.input(input));
            input += 1;
        }
    }
    let result = filling::fill(&mut circuit, &reach.joins, &mut reach.workspace, &order);
    match result {
        Ok(()) => Ok((Inputs { facts, moves }, circuit)),
        Err(halt) => Err((halt, circuit.clause)),
    }
}

/// Puts the outputs together.
fn assemble(
    game: &Arc<Game>,
    rules: &Rules,
    roles: &[TermId],
    reach: &Reach,
    inputs: &Inputs,
    mut circuit: Circuit,
    statistics: &mut GroundingStatistics,
) -> Network {
    let (joins, workspace, terms) = (&reach.joins, &reach.workspace, &*reach.workspace.terms);
    let written = |term| expression(game, terms, term);
    let mut values = vec![Lit::FALSE; terms.len()];
    let next = &workspace.tables[rules.roots.next];
    for row in 0..next.n_rows() {
        values[next.value(row, 0) as usize] = circuit.lit(joins, rules.roots.next, row);
    }
    let next = inputs.facts.iter().map(|&fact| values[fact as usize]).collect();
    let init = &workspace.tables[rules.roots.init];
    let initial = |fact: TermId| init.find_row(&[fact]) != crate::relational::terms::NONE;
    let terminal = match workspace.tables[rules.roots.terminal].n_rows() {
        0 => Lit::FALSE,
        _ => circuit.lit(joins, rules.roots.terminal, 0),
    };
    // Rows of a relation of two columns whose first one is a role.
    let of_role = |circuit: &Circuit, relation: usize, role: TermId| {
        let table = &workspace.tables[relation];
        let rows = (0..table.n_rows()).filter(|&row| table.value(row, 0) == role);
        let lits = rows.map(|row| (table.value(row, 1), circuit.lit(joins, relation, row)));
        lits.collect::<Vec<(TermId, Lit)>>()
    };
    let mut outputs = Vec::new();
    for (&role, moves) in roles.iter().zip(&inputs.moves) {
        let legal: BTreeMap<TermId, Lit> =
            of_role(&circuit, rules.roots.legal, role).into_iter().collect();
        let mut goals: BTreeMap<GoalValue, Vec<Lit>> = BTreeMap::new();
        for (value, lit) in of_role(&circuit, rules.roots.goal, role) {
            let name = game.symbols().name(terms.symbol(value));
            let value = match name.parse::<i64>() {
                Ok(integer) if terms.arguments(value).is_empty() => GoalValue::Integer(integer),
                _ => GoalValue::Unreadable,
            };
            goals.entry(value).or_default().push(lit);
        }
        let mut percepts = of_role(&circuit, rules.roots.sees, role);
        percepts.sort_unstable_by(|left, right| compare(terms, left.0, right.0));
        outputs.push(RoleOutputs {
            moves: moves.iter().map(|&played| written(played)).collect(),
            legal: moves
                .iter()
                .map(|played| legal.get(played).copied().unwrap_or(Lit::FALSE))
                .collect(),
            goals: goals
                .into_iter()
                .map(|(value, mut lits)| (value, circuit.gates.any(&mut lits)))
                .collect(),
            percepts: percepts.into_iter().map(|(seen, lit)| (written(seen), lit)).collect(),
        });
    }
    statistics.n_ground_rules = circuit.n_ground_rules;
    statistics.n_cyclic = circuit.n_cyclic;
    Network {
        game: Arc::clone(game),
        facts: inputs.facts.iter().map(|&fact| written(fact)).collect(),
        initial: inputs.facts.iter().map(|&fact| initial(fact)).collect(),
        next,
        terminal,
        roles: outputs,
        graph: circuit.gates.into_graph(),
    }
}

/// A term as text.
fn expression(game: &Game, store: &Store, term: TermId) -> Expression {
    let name = Expression::atom(game.symbols().name(store.symbol(term)));
    let arguments = store.arguments(term);
    if arguments.is_empty() {
        return name;
    }
    let arguments = arguments.iter().map(|&argument| expression(game, store, argument));
    Expression::List(std::iter::once(name).chain(arguments).collect())
}
