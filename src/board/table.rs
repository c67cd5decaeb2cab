//! Tables: what the facts say of each role, or of each of other names, in a row for each.
//!
//! A column is a relation: its numbers (`counts`), what each has (`hands`), or whether it says
//! something of the row at all, as `(turn left)` does. In other tables each row is a relation:
//! things that are there or not (`tiles`), and numbers that stand alone. Tables are made only where
//! the facts show no grid.

use std::collections::{BTreeMap, BTreeSet};

use games::Expression;

use super::axis::Orders;
use super::relations::{Relation, Rows};
use super::show::{Show, line};
use super::tree_picture::TreePicture;
use super::{codes, counts, hands, tiles};

/// Maximum number of letters to which a word is shortened.
const MAX_SHORT: usize = 4;

/// Tables show at least one fact in `MIN_PART`.
const MIN_PART: usize = 3;

/// A table of facts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FactTable {
    /// Names of the rows, downwards.
    pub(super) rows: Vec<String>,
    pub(super) columns: Vec<String>,
    entries: Vec<Entry>,
    /// The words of what is listed, with what they are shortened to.
    short: BTreeMap<String, String>,
}

/// What the table shows of a relation.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    n_arguments: usize,
    row: RowOf,
    column: usize,
    show: Show,
}

/// The row of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RowOf {
    /// The one that its argument names.
    Argument(usize),
    Always(usize),
}

/// What is in a cell of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Nothing is there.
    Nothing,
    /// A few words.
    Text(String),
    /// A number of things.
    Bar {
        /// How many there are.
        number: usize,
        /// The digits of the largest number in this column.
        width: usize,
    },
    /// What is at each place of a row of things that are there or not, or in a list of them.
    Cards {
        /// `None` for what is not there.
        cards: Vec<Option<String>>,
        /// The letters of the longest name; 0 in a list.
        width: usize,
    },
    /// Several things in a row.
    Code {
        /// What they are called.
        names: Vec<String>,
        /// The letters of the longest name.
        width: usize,
    },
    /// The states of the game as a tree.
    Tree(TreePicture),
}

impl Shown {
    /// In letters.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Nothing => super::marks::NOTHING.to_owned(),
            Self::Text(text) => text.clone(),
            Self::Bar { number, width } => {
                let bar = "o".repeat(*number);
                format!("{number:>width$} {bar}").trim_end().to_owned()
            }
            Self::Cards { cards, width } => {
                let card = |card: &Option<String>| {
                    format!("{:<width$}", card.as_deref().unwrap_or(super::marks::NOTHING))
                };
                cards.iter().map(card).collect::<Vec<_>>().join(" ").trim_end().to_owned()
            }
            Self::Code { names, width } => {
                let names: Vec<String> =
                    names.iter().map(|name| format!("{name:<width$}")).collect();
                names.join(" ").trim_end().to_owned()
            }
            Self::Tree(tree) => tree.text(),
        }
    }
}

/// Whether the tables show enough to be worth their room: a fair share of what the positions say
/// besides whose turn it is, and the like.
pub(super) fn show_enough(tables: &[FactTable], positions: &[Vec<Expression>]) -> bool {
    let mut numbers: BTreeMap<Relation<'_>, Vec<usize>> = BTreeMap::new();
    let mut n_shown: BTreeMap<Relation<'_>, usize> = BTreeMap::new();
    for (at, facts) in positions.iter().enumerate() {
        for fact in facts {
            let relation = relation(fact);
            numbers.entry(relation).or_insert_with(|| vec![0; positions.len()])[at] += 1;
            let is_shown = tables.iter().any(|table| table.shows(fact));
            *n_shown.entry(relation).or_default() += usize::from(is_shown);
        }
    }
    numbers.retain(|_, numbers| numbers.iter().any(|&number| number != 1));
    let n_facts: usize = numbers.values().flatten().sum();
    let n_shown: usize = numbers.keys().map(|relation| n_shown[relation]).sum();
    !tables.is_empty() && n_shown * MIN_PART >= n_facts
}

fn relation(fact: &Expression) -> Relation<'_> {
    match fact {
        Expression::Atom(name) => (name, 0),
        Expression::List(items) => match items.split_first() {
            Some((Expression::Atom(name), arguments)) => (name, arguments.len()),
            _ => ("", 0),
        },
    }
}

/// The tables of the relations of one to four arguments.
pub(super) fn tables(
    relations: &BTreeMap<Relation<'_>, Rows<'_>>,
    roles: &[String],
    orders: &Orders,
) -> Vec<FactTable> {
    let mut tables: Vec<FactTable> = Vec::new();
    tables.extend(by_role(relations, roles, orders));
    let is_role = |name: &String| roles.contains(name);
    let is_of_roles = |relation: Relation<'_>, rows: &Rows<'_>| {
        rows.owner(relation.1, roles, 1).is_some() || rows.values(0).iter().all(is_role)
    };
    let others: BTreeMap<Relation<'_>, &Rows<'_>> = relations
        .iter()
        .filter(|(relation, rows)| !is_of_roles(**relation, rows))
        .map(|(&relation, rows)| (relation, rows))
        .collect();
    tables.extend(by_key(&others, orders));
    let is_free = |relation: Relation<'_>| {
        others.contains_key(&relation) && !tables.iter().any(|table| table.has(relation))
    };
    let tiles = tiles::tiles(relations, &is_free, orders);
    tables.extend(tiles.into_iter().map(|(names, show)| {
        FactTable::of_rows(names.iter().map(|name| ((name.as_str(), 1), show.clone())))
    }));
    if tables.is_empty() {
        return tables;
    }
    let is_free = |relation: Relation<'_>| {
        others.contains_key(&relation) && !tables.iter().any(|table| table.has(relation))
    };
    let alone: Vec<(Relation<'_>, Show)> = others
        .iter()
        .filter(|(relation, _)| relation.1 == 1 && is_free(**relation))
        .filter_map(|(relation, rows)| Some((*relation, counts::alone(rows)?)))
        .collect();
    if !alone.is_empty() {
        tables.push(FactTable::of_rows(alone.into_iter()));
    }
    tables
}

/// The table of the relations that are codes; `None` if there are none.
pub(super) fn codes(relations: &BTreeMap<Relation<'_>, Rows<'_>>) -> Option<FactTable> {
    let code = |(&relation, rows)| Some((relation, codes::code(relation, rows)?));
    let codes: Vec<(Relation<'_>, Show)> = relations.iter().filter_map(code).collect();
    (!codes.is_empty()).then(|| FactTable::of_rows(codes.into_iter()))
}

/// The table of what the facts say of each role.
fn by_role(
    relations: &BTreeMap<Relation<'_>, Rows<'_>>,
    roles: &[String],
    orders: &Orders,
) -> Option<FactTable> {
    let mut found: Vec<(Relation<'_>, usize, Show)> = Vec::new();
    let mut has_several = false;
    for (&relation, rows) in relations {
        if relation.1 == 1 {
            if rows.values(0).iter().all(|name| roles.contains(name)) {
                has_several |= rows.played.iter().any(|facts| facts.len() > 1);
                found.push((relation, 0, Show::Flag));
            }
        } else if let Some(owner) = rows.owner(relation.1, roles, 2) {
            let show = counts::numbers(rows, owner).or_else(|| hands::hand(rows, owner, orders));
            found.extend(show.map(|show| (relation, owner, show)));
        }
    }
    let has_more = found.iter().any(|(.., show)| *show != Show::Flag);
    let is_table = roles.len() > 1 && (has_more || (has_several && found.len() > 1));
    is_table.then(|| FactTable::of_columns(roles.to_vec(), found))
}

/// The tables of numbers by other keys.
fn by_key(relations: &BTreeMap<Relation<'_>, &Rows<'_>>, orders: &Orders) -> Vec<FactTable> {
    let found = relations.iter().filter(|(relation, _)| relation.1 == 2);
    let found = found.filter_map(|(&relation, rows)| {
        let (key, keys, show) = counts::keyed(rows)?;
        Some((keys, (relation, key, show)))
    });
    let mut groups: BTreeMap<BTreeSet<String>, Vec<_>> = BTreeMap::new();
    for (keys, relation) in found {
        groups.entry(keys).or_default().push(relation);
    }
    // What never changes may be a map of the world.
    groups
        .retain(|_, found| found.iter().any(|(relation, ..)| counts::changes(relations[relation])));
    let table = |(keys, mut found): (BTreeSet<String>, Vec<(Relation<'_>, usize, Show)>)| {
        let flags = relations.iter().filter(|(relation, _)| relation.1 == 1);
        let flags = flags.filter(|(_, rows)| {
            let names = rows.values(0);
            names.len() > 1 && names.is_subset(&keys)
        });
        found.extend(flags.map(|(&relation, _)| (relation, 0, Show::Flag)));
        FactTable::of_columns(line(&keys, orders).0, found)
    };
    groups.into_iter().map(table).collect()
}

impl FactTable {
    /// A column for each relation, those that show most first.
    fn of_columns(rows: Vec<String>, mut relations: Vec<(Relation<'_>, usize, Show)>) -> Self {
        relations.sort_by_key(|(.., show)| match show {
            Show::Slots(_) => 0,
            Show::Words(_) | Show::Code { .. } => 1,
            Show::Number { .. } => 2,
            Show::Flag => 3,
        });
        let columns = relations.iter().map(|((name, _), ..)| (*name).to_owned()).collect();
        let entries = relations.into_iter().enumerate();
        let entries = entries.map(|(column, ((name, n_arguments), key, show))| Entry {
            name: name.to_owned(),
            n_arguments,
            row: RowOf::Argument(key),
            column,
            show,
        });
        Self::new(rows, columns, entries.collect())
    }

    /// A row for each relation.
    fn of_rows<'a>(relations: impl Iterator<Item = (Relation<'a>, Show)>) -> Self {
        let entries: Vec<Entry> = relations
            .enumerate()
            .map(|(row, ((name, n_arguments), show))| Entry {
                name: name.to_owned(),
                n_arguments,
                row: RowOf::Always(row),
                column: 0,
                show,
            })
            .collect();
        let rows = entries.iter().map(|entry| entry.name.clone()).collect();
        Self::new(rows, vec![String::new()], entries)
    }

    fn new(rows: Vec<String>, columns: Vec<String>, entries: Vec<Entry>) -> Self {
        let short = short(&entries);
        Self { rows, columns, entries, short }
    }

    fn has(&self, (name, n_arguments): Relation<'_>) -> bool {
        self.entries.iter().any(|entry| entry.name == name && entry.n_arguments == n_arguments)
    }

    /// Row, column and other arguments of a fact; `None` if the table does not show it.
    fn locate(&self, fact: &Expression) -> Option<(usize, &Entry, Vec<String>)> {
        let Expression::List(items) = fact else { return None };
        let (Expression::Atom(name), arguments) = items.split_first()? else { return None };
        let is_of = |entry: &&Entry| entry.name == *name && entry.n_arguments == arguments.len();
        let entry = self.entries.iter().find(is_of)?;
        let mut rest: Vec<String> = arguments.iter().map(ToString::to_string).collect();
        let row = match entry.row {
            RowOf::Always(row) => row,
            RowOf::Argument(at) => {
                let key = rest.remove(at);
                self.rows.iter().position(|row| *row == key)?
            }
        };
        let has_place = match (&entry.show, rest.as_slice()) {
            (Show::Slots(order), [name]) => order.contains(name),
            _ => true,
        };
        has_place.then_some((row, entry, rest))
    }

    /// Whether the table shows a fact.
    pub(super) fn shows(&self, fact: &Expression) -> bool {
        self.locate(fact).is_some()
    }

    /// What is in each cell, a row for each of [`FactTable::rows`].
    pub(super) fn cells(&self, facts: &[Expression]) -> Vec<Vec<Vec<String>>> {
        let mut found = vec![vec![Vec::new(); self.columns.len()]; self.rows.len()];
        for (row, entry, rest) in facts.iter().filter_map(|fact| self.locate(fact)) {
            let rank = |(at, word): (usize, &String)| match &entry.show {
                Show::Words(orders) => orders[at].iter().position(|other| other == word),
                Show::Slots(order) => order.iter().position(|other| other == word),
                Show::Number { .. } | Show::Code { .. } | Show::Flag => None,
            };
            let ranks: Vec<Option<usize>> = rest.iter().enumerate().map(rank).collect();
            found[row][entry.column].push((ranks, rest.join(" ")));
        }
        let sorted = |mut cell: Vec<(Vec<Option<usize>>, String)>| {
            cell.sort();
            cell.into_iter().map(|(_, text)| text).collect()
        };
        found.into_iter().map(|row| row.into_iter().map(sorted).collect()).collect()
    }

    /// How the content of a cell is shown.
    pub(super) fn shown(&self, row: usize, column: usize, content: &[String]) -> Shown {
        let is_here = |entry: &&Entry| {
            entry.column == column
                && match entry.row {
                    RowOf::Always(at) => at == row,
                    RowOf::Argument(_) => true,
                }
        };
        let entry = self.entries.iter().find(is_here);
        let text = || content.join(", ");
        match entry.map(|entry| &entry.show) {
            Some(Show::Slots(order)) => {
                let slot = |name: &String| content.contains(name).then(|| name.clone());
                let width = order.iter().map(|name| name.chars().count()).max().unwrap_or(1);
                Shown::Cards { cards: order.iter().map(slot).collect(), width }
            }
            _ if content.is_empty() => Shown::Nothing,
            Some(Show::Flag) => Shown::Text("x".to_owned()),
            Some(&Show::Code { width }) => {
                let names = content.iter().flat_map(|words| words.split(' '));
                Shown::Code { names: names.map(str::to_owned).collect(), width }
            }
            Some(&Show::Number { width, has_bar }) => match text().parse() {
                Ok(number) if has_bar && number <= counts::MAX_BAR as usize => {
                    Shown::Bar { number, width }
                }
                _ => Shown::Text(format!("{:>width$}", text())),
            },
            Some(Show::Words(_)) if content.len() > 1 => {
                let cards = content.iter().map(|words| Some(self.mark(words))).collect();
                Shown::Cards { cards, width: 0 }
            }
            _ => Shown::Text(content.iter().map(|words| self.mark(words)).collect()),
        }
    }

    /// Several words with each shortened; between two numbers there is a hyphen.
    fn mark(&self, words: &str) -> String {
        let mut mark = String::new();
        for word in words.split(' ') {
            let word = self.short.get(word).map_or(word, String::as_str);
            let is_digit = |letter: Option<char>| letter.is_some_and(|one| one.is_ascii_digit());
            if is_digit(mark.chars().next_back()) && is_digit(word.chars().next()) {
                mark.push('-');
            }
            mark.push_str(word);
        }
        mark
    }

    /// What the shortened words stand for.
    pub(super) fn legend(&self) -> Vec<String> {
        let mut legend: Vec<String> =
            self.short.iter().map(|(word, short)| format!("{short} {word}")).collect();
        legend.sort();
        legend
    }
}

/// The words of things that are named by several words, each with its first letters.
fn short(entries: &[Entry]) -> BTreeMap<String, String> {
    let words_of = |entry: &Entry| match &entry.show {
        Show::Words(orders) if orders.len() > 1 => orders.concat(),
        _ => vec![],
    };
    let is_word = |word: &String| word.parse::<u32>().is_err();
    let words: BTreeSet<String> = entries.iter().flat_map(words_of).filter(is_word).collect();
    let shortened = |length: usize| -> BTreeMap<String, String> {
        words.iter().map(|word| (word.clone(), word.chars().take(length).collect())).collect()
    };
    let is_distinct = |short: &BTreeMap<String, String>| {
        short.values().collect::<BTreeSet<_>>().len() == short.len()
    };
    let mut short = (1..=MAX_SHORT).map(shortened).find(is_distinct).unwrap_or_default();
    short.retain(|word, short| word != short);
    short
}
