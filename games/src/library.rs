//! The rulesheets that come with the program, embedded in it by name.
//!
//! A new rulesheet is a file in `games/rulesheets` and its name in the list below; a test
//! compares the two.

/// A rulesheet that comes with the program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shipped {
    /// Its name, the stem of its file.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

impl Shipped {
    /// The first comment line of the rulesheet that has any words; empty if there is
    /// none.
    #[must_use]
    pub fn title(&self) -> &'static str {
        let comments = self.text.lines().filter_map(|line| line.trim().strip_prefix(';'));
        let titles = comments.map(|line| line.trim_matches([';', ' ', '\t']));
        let title = titles.into_iter().find(|title| !title.is_empty()).unwrap_or("");
        // Games of hidden information name their language first.
        title.strip_prefix("GDL-II").map_or(title, |rest| rest.trim_start_matches(['.', ':', ' ']))
    }
}

macro_rules! shipped {
    ($($name:literal)*) => {
        &[$(Shipped { name: $name, text: include_str!(concat!("../rulesheets/", $name, ".kif")) }),*]
    };
}

/// In alphabetical order.
const SHIPPED: &[Shipped] = shipped![
    "aima_two_ply"
    "amazons_6x6"
    "battleships"
    "bidding_tic_tac_toe"
    "blind_tic_tac_toe"
    "blocks_world"
    "breakthrough"
    "breakthrough_5x5"
    "breakthrough_6x6"
    "buttons_and_lights"
    "checkers"
    "checkers_6x6"
    "coin_flip"
    "connect_four"
    "connect_four_4x4"
    "connect_four_5x5"
    "connect_three"
    "dice_tree"
    "dice_tree_linear"
    "dice_tree_stretched"
    "domineering"
    "dots_and_boxes"
    "eight_puzzle_course"
    "eight_puzzle_seed"
    "eight_queens"
    "endless_tree"
    "fifteen_puzzle"
    "fishery"
    "four_card_whist"
    "go_5x5"
    "go_7x7"
    "goofspiel"
    "goofspiel_sealed"
    "hanoi"
    "hanoi_small"
    "hex"
    "hex_4x4"
    "hex_5x5"
    "hidden_hands"
    "knights_tour"
    "kuhn_poker"
    "kuhn_poker_three_players"
    "leduc_poker"
    "liars_dice"
    "lights_out"
    "los_alamos_chess"
    "ludo"
    "mastermind"
    "matching_pennies"
    "maze"
    "minesweeper"
    "mini_backgammon"
    "minichess"
    "missionaries_and_cannibals"
    "monty_hall"
    "nim"
    "nim_misere"
    "odd_one_out"
    "order_tree"
    "order_tree_stretched"
    "othello"
    "othello_4x4"
    "othello_6x6"
    "partner_signalling"
    "partner_whist"
    "peg_solitaire"
    "peg_solitaire_triangle"
    "phantom_connect_four"
    "pig"
    "pirate_gold"
    "prisoners_dilemma"
    "rock_paper_scissors"
    "sealed_auction"
    "separate_lights"
    "shut_the_box"
    "six_mens_morris"
    "sokoban"
    "tic_tac_toe"
    "tic_tac_toe_four_players"
    "tic_tac_toe_three_players"
    "tron"
    "tron_four_players"
    "truel"
    "two_roads"
    "two_roads_ask"
    "two_roads_known_left"
    "two_roads_known_right"
    "wumpus_world"
];

/// All of them, by name.
#[must_use]
pub fn all() -> &'static [Shipped] {
    SHIPPED
}

/// Their names, in alphabetical order.
pub fn names() -> impl Iterator<Item = &'static str> {
    SHIPPED.iter().map(|shipped| shipped.name)
}

/// The one of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Shipped> {
    SHIPPED.iter().find(|shipped| shipped.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Case, Leniency};

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the folder is what the list is held against")]
    fn the_list_is_the_folder() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("rulesheets");
        let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let rulesheets = entries.filter(|path| path.extension().is_some_and(|it| it == "kif"));
        let mut stems: Vec<String> =
            rulesheets.map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned()).collect();
        stems.sort();
        assert_eq!(names().collect::<Vec<_>>(), stems);
    }

    #[test]
    fn shipped_rulesheets_are_without_fault() {
        for shipped in all() {
            let read = crate::validate::read;
            let validation = read(shipped.name, shipped.text, Case::Folded, Leniency::Strict);
            // Games of chance in the open are shipped on purpose.
            let findings = validation.findings.iter().filter(|it| it.code != "chance-in-the-open");
            let lines = findings.map(|finding| finding.line(shipped.text));
            assert_eq!(lines.collect::<Vec<_>>(), [""; 0], "{}", shipped.name);
            assert!(!shipped.title().is_empty(), "{} has a title", shipped.name);
            assert_eq!(find(shipped.name), Some(shipped));
        }
    }
}
