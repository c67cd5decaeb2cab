//! Rules as clauses over relations, and relations as tables of ground terms:
//! what the prover, which evaluates the clauses for one state, and the
//! grounder, which evaluates them for all states at once, both start from. It does not
//! know how clauses are evaluated.

pub(crate) mod rules;
pub(crate) mod table;
pub(crate) mod terms;
pub(crate) mod translation;
