//! Moves on the lines of a game tree, several of which may lead to the same place: `roll 1-9`,
//! `raise left/right`.

use std::collections::BTreeSet;

use games::Expression;

/// Maximum number of characters of moves.
const MAX_LENGTH: usize = 24;

/// Moves of one role.
pub(super) fn moves_text(moves: &[&Expression]) -> String {
    let words: Vec<Vec<String>> = moves.iter().map(|one| plain_words(one)).collect();
    let text = match shared(&words) {
        Some((first, last)) => first.iter().chain([&last]).cloned().collect::<Vec<_>>().join(" "),
        None => words.iter().map(|words| words.join(" ")).collect::<Vec<_>>().join("/"),
    };
    shortened(text, moves.len())
}

/// Joint moves of several roles.
pub(super) fn joint_text(joint_moves: &[Vec<&Expression>]) -> String {
    let n_roles = joint_moves.first().map_or(0, Vec::len);
    if n_roles == 0 {
        return String::new();
    }
    let of_role = |role: usize| -> Vec<&Expression> {
        let mut seen = BTreeSet::new();
        let moves = joint_moves.iter().map(|moves| moves[role]);
        moves.filter(|one| seen.insert(one.to_string())).collect()
    };
    let by_role: Vec<Vec<&Expression>> = (0..n_roles).map(of_role).collect();
    let n_all: usize = by_role.iter().map(Vec::len).product();
    let text = if n_all == joint_moves.len() {
        // Whatever each of them plays of these.
        by_role.iter().map(|moves| moves_text(moves)).collect::<Vec<_>>().join(", ")
    } else {
        let joint = |moves: &Vec<&Expression>| {
            moves.iter().map(|one| plain_words(one).join(" ")).collect::<Vec<_>>().join(", ")
        };
        joint_moves.iter().map(joint).collect::<Vec<_>>().join(" / ")
    };
    shortened(text, joint_moves.len())
}

/// The words of an expression, without its outer parentheses.
pub(super) fn plain_words(expression: &Expression) -> Vec<String> {
    match expression {
        Expression::Atom(name) => vec![name.clone()],
        Expression::List(items) => items.iter().map(ToString::to_string).collect(),
    }
}

/// The words that all moves begin with, and the last word of each, as one; `None` if they have no
/// other in common.
fn shared(moves: &[Vec<String>]) -> Option<(Vec<String>, String)> {
    let (last, first) = moves.first()?.split_last()?;
    let mut lasts = vec![last.as_str()];
    for words in &moves[1..] {
        let (last, other) = words.split_last()?;
        if first.is_empty() || other != first {
            return None;
        }
        lasts.push(last);
    }
    let numbers: Option<BTreeSet<u32>> = lasts.iter().map(|last| last.parse().ok()).collect();
    let range = numbers.and_then(|numbers| {
        let (&low, &high) = numbers.first().zip(numbers.last())?;
        let is_range = numbers.len() > 2 && high.abs_diff(low) as usize + 1 == numbers.len();
        is_range.then(|| format!("{low}-{high}"))
    });
    Some((first.to_vec(), range.unwrap_or_else(|| lasts.join("/"))))
}

fn shortened(text: String, n: usize) -> String {
    match text.chars().count() {
        0..=MAX_LENGTH => text,
        _ if n > 1 => format!("{n} moves"),
        _ => text.chars().take(MAX_LENGTH - 3).chain("...".chars()).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(moves: &str, expected: &str) {
        let moves: Vec<Expression> = moves.split(", ").map(|one| one.parse().unwrap()).collect();
        assert_eq!(moves_text(&moves.iter().collect::<Vec<_>>()), expected);
    }

    #[test]
    fn moves_to_one_place_are_listed_together() {
        check("wait", "wait");
        check("(roll 1)", "roll 1");
        check("(roll 1), (roll 2), (roll 3)", "roll 1-3");
        check("(roll 1), (roll 3), (roll 4)", "roll 1/3/4");
        check("(raise left), (raise right)", "raise left/right");
        check("left, right", "left/right");
        check("(go a b), (go c b), stay", "go a b/go c b/stay");
        check("(go somewhere), (stay here), (rest for now)", "3 moves");
        check("(go to the place that is far off)", "go to the place that ...");
    }

    fn check_joint(joint_moves: &[[&str; 2]], expected: &str) {
        let joint_moves: Vec<[Expression; 2]> =
            joint_moves.iter().map(|moves| moves.map(|one| one.parse().unwrap())).collect();
        let joint_moves: Vec<Vec<&Expression>> =
            joint_moves.iter().map(|moves| moves.iter().collect()).collect();
        assert_eq!(joint_text(&joint_moves), expected);
    }

    #[test]
    fn joint_moves_to_one_place_are_listed_together() {
        check_joint(&[["(show 1)", "pass"]], "show 1, pass");
        check_joint(&[["a", "c"], ["a", "d"], ["b", "c"], ["b", "d"]], "a/b, c/d");
        check_joint(&[["a", "a"], ["b", "b"]], "a, a / b, b");
        assert_eq!(joint_text(&[vec![], vec![]]), "");
    }
}
