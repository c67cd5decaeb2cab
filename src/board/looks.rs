//! The looks of pieces: their owner, and the differences among the pieces of one side.

use std::collections::{BTreeMap, BTreeSet};

use super::marks::words;

/// Colours that pieces are named after, and what they are shown in.
const COLOURS: [(&str, &str); 16] = [
    ("white", "white"),
    ("black", "black"),
    ("red", "red"),
    ("blue", "blue"),
    ("green", "green"),
    ("yellow", "yellow"),
    ("orange", "orange"),
    ("purple", "purple"),
    ("brown", "brown"),
    ("pink", "pink"),
    ("grey", "grey"),
    ("gray", "grey"),
    ("teal", "teal"),
    ("cyan", "teal"),
    ("light", "white"),
    ("dark", "black"),
];

/// Letters that colours are shortened to.
const LETTERS: [(char, &str); 5] =
    [('w', "white"), ('b', "black"), ('r', "red"), ('y', "yellow"), ('g', "green")];

/// Words of pieces that rank above the plain ones of their side.
const KINGS: [&str; 4] = ["king", "queen", "crowned", "promoted"];

/// The owner of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Side {
    /// That of a colour, by its name.
    Colour(&'static str),
    /// That of a role, by its number.
    Role(usize),
}

/// What a piece looks like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Its owner; `None` if it has none.
    pub side: Option<Side>,
    /// It ranks above the plain pieces of its side.
    pub is_king: bool,
    /// Its rank by size, and the number of sizes.
    pub size: Option<(u8, u8)>,
}

/// The looks of pieces in a game of these roles.
pub(super) fn looks(pieces: &BTreeMap<String, usize>, roles: &[String]) -> BTreeMap<String, Look> {
    let names: BTreeSet<&str> = pieces.keys().map(String::as_str).collect();
    let look = |piece: &String| {
        let is_king = words(piece).iter().any(|word| KINGS.contains(&word.as_str()))
            || is_coded_king(piece, &names);
        let look = Look { side: side(piece, &names, roles), is_king, size: None };
        (piece.clone(), look)
    };
    pieces.keys().map(look).collect()
}

/// The side of a role by its name.
pub(super) fn side_of_role(name: &str, role: usize) -> Side {
    words(name).iter().find_map(|word| colour(word)).map_or(Side::Role(role), Side::Colour)
}

fn colour(word: &str) -> Option<&'static str> {
    COLOURS.iter().find(|(name, _)| *name == word).map(|(_, colour)| *colour)
}

/// The owner of a piece, derived from its name among all names.
fn side(piece: &str, pieces: &BTreeSet<&str>, roles: &[String]) -> Option<Side> {
    let words = words(piece);
    if let Some(colour) = words.iter().find_map(|word| colour(word)) {
        return Some(Side::Colour(colour));
    }
    if let Some(role) = roles.iter().position(|role| is_of(&words, role)) {
        return Some(side_of_role(&roles[role], role));
    }
    let initial = coded(piece, pieces)?;
    let roles = roles.iter().enumerate();
    let mut begun = roles.filter(|(_, role)| role.to_ascii_lowercase().starts_with(initial));
    let of_role = begun.find_map(|(at, role)| match side_of_role(role, at) {
        Side::Colour(colour) => Some(colour),
        Side::Role(_) => None,
    });
    let of_letter = || LETTERS.iter().find(|(letter, _)| *letter == initial).map(|(_, name)| *name);
    of_role.or_else(of_letter).map(Side::Colour)
}

/// Whether a piece is named after a role: `left` or `left trail` after `left`, `x` after
/// `xplayer`.
fn is_of(words: &[String], role: &str) -> bool {
    let role = role.to_ascii_lowercase();
    let bare: Vec<String> = ["player", "_"]
        .iter()
        .fold(role.clone(), |role, word| role.replace(word, ""))
        .split_whitespace()
        .map(str::to_owned)
        .collect();
    words.iter().any(|word| {
        // `1` of `player1` would be any number.
        let is_letter = word.chars().any(char::is_alphabetic);
        *word == role || (is_letter && bare.contains(word))
    })
}

/// The letter of the colour in a short name, where the others show that it is one:
/// `wp` beside `bp`, `w` beside `b`.
fn coded(piece: &str, pieces: &BTreeSet<&str>) -> Option<char> {
    let mut letters = piece.chars();
    let initial = letters.next()?.to_ascii_lowercase();
    let rest: String = letters.collect();
    if rest.len() > 1 || LETTERS.iter().all(|(letter, _)| *letter != initial) {
        return None;
    }
    let beside = LETTERS.iter().filter(|(letter, _)| *letter != initial).any(|(letter, _)| {
        let other = format!("{letter}{rest}");
        pieces.iter().any(|piece| piece.eq_ignore_ascii_case(&other))
    });
    beside.then_some(initial)
}

/// Whether a short name ends with the letter of a king: `wk` beside `bk`.
fn is_coded_king(piece: &str, pieces: &BTreeSet<&str>) -> bool {
    piece.len() == 2 && piece.ends_with(['k', 'K']) && coded(piece, pieces).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &str, roles: &str, expected: &str) {
        let pieces: Vec<String> = pieces.split(", ").map(str::to_owned).collect();
        let roles: Vec<String> = roles.split(' ').map(str::to_owned).collect();
        let counts = pieces.iter().map(|piece| (piece.clone(), 1)).collect();
        let looks = looks(&counts, &roles);
        let told = pieces.iter().map(|piece| {
            let look = looks[piece];
            let king = if look.is_king { " king" } else { "" };
            match look.side {
                Some(Side::Colour(colour)) => format!("{colour}{king}"),
                Some(Side::Role(role)) => format!("{role}{king}"),
                None => format!("-{king}"),
            }
        });
        assert_eq!(told.collect::<Vec<_>>().join(", "), expected);
    }

    #[test]
    fn pieces_named_after_colours_have_them() {
        check("red, blue", "red blue", "red, blue");
        check("black man, black king, white man", "black white", "black, black king, white");
        check("red_king, king_red, whitePawn", "a b", "red king, red king, white");
        check("wp, bp, wk, bk", "white black", "white, black, white king, black king");
        check("b, w", "x y", "black, white");
        check("rp, bp", "red blue", "red, blue");
        check("dark, light", "dark light", "black, white");
    }

    #[test]
    fn pieces_named_after_roles_are_theirs() {
        check("x, o, z", "xplayer oplayer zplayer", "0, 1, 2");
        check("left, right, wall", "left right", "0, 1, -");
        check("disc_first, 1", "first player1", "0, -");
    }

    #[test]
    fn other_pieces_are_nobodys() {
        check("1, 2, tree, gold, by", "robot", "-, -, -, -, -");
    }
}
