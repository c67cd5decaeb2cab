//! What pieces are drawn as: short marks that tell them apart.

use std::collections::{BTreeMap, BTreeSet};

/// The mark of a cell with nothing on it.
pub(super) const NOTHING: &str = ".";

/// Names of pieces that stand for none.
const NOTHING_NAMES: [&str; 9] =
    ["blank", "empty", "none", "nil", "nothing", "dirt", "free", "open", "vacant"];

/// What the names of pieces begin with.
const COLOURS: [&str; 9] =
    ["white", "black", "red", "blue", "green", "yellow", "dark", "light", "orange"];

/// Short and distinct marks for `pieces`; each comes with its number in the
/// first position.
pub(super) fn marks(pieces: &BTreeMap<String, usize>) -> BTreeMap<String, String> {
    let (nothing, real): (Vec<&String>, Vec<&String>) =
        pieces.keys().partition(|piece| is_nothing(piece, pieces));
    let shorter = (1..=4).flat_map(|last| (1..=last).map(move |first| [first, last]));
    let short = shorter
        .map(|lengths| real.iter().map(|piece| abbreviation(piece, lengths)).collect::<Vec<_>>())
        .find(|marks| {
            let distinct: BTreeSet<&String> = marks.iter().collect();
            distinct.len() == marks.len() && !distinct.contains(&NOTHING.to_owned())
        });
    let marks = short.unwrap_or_else(|| real.iter().map(|&piece| piece.clone()).collect());
    let real = real.into_iter().cloned().zip(marks);
    real.chain(nothing.into_iter().map(|piece| (piece.clone(), NOTHING.to_owned()))).collect()
}

/// The mark of what one side does to the board of the other.
const CROSS: &str = "x";

/// Marks of the pieces on boards of several owners, of which a single one among `crossed` is a
/// cross, as where pen and paper are used.
pub(super) fn marks_of_boards(
    pieces: &BTreeMap<String, usize>,
    crossed: &BTreeSet<String>,
) -> BTreeMap<String, String> {
    let mut others = pieces.clone();
    others.retain(|piece, _| !crossed.contains(piece));
    let mut own = marks(&others);
    match (crossed.first(), crossed.len()) {
        (Some(cross), 1) if !own.values().any(|mark| mark == CROSS) => {
            own.insert(cross.clone(), CROSS.to_owned());
            own
        }
        _ => marks(pieces),
    }
}

fn is_nothing(piece: &str, pieces: &BTreeMap<String, usize>) -> bool {
    let has = |name: &str| pieces.contains_key(name);
    let n_pieces: usize = pieces.values().sum();
    let is_half = 2 * pieces[piece] > n_pieces;
    match piece {
        // `b` is blank beside `x` and `o`, but black beside `w`; beside others
        // it is blank if it covers most of the board at first.
        "b" if has("w") || has("white") => false,
        "b" if has("r") || has("red") || has("y") => is_half,
        "b" | "e" | "n" => pieces.len() > 1 && (pieces.len() > 2 || is_half),
        "0" => pieces.len() > 1 && is_half,
        _ => pieces.len() > 1 && NOTHING_NAMES.contains(&piece),
    }
}

/// The first letters of a piece's words: `last` letters of the last word, and `first` letters of
/// each word before it. A knight is an `n` beside the king, as in chess.
fn abbreviation(piece: &str, [first, last]: [usize; 2]) -> String {
    let words = words(piece);
    let Some((end, others)) = words.split_last() else { return piece.to_owned() };
    let end = match end.as_str() {
        "knight" => "night",
        end => end,
    };
    let beginnings = others.iter().flat_map(|word| word.chars().take(first));
    beginnings.chain(end.chars().take(last)).collect()
}

/// The words of a piece's name, in lower case: `white_pawn`, `whitePawn` and
/// `whitepawn` have two.
pub(super) fn words(piece: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut is_inside = false;
    for letter in piece.chars() {
        if !letter.is_alphanumeric() {
            is_inside = false;
            continue;
        }
        match words.last_mut() {
            Some(word) if is_inside && !letter.is_uppercase() => word.push(letter),
            _ => words.push(letter.to_lowercase().collect()),
        }
        is_inside = true;
    }
    if let [word] = words.as_slice()
        && let Some((colour, rest)) = COLOURS.iter().find_map(|colour| {
            word.strip_prefix(colour).filter(|rest| rest.len() > 2).map(|rest| (*colour, rest))
        })
    {
        return vec![colour.to_owned(), rest.to_owned()];
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(pieces: &str, expected: &str) {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        for piece in pieces.split(", ") {
            let (n, name) = piece.split_once(' ').unwrap();
            counts.insert(name.to_owned(), n.parse().unwrap());
        }
        let marks: Vec<String> =
            marks(&counts).iter().map(|(piece, mark)| format!("{piece}={mark}")).collect();
        assert_eq!(marks.join(", "), expected);
    }

    #[test]
    fn marks_are_short_and_distinct() {
        check(
            "8 white pawn, 1 white king, 2 white knight, 1 black king",
            "black king=bk, white king=wk, white knight=wn, white pawn=wp",
        );
        check("1 white_king, 1 white_kong", "white_king=wki, white_kong=wko");
        check("1 red, 1 yellow, 40 blank", "blank=., red=r, yellow=y");
        check(
            "1 whitePawn, 1 blackPawn, 1 cellOffLimits",
            "blackPawn=bp, cellOffLimits=col, whitePawn=wp",
        );
        check("1 whitepawn, 1 whiteking, 1 redness", "redness=rn, whiteking=wk, whitepawn=wp");
        check("1 abcdefg, 1 abcdefh", "abcdefg=abcdefg, abcdefh=abcdefh");
    }

    #[test]
    fn b_may_be_blank_or_black() {
        check("9 b, 0 x, 0 o", "b=., o=o, x=x");
        check("2 b, 2 w", "b=b, w=w");
        check("32 b, 12 wp, 12 bp, 0 wk, 0 bk", "b=., bk=bk, bp=bp, wk=wk, wp=wp");
        check("20 b, 4 r", "b=., r=r");
        check("4 b, 4 r", "b=b, r=r");
        check("1 b, 1 1, 1 2, 1 3", "1=1, 2=2, 3=3, b=.");
        check("5 b", "b=b");
    }
}
