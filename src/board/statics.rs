//! Relations between cells that the rules state once and for all, written out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use games::rule::{Literal, Rule};
use games::{Expression, Game, Guards, Leniency, Prover, Rulesheet, StateMachine as _, SymbolId};

/// Numbers of arguments of a relation between two cells: their coordinates, and
/// perhaps a direction and one word more.
const ARGUMENTS: std::ops::RangeInclusive<usize> = 4..=6;

/// Steps of reasoning spent on them.
const MAX_STEPS: u64 = 20_000_000;

/// Maximum number of rows.
const MAX_FACTS: usize = 200_000;

/// Name and number of arguments.
type Relation = (SymbolId, usize);

/// The rows of the relations with 4 to 6 arguments that rest on the rules alone,
/// by relation; none if they are not worth the time.
pub(super) fn rows(game: &Game) -> BTreeMap<String, Vec<Vec<String>>> {
    let needs = needs(game);
    let is_wanted = |relation: &&Relation| ARGUMENTS.contains(&relation.1);
    let wanted: Vec<Relation> = needs.keys().filter(is_wanted).copied().collect();
    let all: Vec<(Relation, BTreeSet<Relation>)> =
        wanted.into_iter().map(|relation| (relation, closure(&needs, relation))).collect();
    let dynamic = |needed: &BTreeSet<Relation>| {
        needed.iter().any(|&(name, _)| DYNAMIC.contains(&game.symbols().name(name)))
    };
    let wanted: Vec<_> = all.into_iter().filter(|(_, needed)| !dynamic(needed)).collect();
    if wanted.is_empty() {
        return BTreeMap::new();
    }
    let needed: BTreeSet<Relation> =
        wanted.iter().flat_map(|(_, needed)| needed).copied().collect();
    let facts =
        facts(game, &wanted.iter().map(|(relation, _)| *relation).collect::<Vec<_>>(), &needed);
    let mut rows: BTreeMap<String, Vec<Vec<String>>> = BTreeMap::new();
    for fact in facts {
        if let Expression::List(items) = fact
            && let Some((Expression::Atom(name), arguments)) = items.split_first()
        {
            let row = arguments.iter().map(ToString::to_string).collect();
            rows.entry(format!("{name}/{}", arguments.len())).or_default().push(row);
        }
    }
    rows
}

/// What makes a relation depend on the state or the moves.
const DYNAMIC: [&str; 3] = ["true", "does", "init"];

/// The facts of a rulesheet that states the wanted relations initially.
fn facts(game: &Game, wanted: &[Relation], needed: &BTreeSet<Relation>) -> Vec<Expression> {
    let name_of = |name: SymbolId| game.symbols().name(name);
    let atom = |text: &str| Expression::atom(text);
    let is_needed = |form: &&Expression| {
        let Some((name, n_arguments)) = head(form) else { return false };
        name == "role"
            || needed.iter().any(|&(needed, n)| n == n_arguments && name_of(needed) == name)
    };
    let mut forms: Vec<Expression> = game.forms().iter().filter(is_needed).cloned().collect();
    for &(name, n_arguments) in wanted {
        let variables = (0..n_arguments).map(|at| atom(&format!("?{at}")));
        let items = [atom(name_of(name))].into_iter().chain(variables).collect();
        let sentence = Expression::List(items);
        let initial = Expression::List(vec![atom("init"), sentence.clone()]);
        forms.push(Expression::List(vec![atom("<="), initial, sentence]));
    }
    let frame = ["(<= (legal ?r noop) (role ?r))", "(<= (goal ?r 0) (role ?r))", "terminal"];
    forms.extend(frame.map(|form| form.parse().expect("it is written above")));
    let guards = Guards { max_steps: MAX_STEPS, max_facts: MAX_FACTS, ..Guards::default() };
    initial_facts(game, &forms, guards).unwrap_or_default()
}

/// The facts that `forms` state initially, read as those of `game`; none if they are no
/// game, or take more than the guards allow.
pub(super) fn initial_facts(
    game: &Game,
    forms: &[Expression],
    guards: Guards,
) -> Option<Vec<Expression>> {
    let rulesheet = Rulesheet::from_forms(game.name(), forms, game.symbols().case()).ok()?;
    let game = games::validate(&rulesheet, Leniency::Lenient).game?;
    let mut machine = Prover::new(Arc::new(game), guards).ok()?;
    let state = machine.initial_state().ok()?;
    Some(machine.facts(&state))
}

/// The relation that a form states something of.
fn head(form: &Expression) -> Option<(&str, usize)> {
    match form {
        Expression::Atom(name) => Some((name, 0)),
        Expression::List(items) => match items.as_slice() {
            [Expression::Atom(arrow), rest, ..] if arrow == "<=" => head(rest),
            [Expression::Atom(name), rest @ ..] => Some((name, rest.len())),
            _ => None,
        },
    }
}

/// The relations in the conditions of each relation's rules.
fn needs(game: &Game) -> BTreeMap<Relation, BTreeSet<Relation>> {
    let mut needs: BTreeMap<Relation, BTreeSet<Relation>> = BTreeMap::new();
    for Rule { head, body, .. } in game.rules() {
        let mut needed = Vec::new();
        signed(body, &mut needed);
        let relations = needed.into_iter().map(|(relation, _)| relation);
        needs.entry((head.name, head.arguments.len())).or_default().extend(relations);
    }
    needs
}

/// The relations on which legal moves depend without any negation on the way, in the form of the
/// keys of [`rows`]: what holds in them allows, and does not forbid.
pub(super) fn allowing(game: &Game) -> BTreeSet<String> {
    let name_of = |name: SymbolId| game.symbols().name(name);
    let is_goal = |&(name, n): &Relation| (name_of(name), n) == ("legal", 2);
    let mut uses: BTreeMap<Relation, Vec<(Relation, bool)>> = BTreeMap::new();
    for Rule { head, body, .. } in game.rules() {
        signed(body, uses.entry((head.name, head.arguments.len())).or_default());
    }
    // Each relation with whether it is reached through an odd number of negations.
    let goals = uses.keys().copied().filter(|relation| is_goal(relation));
    let mut open: Vec<(Relation, bool)> = goals.map(|relation| (relation, false)).collect();
    let mut found: BTreeSet<(Relation, bool)> = open.iter().copied().collect();
    while let Some((relation, is_negative)) = open.pop() {
        for &(used, negated) in uses.get(&relation).into_iter().flatten() {
            let next = (used, is_negative != negated);
            if found.insert(next) {
                open.push(next);
            }
        }
    }
    let is_allowing =
        |(relation, negative): &&(Relation, bool)| !negative && !found.contains(&(*relation, true));
    let key = |((name, n), _): &(Relation, bool)| format!("{}/{n}", name_of(*name));
    found.iter().filter(is_allowing).map(key).collect()
}

/// The relations in conditions, each with whether it is negated.
fn signed(body: &[Literal], found: &mut Vec<(Relation, bool)>) {
    for literal in body {
        match literal {
            Literal::Positive(sentence) => {
                found.push(((sentence.name, sentence.arguments.len()), false));
            }
            Literal::Negative(sentence) => {
                found.push(((sentence.name, sentence.arguments.len()), true));
            }
            Literal::Distinct(..) | Literal::Equal(..) => {}
            Literal::Or(alternatives) => alternatives.iter().for_each(|body| signed(body, found)),
        }
    }
}

/// A relation and all relations that it depends on.
fn closure(
    needs: &BTreeMap<Relation, BTreeSet<Relation>>,
    relation: Relation,
) -> BTreeSet<Relation> {
    let mut found = BTreeSet::from([relation]);
    let mut open = vec![relation];
    while let Some(relation) = open.pop() {
        for &needed in needs.get(&relation).into_iter().flatten() {
            if found.insert(needed) {
                open.push(needed);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rules: &str, expected: &[(&str, &str)]) {
        let frame = "(role r) (init (at 1)) (<= (legal r noop) (true (at ?x)))
            (<= (next (at ?x)) (true (at ?x))) (goal r 0) (<= terminal (true (at 2)))";
        let text = format!("{frame} {rules}");
        let game = games::validate::read("x", &text, games::Case::Folded, Leniency::Strict).game;
        let rows = rows(&game.expect("a game"));
        let told: Vec<(&str, String)> = rows
            .iter()
            .map(|(name, rows)| {
                let mut rows: Vec<String> = rows.iter().map(|row| row.join(" ")).collect();
                rows.sort();
                (name.as_str(), rows.join(", "))
            })
            .collect();
        let told: Vec<_> = told.iter().map(|(name, rows)| (*name, rows.as_str())).collect();
        assert_eq!(told, expected);
    }

    #[test]
    fn relations_of_the_rules_alone_are_written_out() {
        check(
            "(after 1 2) (after 2 3) (i 1)
             (<= (step east ?c ?r ?d ?r) (after ?c ?d) (i ?r))",
            &[("step/5", "east 1 1 2 1, east 2 1 3 1")],
        );
        check("(door 1 2 1 3)", &[("door/4", "1 2 1 3")]);
    }

    #[test]
    fn what_depends_on_the_state_is_left_out() {
        check("(<= (near ?a 1 2 3) (open ?a)) (<= (open ?a) (true (at ?a)))", &[]);
        check("(after 1 2)", &[]);
    }
}
