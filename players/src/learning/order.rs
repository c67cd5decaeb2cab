//! Which constants the rules put in order: `(succ 1 2) (succ 2 3)`.

use games::Game;
use games::rule::Term;
use rustc_hash::FxHashMap;

/// Fewest constants of an order. Two say no more than two counts.
const LEAST: usize = 3;

/// A binary relation of facts by which each constant has at most one successor and at most
/// one predecessor, without a cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The relation.
    pub(crate) relation: String,
    /// By constant: its chain, and the number of constants before it there.
    ranks: FxHashMap<String, (usize, u32)>,
}

impl Order {
    /// The number of constants before `constant`.
    pub(crate) fn rank(&self, constant: &str) -> Option<u32> {
        self.ranks.get(constant).map(|&(_, rank)| rank)
    }

    /// Whether all of `constants` lie in one chain.
    pub(crate) fn has_all<'a>(&self, constants: impl Iterator<Item = &'a str>) -> bool {
        let mut chains =
            constants.map(|constant| self.ranks.get(constant).map(|&(chain, _)| chain));
        let Some(Some(first)) = chains.next() else { return false };
        chains.all(|chain| chain == Some(first))
    }

    /// The order that these pairs of neighbours make.
    fn of_pairs(relation: &str, pairs: &[(&str, &str)]) -> Option<Self> {
        let mut next: FxHashMap<&str, &str> = FxHashMap::default();
        let mut previous: FxHashMap<&str, &str> = FxHashMap::default();
        for &(before, after) in pairs {
            if next.insert(before, after).is_some_and(|other| other != after)
                || previous.insert(after, before).is_some_and(|other| other != before)
            {
                return None;
            }
        }
        let mut ranks = FxHashMap::default();
        let firsts = pairs.iter().map(|&(before, _)| before);
        for (chain, first) in firsts.filter(|before| !previous.contains_key(before)).enumerate() {
            let constants =
                std::iter::successors(Some(first), |constant| next.get(constant).copied());
            for (rank, constant) in (0..).zip(constants) {
                ranks.insert(constant.to_owned(), (chain, rank));
            }
        }
        // The constants of a cycle are in no chain.
        let is_whole = pairs.iter().all(|&(before, _)| ranks.contains_key(before));
        let longest = ranks.values().map(|&(_, rank)| rank as usize + 1).max().unwrap_or(0);
        (is_whole && longest >= LEAST).then(|| Self { relation: relation.to_owned(), ranks })
    }
}

/// The facts of a binary relation; for a relation, `None` where a rule is no such fact.
type Pairs<'g> = Vec<(&'g str, &'g str)>;

/// The orders of a game, in textual order. Only relations that are given as facts count.
pub(crate) fn orders(game: &Game) -> Vec<Order> {
    let symbols = game.symbols();
    let mut relations: Vec<(&str, Option<Pairs<'_>>)> = Vec::new();
    for rule in game.rules() {
        let name = symbols.name(rule.head.name);
        let pair = match rule.head.arguments.as_slice() {
            [Term::Constant(before), Term::Constant(after)] if rule.body.is_empty() => {
                Some((symbols.name(*before), symbols.name(*after)))
            }
            arguments if arguments.len() == 2 => None,
            _ => continue,
        };
        let at = relations.iter().position(|&(known, _)| known == name).unwrap_or_else(|| {
            relations.push((name, Some(Vec::new())));
            relations.len() - 1
        });
        let pairs = &mut relations[at].1;
        match pair {
            Some(pair) => pairs.iter_mut().for_each(|pairs| pairs.push(pair)),
            None => *pairs = None,
        }
    }
    let facts = relations.iter().filter_map(|(name, pairs)| Some((*name, pairs.as_ref()?)));
    facts.filter_map(|(name, pairs)| Order::of_pairs(name, pairs)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    const REST: &str = "(role you) (init (at 1)) (legal you go)
        (<= (next (at ?y)) (true (at ?x)) (after ?x ?y))
        (<= terminal (true (at 3))) (goal you 0)";

    fn check(facts: &str, expected: Option<&[(&str, u32)]>) {
        let machine = testing::machine(&format!("{REST} {facts}"));
        let orders = orders(machine.game());
        let after = orders.iter().find(|order| order.relation == "after");
        match (after, expected) {
            (Some(order), Some(expected)) => {
                for &(constant, rank) in expected {
                    assert_eq!(order.rank(constant), Some(rank), "{facts}: {constant}");
                }
                assert_eq!(order.ranks.len(), expected.len());
            }
            (found, expected) => assert_eq!(found.is_some(), expected.is_some(), "{facts}"),
        }
    }

    #[test]
    fn chains_are_orders_and_nothing_else_is() {
        check("(after 2 3) (after 1 2)", Some(&[("1", 0), ("2", 1), ("3", 2)]));
        let two: &[_] = &[("1", 0), ("2", 1), ("3", 2), ("x", 0), ("y", 1)];
        check("(after 1 2) (after x y) (after 2 3)", Some(two));
        check("(after 1 2)", None);
        check("(after 1 2) (after 2 3) (after 3 1)", None);
        check("(after 1 2) (after 2 3) (after 1 3)", None);
        check("(after 1 2) (after 3 2) (after 2 4)", None);
        check("(after 1 2) (after 2 3) (<= (after ?x ?x) (role ?x))", None);
    }

    #[test]
    fn constants_of_different_chains_are_not_in_order() {
        let machine = testing::machine(&format!("{REST} (after 1 2) (after 2 3) (after x y)"));
        let order = &orders(machine.game())[0];
        assert!(order.has_all(["3", "1"].into_iter()));
        assert!(!order.has_all(["1", "x"].into_iter()));
        assert!(!order.has_all(["1", "z"].into_iter()));
    }
}
