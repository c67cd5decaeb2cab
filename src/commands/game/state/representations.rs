//! One state as agents represent states: as a whole, by its facts, and by objects and their
//! relations (Russell and Norvig, "Artificial Intelligence: A Modern Approach", on atomic,
//! factored and structured representations).

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use games::{Expression, StateKey};
use serde::Serialize;

/// A state in three representations.
#[derive(Serialize)]
pub(super) struct Representations {
    /// Atomic: a name of its own. Of two states only this is known, whether they are the same.
    atomic: String,
    /// Factored: how many facts are true. All others are false.
    factored: usize,
    structured: Structured,
}

/// A state as objects and relations.
#[derive(Serialize)]
struct Structured {
    objects: BTreeSet<String>,
    relations: Vec<Relation>,
}

/// A relation, and the objects that it relates.
#[derive(Serialize)]
struct Relation {
    name: String,
    arity: usize,
    tuples: Vec<Vec<String>>,
}

impl Representations {
    /// The representations of the state with this key and these facts.
    pub(super) fn of(key: StateKey, facts: &[Expression]) -> Self {
        let mut relations: BTreeMap<(String, usize), Vec<Vec<String>>> = BTreeMap::new();
        for fact in facts {
            let (name, arguments) = match fact {
                Expression::List(parts) if !parts.is_empty() => (&parts[0], &parts[1..]),
                other => (other, &[][..]),
            };
            let tuple: Vec<String> = arguments.iter().map(ToString::to_string).collect();
            relations.entry((name.to_string(), tuple.len())).or_default().push(tuple);
        }
        let objects = relations.values().flatten().flatten().cloned().collect();
        let relations = relations
            .into_iter()
            .map(|((name, arity), tuples)| Relation { name, arity, tuples })
            .collect();
        Self {
            atomic: format!("{:032x}", key.bits()),
            factored: facts.len(),
            structured: Structured { objects, relations },
        }
    }

    /// Prints them, the atomic one first. The facts themselves stand elsewhere.
    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let Self { atomic, factored, structured: Structured { objects, relations } } = self;
        let objects: Vec<&str> = objects.iter().map(String::as_str).collect();
        writeln!(out, "\nrepresentations of the state")?;
        writeln!(out, "  atomic      one name for the whole state, its key {atomic}")?;
        writeln!(out, "  factored    true: {factored} (the facts above); all others are false")?;
        writeln!(out, "  structured  objects: {}", objects.join(" "))?;
        for Relation { name, arity, tuples } in relations {
            let tuples: Vec<String> =
                tuples.iter().map(|tuple| format!("({})", tuple.join(" "))).collect();
            writeln!(out, "              {name}/{arity}: {}", tuples.join(" "))?;
        }
        Ok(())
    }
}
