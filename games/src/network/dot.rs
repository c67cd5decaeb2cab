//! A network as a picture: text in the language of Graphviz.

use std::fmt;

use super::{GoalValue, Lit, Network};

/// A [`Network`] as a directed graph in the DOT language. Inputs stand at the
/// left, outputs at the right, conjunctions between them; a circle at an arrow's
/// head negates.
#[derive(Clone, Copy, Debug)]
pub struct Dot<'n>(pub &'n Network);

impl fmt::Display for Dot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Network { game, graph, facts, next, terminal, roles, .. } = self.0;
        writeln!(f, "digraph {:?} {{", game.name())?;
        writeln!(f, "  rankdir=LR; node [fontname=\"monospace\"];")?;
        let names = game.roles().iter().map(|&role| game.symbols().name(role));
        let names: Vec<&str> = names.collect();

        let mut input = 1;
        for fact in facts {
            writeln!(f, "  n{input} [shape=box, label={:?}];", format!("(true {fact})"))?;
            input += 1;
        }
        for (role, name) in roles.iter().zip(&names) {
            for played in &role.moves {
                let label = format!("(does {name} {played})");
                writeln!(f, "  n{input} [shape=box, style=rounded, label={label:?}];")?;
                input += 1;
            }
        }
        for (node, pair) in graph.ands() {
            writeln!(f, "  n{node} [shape=circle, label=\"&\"];")?;
            for lit in pair {
                writeln!(f, "  {} -> n{node}{};", Source(lit), head(lit))?;
            }
        }

        let mut outputs: Vec<(String, Lit)> = Vec::new();
        outputs.extend(facts.iter().zip(next).map(|(fact, &lit)| (format!("(next {fact})"), lit)));
        outputs.push(("terminal".to_owned(), *terminal));
        for (role, name) in roles.iter().zip(&names) {
            let legal = role.moves.iter().zip(&role.legal);
            outputs.extend(legal.map(|(played, &lit)| (format!("(legal {name} {played})"), lit)));
            for (value, lit) in &role.goals {
                let value = match value {
                    GoalValue::Integer(value) => value.to_string(),
                    GoalValue::Unreadable => "?".to_owned(),
                };
                outputs.push((format!("(goal {name} {value})"), *lit));
            }
            let percepts = role.percepts.iter();
            outputs.extend(percepts.map(|(seen, lit)| (format!("(sees {name} {seen})"), *lit)));
        }
        if outputs.iter().any(|(_, lit)| lit.is_constant()) {
            writeln!(f, "  n0 [shape=plaintext, label=\"false\"];")?;
        }
        for (index, (label, lit)) in outputs.iter().enumerate() {
            writeln!(f, "  o{index} [shape=box, penwidth=2, label={label:?}];")?;
            writeln!(f, "  {} -> o{index}{};", Source(*lit), head(*lit))?;
        }
        writeln!(f, "}}")
    }
}

struct Source(Lit);

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}", self.0.node())
    }
}

fn head(lit: Lit) -> &'static str {
    if lit.is_negated() { " [arrowhead=odot]" } else { "" }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::{Cancel, Case, GroundingLimits, Leniency, ground, validate};

    #[test]
    fn all_that_goes_in_and_comes_out_is_named() {
        let text = "(role robot) (init p) (legal robot toggle) (legal robot wait) \
             (<= (next p) (true p) (does robot wait)) \
             (<= (next p) (not (true p)) (does robot toggle)) \
             (<= terminal (not (true p))) (goal robot 50)";
        let game = validate::read("lamp", text, Case::Folded, Leniency::Strict).game.unwrap();
        let network = ground(&Arc::new(game), &GroundingLimits::default(), &Cancel::new()).unwrap();
        let dot = Dot(&network).to_string();
        assert!(dot.starts_with("digraph \"lamp\" {\n"), "{dot}");
        for label in [
            "(true p)",
            "(does robot toggle)",
            "(does robot wait)",
            "(next p)",
            "terminal",
            "(legal robot wait)",
            "(goal robot 50)",
        ] {
            assert_eq!(dot.matches(&format!("label=\"{label}\"")).count(), 1, "{label} in {dot}");
        }
        assert_eq!(dot.matches("label=\"&\"").count(), network.graph.n_ands());
        // Whether it is terminal is the negation of the fact.
        assert!(dot.contains("n1 -> o1 [arrowhead=odot];"), "{dot}");
    }
}
