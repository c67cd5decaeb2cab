//! Whether the rules count steps: facts that change in the same way whatever is played, and
//! end the game after some steps.
//!
//! A relation of facts runs by itself if its `next` rules depend only on constants and on
//! relations that run by themselves, not on moves. Together with the `terminal` rules that
//! depend only on such facts they are a game in which nobody chooses, and if that game ends
//! after some steps, the whole game ends by then.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::symbol::SymbolId;
use crate::{
    Expression, Game, Guards, Leniency, Prover, ReasoningError, State, StateMachine as _, Symbols,
    validate,
};

/// Longest count that is followed.
const MAX_STEPS: u32 = 10_000;

/// The end of a game by a count of its steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepCounter {
    /// Steps after which play has ended, at the latest.
    pub steps: u32,
    /// The facts that end it then.
    pub facts: Vec<Expression>,
}

/// The count of steps that ends the game, if its rules have one. Sufficient, not necessary:
/// play may have to end without it.
///
/// ```
/// use games::{Case, Leniency, library, step_counter, validate};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = library::find("checkers_6x6").ok_or("it is shipped")?.text;
/// let validation = validate::read("checkers_6x6", text, Case::Folded, Leniency::Strict);
/// let counter = step_counter::find(&validation.game.ok_or("it is valid")?)?;
/// let counter = counter.ok_or("it has a clock")?;
/// assert_eq!(counter.steps, 100);
/// assert_eq!(counter.facts[0].to_string(), "(clock 10 0)");
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// If the reasoner fails.
pub fn find(game: &Game) -> Result<Option<StepCounter>, ReasoningError> {
    let rules = Dependencies::of(game);
    let Some((text, counted)) = rules.reduced(game) else { return Ok(None) };
    let read = validate::read(game.name(), &text, game.symbols().case(), Leniency::Lenient);
    // What is left out may leave a rule that is no rule any more; then nothing is known.
    let Some(reduced) = read.game else { return Ok(None) };
    let mut machine = Prover::new(Arc::new(reduced), Guards::default())?;
    let mut state = machine.initial_state()?;
    let mut met = BTreeSet::new();
    for steps in 0..=MAX_STEPS {
        if machine.is_terminal(&state)? {
            let symbols = game.symbols();
            let is_counted = |fact: &Expression| {
                name(fact)
                    .and_then(|name| symbols.find(name))
                    .is_some_and(|id| counted.contains(&id))
            };
            let facts = machine.facts(&state).into_iter().filter(is_counted).collect();
            return Ok(Some(StepCounter { steps, facts }));
        }
        if !met.insert(machine.key(&state)) {
            break;
        }
        let mut joint_move = Vec::new();
        let mut legal = Vec::new();
        for role in machine.game().role_ids() {
            machine.legal_moves(&state, role, &mut legal)?;
            joint_move.extend(legal.first());
        }
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next)?;
        state = next;
    }
    Ok(None)
}

/// The name of a fact's or sentence's relation.
fn name(sentence: &Expression) -> Option<&str> {
    match sentence {
        Expression::Atom(name) => Some(name),
        Expression::List(items) => match items.first() {
            Some(Expression::Atom(name)) => Some(name),
            _ => None,
        },
    }
}

/// What the head of a rule defines.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Head {
    Init(SymbolId),
    Next(SymbolId),
    Terminal,
    Role,
    Relation(SymbolId),
    /// `legal`, `goal` and others that no count of steps needs, and what cannot be read.
    Other,
}

/// A rule, and what it depends on.
struct Rule<'g> {
    form: &'g Expression,
    head: Head,
    /// Relations of facts in `true`.
    facts: BTreeSet<SymbolId>,
    /// Other relations.
    relations: BTreeSet<SymbolId>,
    /// Whether it depends on moves, or on something that cannot be told.
    is_open: bool,
}

/// The rules of a game, and which of their relations depend on moves.
struct Dependencies<'g> {
    rules: Vec<Rule<'g>>,
    open_facts: BTreeSet<SymbolId>,
    open_relations: BTreeSet<SymbolId>,
}

impl<'g> Dependencies<'g> {
    fn of(game: &'g Game) -> Self {
        let rules: Vec<Rule<'_>> =
            game.forms().iter().map(|form| rule(form, game.symbols())).collect();
        let mut found =
            Self { rules, open_facts: BTreeSet::new(), open_relations: BTreeSet::new() };
        // A fact whose relation is not known may be any.
        if found.rules.iter().any(|rule| rule.head == Head::Other && is_next(rule.form)) {
            found.open_facts.extend(found.rules.iter().flat_map(|rule| rule.facts.iter().copied()));
        }
        loop {
            let n_open = found.open_facts.len() + found.open_relations.len();
            for at in 0..found.rules.len() {
                if found.is_open(&found.rules[at]) {
                    match found.rules[at].head {
                        Head::Next(fact) | Head::Init(fact) => found.open_facts.insert(fact),
                        Head::Relation(relation) => found.open_relations.insert(relation),
                        _ => false,
                    };
                }
            }
            if n_open == found.open_facts.len() + found.open_relations.len() {
                return found;
            }
        }
    }

    fn is_open(&self, rule: &Rule<'_>) -> bool {
        rule.is_open
            || !rule.facts.is_disjoint(&self.open_facts)
            || !rule.relations.is_disjoint(&self.open_relations)
    }

    /// The rules of what runs by itself, as a game without choices, and the relations of
    /// facts that its ends depend on; `None` if no end does.
    fn reduced(&self, game: &Game) -> Option<(String, BTreeSet<SymbolId>)> {
        let is_kept = |rule: &&Rule<'_>| match rule.head {
            Head::Role => true,
            Head::Init(fact) | Head::Next(fact) => !self.open_facts.contains(&fact),
            Head::Relation(relation) => !self.open_relations.contains(&relation),
            Head::Terminal => !self.is_open(rule),
            Head::Other => false,
        };
        let kept: Vec<&Rule<'_>> = self.rules.iter().filter(is_kept).collect();
        let mut counted = BTreeSet::new();
        let mut reached = BTreeSet::new();
        let ends = kept.iter().filter(|rule| rule.head == Head::Terminal);
        let mut open: Vec<&Rule<'_>> = ends.copied().collect();
        while let Some(rule) = open.pop() {
            counted.extend(&rule.facts);
            for &relation in &rule.relations {
                if reached.insert(relation) {
                    let defines = |it: &&&Rule<'_>| it.head == Head::Relation(relation);
                    open.extend(kept.iter().filter(defines).copied());
                }
            }
        }
        if counted.is_empty() {
            return None;
        }
        let mut text = String::new();
        for rule in kept {
            text += &rule.form.to_string();
            text.push('\n');
        }
        for &role in game.roles() {
            let role = game.symbols().name(role);
            text += &format!("(legal {role} wait) (goal {role} 0)\n");
        }
        Some((text, counted))
    }
}

fn is_next(form: &Expression) -> bool {
    match form {
        Expression::List(items) => items.iter().take(2).any(|item| {
            matches!(item, Expression::List(head) if head.first().is_some_and(|it| is_word(it, "next")))
        }),
        Expression::Atom(_) => false,
    }
}

fn is_word(item: &Expression, word: &str) -> bool {
    matches!(item, Expression::Atom(name) if name.eq_ignore_ascii_case(word))
}

fn rule<'g>(form: &'g Expression, symbols: &Symbols) -> Rule<'g> {
    let (head, body): (&Expression, &[Expression]) = match form {
        Expression::List(items) if items.first().is_some_and(|it| is_word(it, "<=")) => {
            match items.get(1..) {
                Some([head, body @ ..]) => (head, body),
                _ => (form, &[]),
            }
        }
        _ => (form, &[]),
    };
    let mut rule = Rule {
        form,
        head: read_head(head, symbols),
        facts: BTreeSet::new(),
        relations: BTreeSet::new(),
        is_open: false,
    };
    for condition in body {
        depend(condition, symbols, &mut rule);
    }
    rule
}

fn read_head(head: &Expression, symbols: &Symbols) -> Head {
    let id = |of: &Expression| {
        name(of).filter(|name| !name.starts_with('?')).and_then(|name| symbols.find(name))
    };
    let argument = || match head {
        Expression::List(items) => items.get(1).and_then(id),
        Expression::Atom(_) => None,
    };
    match name(head).unwrap_or_default().to_ascii_lowercase().as_str() {
        "init" => argument().map_or(Head::Other, Head::Init),
        "next" => argument().map_or(Head::Other, Head::Next),
        "terminal" => Head::Terminal,
        "role" => Head::Role,
        "legal" | "goal" | "base" | "input" | "sees" => Head::Other,
        _ => id(head).map_or(Head::Other, Head::Relation),
    }
}

/// Adds what a condition depends on.
fn depend(condition: &Expression, symbols: &Symbols, rule: &mut Rule<'_>) {
    let items: &[Expression] = match condition {
        Expression::List(items) => items,
        atom @ Expression::Atom(_) => std::slice::from_ref(atom),
    };
    let word = name(condition).unwrap_or_default().to_ascii_lowercase();
    let find = |of: &Expression| name(of).and_then(|name| symbols.find(name));
    match word.as_str() {
        "not" | "or" | "and" => items[1..].iter().for_each(|it| depend(it, symbols, rule)),
        "distinct" | "role" => {}
        "true" => match items.get(1).filter(|it| !is_variable(it)).and_then(find) {
            Some(fact) => _ = rule.facts.insert(fact),
            None => rule.is_open = true,
        },
        "does" | "legal" | "goal" | "terminal" | "sees" | "next" | "init" | "base" | "input" => {
            rule.is_open = true;
        }
        _ => match find(condition) {
            Some(relation) => _ = rule.relations.insert(relation),
            None => rule.is_open = true,
        },
    }
}

fn is_variable(term: &Expression) -> bool {
    matches!(term, Expression::Atom(name) if name.starts_with('?'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Case, library};

    fn counter(name: &str, text: &str) -> Option<StepCounter> {
        let game = validate::read(name, text, Case::Folded, Leniency::Strict).game.unwrap();
        find(&game).unwrap()
    }

    fn shipped(name: &str) -> Option<u32> {
        counter(name, library::find(name).unwrap().text).map(|counter| counter.steps)
    }

    #[test]
    fn clocks_of_shipped_games_are_found() {
        assert_eq!(shipped("los_alamos_chess"), Some(120));
        assert_eq!(shipped("endless_tree"), Some(100));
        assert_eq!(shipped("six_mens_morris"), Some(120));
        // The board fills up; nothing counts.
        assert_eq!(shipped("tic_tac_toe"), None);
        assert_eq!(shipped("nim"), None);
    }

    const FRAME: &str = "(role you) (init (step 0)) (init (lamp off)) (succ 0 1) (succ 1 2) (succ 2 3)
        (legal you push) (legal you wait) (goal you 100)
        (<= (next (lamp on)) (does you push)) (<= (next (lamp ?x)) (true (lamp ?x)) (does you wait))";

    #[test]
    fn only_what_no_move_changes_counts() {
        let step = "(<= (next (step ?y)) (true (step ?x)) (succ ?x ?y))";
        let check = |rules: &str, expected: Option<u32>| {
            let found = counter("lamp", &format!("{FRAME} {rules}"));
            assert_eq!(found.map(|counter| counter.steps), expected, "{rules}");
        };
        check(&format!("{step} (<= terminal (true (step 3)))"), Some(3));
        // By way of another relation, and with a second end that depends on moves.
        let late = "(<= late (true (step ?x)) (not (early ?x))) (early 0) (early 1)";
        check(&format!("{step} {late} (<= terminal late) (<= terminal (true (lamp on)))"), Some(2));
        // An end that needs the lamp does not count.
        check(&format!("{step} (<= terminal (true (step 3)) (true (lamp on)))"), None);
        // A counter that waits for a move does not count.
        let waiting = "(<= (next (step ?y)) (true (step ?x)) (succ ?x ?y) (does you push))
            (<= (next (step ?x)) (true (step ?x)) (does you wait))";
        check(&format!("{waiting} (<= terminal (true (step 3)))"), None);
        // Nor does one that goes in a circle.
        let circle = "(succ 3 0) (last 9)";
        check(&format!("{step} {circle} (<= terminal (true (step ?x)) (last ?x))"), None);
    }
}
