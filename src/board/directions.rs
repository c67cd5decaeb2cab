//! Words that name a direction on the page.

use games::{Expression, Game};

/// What moves and steps are called before the direction: `move_north`, `goLeft`.
const VERBS: [&str; 9] = ["move", "go", "step", "slide", "push", "shift", "walk", "turn", "head"];

/// The words of one rulesheet that name directions.
#[derive(Clone, Debug, Default)]
pub(super) struct Directions {
    /// Names of roles, which are none: two players may be called `left` and `right`.
    roles: Vec<String>,
    /// Single letters do: `n`, `e`, `s`, `w` are all there.
    compass: bool,
    /// `u`, `d`, `l`, `r` are all there.
    arrows: bool,
}

impl Directions {
    /// The words of a game.
    pub(super) fn of(game: &Game) -> Self {
        let has = |letter: &&str| game.symbols().find(letter).is_some();
        Self {
            roles: game.roles().iter().map(|&role| game.symbols().name(role).to_owned()).collect(),
            compass: ["n", "e", "s", "w"].iter().all(has),
            arrows: ["u", "d", "l", "r"].iter().all(has),
        }
    }

    /// The way on the page that a name means: to the right and upwards, -1, 0 or 1
    /// each.
    pub(super) fn of_name(&self, name: &str) -> Option<[i32; 2]> {
        if self.roles.iter().any(|role| role == name) {
            return None;
        }
        let name: String =
            name.chars().filter(|c| c.is_alphabetic()).map(|c| c.to_ascii_lowercase()).collect();
        let verb = VERBS.iter().find_map(|verb| name.strip_prefix(verb));
        let word = verb.filter(|rest| !rest.is_empty()).unwrap_or(&name);
        match word {
            "n" | "e" | "s" | "w" if !self.compass => return None,
            "u" | "d" | "l" | "r" if !self.arrows => return None,
            _ => {}
        }
        let (first, rest) = plain(word)?;
        if rest.is_empty() {
            return Some(first);
        }
        let (second, rest) = plain(rest)?;
        let sum = [first[0] + second[0], first[1] + second[1]];
        let is_slant = rest.is_empty() && sum.iter().all(|part| part.abs() == 1);
        is_slant.then_some(sum)
    }

    /// The way that a term's only direction means, as [`Directions::of_name`] has it.
    pub(super) fn of_term(&self, term: &Expression) -> Option<[i32; 2]> {
        let mut found = None;
        let mut open = vec![term];
        while let Some(term) = open.pop() {
            match term {
                Expression::Atom(name) => {
                    if let Some(way) = self.of_name(name)
                        && found.replace(way).is_some()
                    {
                        return None;
                    }
                }
                Expression::List(items) => open.extend(items),
            }
        }
        found
    }
}

/// The direction that a word begins with, and what follows it.
fn plain(word: &str) -> Option<([i32; 2], &str)> {
    const WORDS: [(&str, [i32; 2]); 14] = [
        ("north", [0, 1]),
        ("south", [0, -1]),
        ("east", [1, 0]),
        ("west", [-1, 0]),
        ("up", [0, 1]),
        ("down", [0, -1]),
        ("right", [1, 0]),
        ("left", [-1, 0]),
        ("n", [0, 1]),
        ("s", [0, -1]),
        ("e", [1, 0]),
        ("w", [-1, 0]),
        ("u", [0, 1]),
        ("d", [0, -1]),
    ];
    const LETTERS: [(&str, [i32; 2]); 2] = [("l", [-1, 0]), ("r", [1, 0])];
    let words = WORDS.iter().chain(&LETTERS);
    words.into_iter().find_map(|&(name, way)| Some((way, word.strip_prefix(name)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, compass: bool, expected: Option<[i32; 2]>) {
        let directions = Directions { compass, ..Directions::default() };
        assert_eq!(directions.of_name(name), expected, "{name}");
    }

    #[test]
    fn names_of_directions_are_understood() {
        check("north", false, Some([0, 1]));
        check("East", false, Some([1, 0]));
        check("move_left", false, Some([-1, 0]));
        check("goDown", false, Some([0, -1]));
        check("northwest", false, Some([-1, 1]));
        check("up_right", false, Some([1, 1]));
        check("ne", false, Some([1, 1]));
        check("n", true, Some([0, 1]));
    }

    #[test]
    fn other_names_are_no_directions() {
        for name in ["n", "e", "noop", "west_coast", "upnorth", "leftover", "", "11", "move", "nn"]
        {
            check(name, false, None);
        }
    }

    #[test]
    fn a_role_is_no_direction() {
        let roles = vec!["left".to_owned(), "right".to_owned()];
        let directions = Directions { roles, ..Directions::default() };
        assert_eq!(directions.of_name("left"), None);
        assert_eq!(directions.of_name("up"), Some([0, 1]));
    }

    #[test]
    fn a_term_has_one_direction() {
        let way = |text: &str| Directions::default().of_term(&text.parse().unwrap());
        assert_eq!(way("(move robot east)"), Some([1, 0]));
        assert_eq!(way("east"), Some([1, 0]));
        assert_eq!(way("(tilt east west)"), None);
        assert_eq!(way("(mark 1 2)"), None);
    }
}
