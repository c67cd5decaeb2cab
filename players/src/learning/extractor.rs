//! The features of states, computed from their facts by id.
//!
//! All features but mobility are sums over the facts of a state, so each fact adds the
//! same to them wherever it holds. What it adds is found once, from its expression.

use games::rule::Term;
use games::{Expression, FactId, Game, RoleId, State, StateMachine};

use super::feature::{Feature, Pattern, parts};
use super::order::{Order, orders};

/// What a fact adds to a feature: the feature by number, and the amount.
pub(crate) type Share = (u32, f32);

/// A feature that is a sum over facts.
#[derive(Clone, Debug)]
struct Sum {
    feature: u32,
    pattern: Pattern,
    amount: Amount,
}

/// How much a fact that matches adds.
#[derive(Clone, Debug)]
enum Amount {
    One,
    /// The place of this argument in this of the orders.
    Rank(usize, usize),
    /// This argument as a number.
    Value(usize),
}

/// Computes features of the states of one machine.
#[derive(Clone, Debug)]
pub(crate) struct Extractor {
    sums: Vec<Sum>,
    orders: Vec<Order>,
    /// The features that are counts of legal moves.
    mobility: Vec<(u32, RoleId)>,
    n_features: usize,
    /// By fact, once it was seen: what it adds.
    shares: Vec<Option<Vec<Share>>>,
    gained: Vec<FactId>,
    lost: Vec<FactId>,
}

/// The first feature that does not belong to a game: it names facts, an order or a role that
/// the game does not have.
pub(crate) fn foreign<'f>(game: &Game, features: &'f [Feature]) -> Option<&'f Feature> {
    let orders = orders(game);
    features.iter().find(|feature| match feature {
        Feature::Rank { pattern, order, .. } => {
            !orders.iter().any(|known| known.relation == *order) || !may_hold(game, pattern)
        }
        Feature::Moves(role) => game.find_role(role).is_none(),
        Feature::Count(pattern) | Feature::Value { pattern, .. } => !may_hold(game, pattern),
    })
}

/// Whether the head of some rule for `init` or `next` agrees with a pattern of facts.
fn may_hold(game: &Game, pattern: &Pattern) -> bool {
    let symbols = game.symbols();
    let heads = game.rules().iter().map(|rule| &rule.head);
    let heads = heads.filter(|head| matches!(symbols.name(head.name), "init" | "next"));
    let agrees = |fact: &Term| match fact {
        Term::Variable(_) => true,
        Term::Constant(name) => {
            pattern.arguments.is_empty() && symbols.name(*name) == pattern.relation
        }
        Term::Function(name, arguments) => {
            let given = pattern.arguments.iter().zip(arguments);
            symbols.name(*name) == pattern.relation
                && arguments.len() == pattern.arguments.len()
                && given.into_iter().all(|(given, found)| match (given, found) {
                    (Some(Expression::Atom(given)), Term::Constant(found)) => {
                        symbols.name(*found) == given
                    }
                    (Some(Expression::Atom(given)), Term::Variable(_)) => {
                        symbols.find(given).is_some()
                    }
                    (Some(Expression::Atom(_)), Term::Function(..))
                    | (Some(Expression::List(_)), Term::Constant(_)) => false,
                    _ => true,
                })
        }
    };
    heads.flat_map(|head| &head.arguments).any(agrees)
}

impl Extractor {
    /// An extractor of `features`, none of which is [`foreign`] to the game; one that is
    /// would be 0 in all states.
    pub(crate) fn new(game: &Game, features: &[Feature]) -> Self {
        let orders = orders(game);
        let (mut sums, mut mobility) = (Vec::new(), Vec::new());
        for (index, feature) in (0..).zip(features) {
            let (pattern, amount) = match feature {
                Feature::Count(pattern) => (pattern, Some(Amount::One)),
                Feature::Rank { pattern, argument, order } => {
                    let order = orders.iter().position(|known| known.relation == *order);
                    (pattern, order.map(|order| Amount::Rank(*argument, order)))
                }
                Feature::Value { pattern, argument } => (pattern, Some(Amount::Value(*argument))),
                Feature::Moves(role) => {
                    mobility.extend(game.find_role(role).map(|role| (index, role)));
                    continue;
                }
            };
            if let Some(amount) = amount {
                sums.push(Sum { feature: index, pattern: pattern.clone(), amount });
            }
        }
        Self {
            sums,
            orders,
            mobility,
            n_features: features.len(),
            shares: Vec::new(),
            gained: Vec::new(),
            lost: Vec::new(),
        }
    }

    /// The features that are numbers of legal moves, each with its role.
    pub(crate) fn mobility(&self) -> &[(u32, RoleId)] {
        &self.mobility
    }

    /// What a fact adds to the features.
    pub(crate) fn shares(&mut self, machine: &dyn StateMachine, fact: FactId) -> &[Share] {
        let at = fact.0 as usize;
        if self.shares.len() <= at {
            self.shares.resize(at + 1, None);
        }
        if self.shares[at].is_none() {
            self.shares[at] = Some(self.shares_of(&machine.fact(fact)));
        }
        self.shares[at].as_deref().expect("it was just found")
    }

    /// What a fact adds to the features, computed anew.
    pub(crate) fn shares_of(&self, fact: &Expression) -> Vec<Share> {
        let (_, arguments) = parts(fact);
        let matching = self.sums.iter().filter(|sum| sum.pattern.matches(fact));
        let share = |sum: &Sum| {
            let amount = match sum.amount {
                Amount::One => 1.0,
                Amount::Rank(argument, order) => {
                    let constant = arguments[argument].to_string();
                    self.orders[order].rank(&constant)? as f32
                }
                Amount::Value(argument) => {
                    arguments[argument].to_string().parse::<i32>().ok()? as f32
                }
            };
            (amount != 0.0).then_some((sum.feature, amount))
        };
        matching.filter_map(share).collect()
    }

    /// Puts the features of `state` into `values`, by number; those of mobility are 0.
    pub(crate) fn extract(
        &mut self,
        machine: &mut dyn StateMachine,
        state: &State,
        values: &mut Vec<f32>,
    ) {
        values.clear();
        values.resize(self.n_features, 0.0);
        let (mut gained, mut lost) =
            (std::mem::take(&mut self.gained), std::mem::take(&mut self.lost));
        gained.clear();
        machine.changed_facts(&State::default(), state, &mut gained, &mut lost);
        for &fact in &gained {
            for &(feature, amount) in self.shares(machine, fact) {
                values[feature as usize] += amount;
            }
        }
        (self.gained, self.lost) = (gained, lost);
    }
}
