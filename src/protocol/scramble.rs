//! Hiding a game's vocabulary: a seeded one-to-one map from the words of a
//! rulesheet to invented ones.
//!
//! Keywords, `random` and numbers stay. Variables get words too. The same map
//! serves all players of a match, and records keep the original words.

use std::collections::{BTreeMap, BTreeSet};

use games::{Case, Expression};
use rand::Rng;
use rand_pcg::Pcg64Mcg;

/// Words that mean something to every reader of GDL.
const PROTECTED: [&str; 20] = [
    "role", "base", "input", "init", "true", "does", "next", "legal", "goal", "terminal",
    "distinct", "not", "or", "and", "<=", "sees", "sees_xml", "gdl", "random", "nil",
];

/// A map between the words of a game and invented ones.
#[derive(Clone, Debug)]
pub struct Scrambler {
    case: Case,
    scrambled: BTreeMap<String, String>,
    original: BTreeMap<String, String>,
}

impl Scrambler {
    /// A map for the words of `rules`, drawn from `rng`.
    #[must_use]
    pub fn new(rules: &[Expression], case: Case, mut rng: Pcg64Mcg) -> Self {
        let mut words = Vec::new();
        let mut seen = BTreeSet::new();
        for rule in rules {
            collect(rule, case, &mut seen, &mut words);
        }
        // An invented word is none of the original ones, in whatever case.
        let mut taken: BTreeSet<String> =
            words.iter().map(|word| word.trim_start_matches('?').to_ascii_lowercase()).collect();
        let mut scrambler = Self { case, scrambled: BTreeMap::new(), original: BTreeMap::new() };
        for word in words {
            let mark = if word.starts_with('?') { "?" } else { "" };
            let invented = format!("{mark}{}", invent(&mut taken, &mut rng));
            scrambler.original.insert(invented.clone(), word.clone());
            scrambler.scrambled.insert(key(&word, case), invented);
        }
        scrambler
    }

    /// `expression` in invented words; words that are not in the rules stay.
    #[must_use]
    pub fn scramble(&self, expression: &Expression) -> Expression {
        match expression {
            Expression::Atom(name) => {
                let found = self.scrambled.get(&key(name, self.case));
                Expression::atom(found.unwrap_or(name).as_str())
            }
            Expression::List(items) => {
                Expression::List(items.iter().map(|item| self.scramble(item)).collect())
            }
        }
    }

    /// The original of `expression`, whose words may be in any case. `None` if
    /// some word was neither invented here nor is protected.
    #[must_use]
    pub fn unscramble(&self, expression: &Expression) -> Option<Expression> {
        match expression {
            Expression::Atom(name) => {
                if is_protected(name) {
                    return Some(Expression::atom(name.to_ascii_lowercase()));
                }
                self.original.get(&name.to_ascii_lowercase()).map(Expression::atom)
            }
            Expression::List(items) => {
                let items: Option<Vec<_>> =
                    items.iter().map(|item| self.unscramble(item)).collect();
                items.map(Expression::List)
            }
        }
    }
}

fn collect(
    expression: &Expression,
    case: Case,
    seen: &mut BTreeSet<String>,
    words: &mut Vec<String>,
) {
    match expression {
        Expression::Atom(name) => {
            if !is_protected(name) && seen.insert(key(name, case)) {
                words.push(name.clone());
            }
        }
        Expression::List(items) => {
            for item in items {
                collect(item, case, seen, words);
            }
        }
    }
}

fn key(name: &str, case: Case) -> String {
    match case {
        Case::Folded => name.to_ascii_lowercase(),
        Case::Sensitive => name.to_owned(),
    }
}

fn is_protected(name: &str) -> bool {
    PROTECTED.iter().any(|word| word.eq_ignore_ascii_case(name)) || is_integer(name)
}

/// What Java's `Integer.parseInt` takes, of any length: `07`, `-3`, `+5`.
fn is_integer(name: &str) -> bool {
    let digits = name.strip_prefix(['+', '-']).unwrap_or(name);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// A word of two to four syllables that was not taken, and now is.
fn invent(taken: &mut BTreeSet<String>, rng: &mut Pcg64Mcg) -> String {
    const CONSONANTS: &[u8] = b"bdfgklmnprstvz";
    const VOWELS: &[u8] = b"aeiou";
    let mut n_syllables = 2 + (rng.next_u32() % 2) as usize;
    loop {
        let mut word = String::new();
        for _ in 0..n_syllables {
            word.push(char::from(CONSONANTS[rng.next_u32() as usize % CONSONANTS.len()]));
            word.push(char::from(VOWELS[rng.next_u32() as usize % VOWELS.len()]));
        }
        if taken.insert(word.clone()) {
            return word;
        }
        n_syllables = 4.max(n_syllables + 1).min(12);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{MoveReading, Reading, read_move};

    const RULES: &str = "((role xplayer) (role random) (init (cell 1 -2 blank)) (init (cell 07 +5 Blank))
        (<= (legal ?who (mark ?m)) (true (cell ?m ?x blank)) (not (sees ?who ?x)) (distinct ?m ?x)))";

    fn rules(text: &str) -> Vec<Expression> {
        match Expression::parse(text).unwrap() {
            Expression::List(items) => items,
            Expression::Atom(_) => unreachable!("the text is a list"),
        }
    }

    fn scrambler(seed: u128) -> Scrambler {
        Scrambler::new(&rules(RULES), Case::Folded, Pcg64Mcg::new(seed))
    }

    #[test]
    fn no_word_leaks_but_keywords_and_numbers() {
        let scrambler = scrambler(7);
        let text: Vec<String> =
            rules(RULES).iter().map(|rule| scrambler.scramble(rule).to_string()).collect();
        let text = text.join(" ");
        for word in ["xplayer", "cell", "lank", "who", "mark", "?m", "?x"] {
            assert!(!text.contains(word), "{word} leaks into {text}");
        }
        for word in [
            "(role random)",
            "init",
            "<=",
            "legal",
            "true",
            "not",
            "sees",
            "distinct",
            " 1 ",
            "-2",
            "07",
            "+5",
        ] {
            assert!(text.contains(word), "{word} is missing from {text}");
        }
    }

    #[test]
    fn scrambling_can_be_undone_in_any_case() {
        let scrambler = scrambler(8);
        for rule in rules(&RULES.replace("Blank", "blank")) {
            let scrambled = scrambler.scramble(&rule);
            assert_eq!(scrambler.unscramble(&scrambled).as_ref(), Some(&rule));
            let upper = Expression::parse(&scrambled.to_string().to_uppercase()).unwrap();
            assert_eq!(scrambler.unscramble(&upper), Some(rule));
        }
    }

    #[test]
    fn the_seed_decides() {
        let words = |seed| scrambler(seed).scrambled;
        assert_eq!(words(1), words(1));
        assert_ne!(words(1), words(2));
    }

    #[test]
    fn original_words_are_no_moves() {
        let scrambler = scrambler(9);
        let legal = [Expression::parse("(mark 1)").unwrap()];
        let read = |reply: &str| {
            [Reading::Strict, Reading::Lenient]
                .map(|reading| read_move(reply, legal.iter(), reading, Some(&scrambler)))
        };
        let scrambled = scrambler.scramble(&legal[0]).to_string();
        assert_eq!(read(&scrambled), [MoveReading::Legal(0); 2]);
        assert_eq!(read("(mark 1)"), [MoveReading::Illegal; 2]);
        let decorated = format!("((move {scrambled}) (taunt (you lose)))");
        assert_eq!(read(&decorated), [MoveReading::Unreadable, MoveReading::Legal(0)]);
    }
}
