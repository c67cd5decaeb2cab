//! What a feature of a state is, and how it is written.

use std::fmt;
use std::str::FromStr;

use games::Expression;

/// Facts of one relation, some of whose arguments are given.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Pattern {
    /// The relation.
    pub relation: String,
    /// By argument: what it has to be, or anything.
    pub arguments: Vec<Option<Expression>>,
}

/// The relation and the arguments of a fact.
pub(crate) fn parts(fact: &Expression) -> (&str, &[Expression]) {
    match fact {
        Expression::Atom(name) => (name, &[]),
        Expression::List(items) => match items.split_first() {
            Some((Expression::Atom(name), arguments)) => (name, arguments),
            _ => ("", items),
        },
    }
}

impl Pattern {
    /// Whether a fact is one of these.
    #[must_use]
    pub fn matches(&self, fact: &Expression) -> bool {
        let (relation, arguments) = parts(fact);
        let is_given = |(given, found): (&Option<Expression>, &Expression)| {
            given.as_ref().is_none_or(|given| given == found)
        };
        relation == self.relation
            && arguments.len() == self.arguments.len()
            && self.arguments.iter().zip(arguments).all(is_given)
    }
}

/// As a fact with `?` for any argument: `(cell ? ? white)`.
impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.arguments.is_empty() {
            return f.write_str(&self.relation);
        }
        write!(f, "({}", self.relation)?;
        for argument in &self.arguments {
            match argument {
                Some(argument) => write!(f, " {argument}")?,
                None => f.write_str(" ?")?,
            }
        }
        f.write_str(")")
    }
}

/// A number that each state of a game has.
///
/// ```
/// use players::learning::Feature;
///
/// for text in [
///     "count (cell ? ? white)",
///     "rank of argument 2 in (cell ? ? white) by after",
///     "value of argument 1 in (points ?)",
///     "moves of white",
/// ] {
///     assert_eq!(text.parse::<Feature>().map(|feature| feature.to_string()), Ok(text.to_owned()));
/// }
/// assert!("count".parse::<Feature>().is_err());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Feature {
    /// The number of facts that match.
    Count(Pattern),
    /// The sum, over the facts that match, of the places of an argument in an order: how
    /// far all these pieces have advanced.
    Rank {
        /// The facts.
        pattern: Pattern,
        /// The argument, from 0. Written, it counts from 1.
        argument: usize,
        /// The relation that has a fact for each two neighbours.
        order: String,
    },
    /// The sum, over the facts that match, of an argument that is a whole number.
    Value {
        /// The facts.
        pattern: Pattern,
        /// The argument, from 0. Written, it counts from 1.
        argument: usize,
    },
    /// The number of legal moves of a role: its mobility.
    Moves(String),
}

impl fmt::Display for Feature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count(pattern) => write!(f, "count {pattern}"),
            Self::Rank { pattern, argument, order } => {
                write!(f, "rank of argument {} in {pattern} by {order}", argument + 1)
            }
            Self::Value { pattern, argument } => {
                write!(f, "value of argument {} in {pattern}", argument + 1)
            }
            Self::Moves(role) => write!(f, "moves of {role}"),
        }
    }
}

/// A text is no feature.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no feature; expected `count FACTS`, `rank of argument N in FACTS by RELATION`, \
     `value of argument N in FACTS` or `moves of ROLE`"
)]
pub struct FeatureError(pub String);

/// Reads what `Display` writes.
impl FromStr for Feature {
    type Err = FeatureError;

    fn from_str(text: &str) -> Result<Self, FeatureError> {
        read(text).ok_or_else(|| FeatureError(text.to_owned()))
    }
}

fn read(text: &str) -> Option<Feature> {
    if let Some(facts) = text.strip_prefix("count ") {
        return Some(Feature::Count(read_pattern(facts)?));
    }
    if let Some(role) = text.strip_prefix("moves of ") {
        let is_name = matches!(Expression::parse(role), Ok(Expression::Atom(name)) if name == role);
        return is_name.then(|| Feature::Moves(role.to_owned()));
    }
    if let Some(rest) = text.strip_prefix("value of argument ") {
        let (argument, facts) = rest.split_once(" in ")?;
        let pattern = read_pattern(facts)?;
        let argument = read_argument(argument, &pattern)?;
        return Some(Feature::Value { pattern, argument });
    }
    let (argument, rest) = text.strip_prefix("rank of argument ")?.split_once(" in ")?;
    let (facts, order) = rest.rsplit_once(" by ")?;
    let pattern = read_pattern(facts)?;
    let argument = read_argument(argument, &pattern)?;
    Some(Feature::Rank { pattern, argument, order: order.to_owned() })
}

/// The argument by its number from 1.
fn read_argument(text: &str, pattern: &Pattern) -> Option<usize> {
    let argument = text.parse::<usize>().ok()?.checked_sub(1)?;
    (argument < pattern.arguments.len()).then_some(argument)
}

fn read_pattern(text: &str) -> Option<Pattern> {
    // A single `?` is no variable that the reader knows.
    let items = match Expression::parse(&text.replace('?', "?any")).ok()? {
        Expression::Atom(relation) => return Some(Pattern { relation, arguments: Vec::new() }),
        Expression::List(items) => items,
    };
    let any = Expression::atom("?any");
    let (relation, arguments) = items.split_first()?;
    let Expression::Atom(relation) = relation else { return None };
    let given = |argument: &Expression| (*argument != any).then(|| argument.clone());
    Some(Pattern { relation: relation.clone(), arguments: arguments.iter().map(given).collect() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pattern: &str, fact: &str, expected: bool) {
        let pattern = read_pattern(pattern).unwrap();
        assert_eq!(pattern.matches(&fact.parse().unwrap()), expected, "{pattern} {fact}");
    }

    #[test]
    fn a_pattern_matches_by_this_table() {
        check("(cell ? ? white)", "(cell 1 2 white)", true);
        check("(cell ? ? white)", "(cell 1 2 black)", false);
        check("(cell ? ? white)", "(cell 1 white)", false);
        check("(cell ? ?)", "(cell 1 (pair a b))", true);
        check("(cell ? (pair a b))", "(cell 1 (pair a b))", true);
        check("(cell ? (pair a b))", "(cell 1 (pair a c))", false);
        check("rolling", "rolling", true);
        check("rolling", "(rolling 1)", false);
        check("(on ?)", "(off 1)", false);
    }

    #[test]
    fn what_is_no_feature_is_refused() {
        for text in [
            "",
            "count ",
            "count (a b",
            "counts (a ?)",
            "count ((a) ?)",
            "rank of argument 0 in (a ?) by after",
            "rank of argument 2 in (a ?) by after",
            "rank of argument 1 in (a ?)",
            "value of argument x in (a ?)",
            "value of argument 1 in a",
            "moves of (a b)",
            "moves of a b",
        ] {
            assert_eq!(text.parse::<Feature>(), Err(FeatureError(text.to_owned())));
        }
    }
}
