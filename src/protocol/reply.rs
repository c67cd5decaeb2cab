//! Replies to PLAY: which legal move a text stands for.

use games::Expression;
use strum::{EnumString, IntoStaticStr, VariantNames};

use super::Scrambler;

/// How a reply to PLAY is matched with the legal moves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, EnumString, IntoStaticStr, VariantNames)]
#[strum(serialize_all = "snake_case")]
pub enum Reading {
    /// As ggp-base does: spelled exactly like the legal move, though white space
    /// is free.
    Strict,
    /// Exact, then case-folded, then without needless parentheses; then the
    /// move part of a reply decorated with an explanation or a taunt.
    #[default]
    Lenient,
}

/// What a reply was taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveReading {
    /// The legal move at this position of the list.
    Legal(usize),
    /// A term, but no legal move.
    Illegal,
    /// No term: a broken one, words in a row, or the markup of another language.
    Unreadable,
}

/// Reads the first term of `reply`; what follows a legal move or a list is
/// ignored, and what follows another word makes it prose. Under a `scrambler` the reply must be made of its words, keywords and numbers:
/// words of the original rules are not accepted.
///
/// Texts are compared rather than looked up, so that a hostile reply leaves
/// nothing behind in a reasoner's tables.
#[must_use]
pub fn read_move<'a>(
    reply: &str,
    legal: impl Iterator<Item = &'a Expression> + Clone,
    reading: Reading,
    scrambler: Option<&Scrambler>,
) -> MoveReading {
    let Ok((term, end)) = Expression::parse_prefix(reply) else { return MoveReading::Unreadable };
    let is_prose = matches!(term, Expression::Atom(_)) && !reply[end..].trim().is_empty();
    match read_term(term, legal, reading, scrambler) {
        MoveReading::Illegal if is_prose || is_markup(reply) => MoveReading::Unreadable,
        other => other,
    }
}

/// Whether a text is HTML, XML or JSON, as far as its first character tells. No
/// term of a player begins so.
#[must_use]
pub fn is_markup(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with(['<', '{', '[', '"'])
}

fn read_term<'a>(
    term: Expression,
    legal: impl Iterator<Item = &'a Expression> + Clone,
    reading: Reading,
    scrambler: Option<&Scrambler>,
) -> MoveReading {
    if reading == Reading::Strict && !is_term(&term) {
        return MoveReading::Unreadable;
    }
    let plain;
    let term = match scrambler.map(|scrambler| scrambler.unscramble(&term)) {
        None => &term,
        Some(Some(unscrambled)) => {
            plain = unscrambled;
            &plain
        }
        Some(None) => match (reading, decorated_move(&term)) {
            // The explanation is in the player's own words, the move is not.
            (Reading::Lenient, Some(part)) => {
                let Some(part) = scrambler.and_then(|scrambler| scrambler.unscramble(part)) else {
                    return MoveReading::Illegal;
                };
                plain = part;
                &plain
            }
            _ => return MoveReading::Illegal,
        },
    };
    if let Some(index) = legal.clone().position(|candidate| candidate == term) {
        return MoveReading::Legal(index);
    }
    if reading == Reading::Strict {
        return MoveReading::Illegal;
    }
    let found = position_folded(term, legal.clone())
        .or_else(|| decorated_move(term).and_then(|part| position_folded(part, legal)));
    found.map_or(MoveReading::Illegal, MoveReading::Legal)
}

/// Whether every list starts with a name, as in a term of GDL.
fn is_term(expression: &Expression) -> bool {
    match expression {
        Expression::Atom(_) => true,
        Expression::List(items) => {
            matches!(items.first(), Some(Expression::Atom(_))) && items.iter().all(is_term)
        }
    }
}

fn position_folded<'a>(
    term: &Expression,
    mut legal: impl Iterator<Item = &'a Expression>,
) -> Option<usize> {
    let term = without_needless_parentheses(term);
    legal.position(|candidate| equal_folded(term, without_needless_parentheses(candidate)))
}

fn equal_folded(a: &Expression, b: &Expression) -> bool {
    match (a, b) {
        (Expression::Atom(a), Expression::Atom(b)) => a.eq_ignore_ascii_case(b),
        (Expression::List(a), Expression::List(b)) => {
            a.len() == b.len()
                && a.iter().zip(b).all(|(a, b)| {
                    equal_folded(without_needless_parentheses(a), without_needless_parentheses(b))
                })
        }
        _ => false,
    }
}

/// `noop` for `(noop)`, and `(mark 1 1)` for `((mark 1 1))`.
fn without_needless_parentheses(mut expression: &Expression) -> &Expression {
    while let Expression::List(items) = expression {
        match items.as_slice() {
            [only] => expression = only,
            _ => break,
        }
    }
    expression
}

/// `m` of `((move m) (explanation ...) ...)`; the first part if none is
/// called `move`. Early descriptions of the protocol allow for it.
fn decorated_move(reply: &Expression) -> Option<&Expression> {
    let Expression::List(parts) = reply else { return None };
    if !matches!(parts.first(), Some(Expression::List(_))) {
        return None;
    }
    let move_part = parts.iter().find_map(|part| match part {
        Expression::List(items) => match items.as_slice() {
            [Expression::Atom(name), only] if name.eq_ignore_ascii_case("move") => Some(only),
            _ => None,
        },
        Expression::Atom(_) => None,
    });
    move_part.or(parts.first())
}

#[cfg(test)]
mod tests {
    use super::*;
    use MoveReading::{Illegal, Legal, Unreadable};

    fn check(reply: &str, strict: MoveReading, lenient: MoveReading) {
        let legal = ["(mark 1 1)", "(mark 1 2)", "noop", "(jump (f 1))"]
            .map(|text| Expression::parse(text).unwrap());
        let read = |reading| read_move(reply, legal.iter(), reading, None);
        assert_eq!(read(Reading::Strict), strict, "strict: {reply:?}");
        assert_eq!(read(Reading::Lenient), lenient, "lenient: {reply:?}");
    }

    #[test]
    fn replies_are_read_by_this_table() {
        check("(mark 1 1)", Legal(0), Legal(0));
        check(" ( mark 1  2 ) ", Legal(1), Legal(1));
        check("(mark\r\n 1\n1)\n", Legal(0), Legal(0));
        check("(MARK 1 1)", Illegal, Legal(0));
        check("(noop)", Illegal, Legal(2));
        check("((mark 1 1))", Unreadable, Legal(0));
        check("mark 1 1", Unreadable, Unreadable);
        check("(mark 1 1) trailing text", Legal(0), Legal(0));
        check("(mark 1 1", Unreadable, Unreadable);
        check("nil", Illegal, Illegal);
        check("", Unreadable, Unreadable);
        check(" \r\n", Unreadable, Unreadable);
        check("(mark ?x 1)", Illegal, Illegal);
        check("((move (mark 1 2)) (explanation x) (taunt (y z)))", Unreadable, Legal(1));
        check("((mark 1 2) (explanation x))", Unreadable, Legal(1));
        check("(jump ((f) 1))", Unreadable, Legal(3));
        check("()", Unreadable, Illegal);
        check("(mark 1 1 1)", Illegal, Illegal);
        check(")", Unreadable, Unreadable);
        check("(mark 1 \u{ff}", Unreadable, Unreadable);
        check("READY", Illegal, Illegal);
        check("noop, and I am winning", Unreadable, Unreadable);
        check("noop and I am winning", Legal(2), Legal(2));
        check("I think that (mark 1 1) is best", Unreadable, Unreadable);
        check("(mark 7 7) I think", Illegal, Illegal);
        check("<html><body>Internal Server Error</body></html>", Unreadable, Unreadable);
        check("<html>", Unreadable, Unreadable);
        check("\u{feff} <!DOCTYPE html>", Unreadable, Unreadable);
        check("{\"move\":\"noop\"}", Unreadable, Unreadable);
        check("[\"noop\"]", Unreadable, Unreadable);
        check("\"noop\"", Unreadable, Unreadable);
        check(&"(".repeat(60_000), Unreadable, Unreadable);
    }

    #[test]
    fn exact_spelling_wins_over_folded() {
        let legal = ["GO", "go"].map(|text| Expression::parse(text).unwrap());
        assert_eq!(read_move("go", legal.iter(), Reading::Lenient, None), Legal(1));
        assert_eq!(read_move("Go", legal.iter(), Reading::Lenient, None), Legal(0));
    }
}
