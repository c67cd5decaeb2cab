//! A valid game: the normalised rules that every reasoner starts from.

use std::sync::Arc;

use crate::Expression;
use crate::percepts::OpenMoves;
use crate::rule::Rule;
use crate::state::RoleId;
use crate::symbol::{SymbolId, Symbols};

/// What kind of game it is, as far as the form of the rules shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GameKind {
    /// Number of roles, `random` included.
    pub n_roles: usize,
    /// There is a role `random`, which moves by chance.
    pub chance: bool,
    /// There are rules for `sees`: players get percepts instead of the others'
    /// moves (GDL-II, Thielscher 2010). A role `random` without such rules makes
    /// a game of chance, but of perfect information.
    pub percepts: bool,
    /// There are percepts, and as far as the form of the rules shows they do not reveal
    /// every move to every player: players may not know the state.
    pub hidden_information: bool,
}

/// Validated rules: stratified, safe (but see
/// [`Literal::Negative`](crate::rule::Literal::Negative)), with at least one role; only
/// [`validate`](crate::validate::validate) makes one.
///
/// ```
/// use games::{Case, Leniency, library, validate};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = library::find("kuhn_poker").ok_or("it is shipped")?.text;
/// let validation = validate::read("kuhn_poker", text, Case::Folded, Leniency::Strict);
/// let game = validation.game.ok_or("it is valid")?;
/// assert_eq!(game.roles().len(), 3);
/// assert!(game.random().is_some());
/// assert!(game.kind().hidden_information);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Game {
    pub(crate) name: String,
    pub(crate) symbols: Symbols,
    pub(crate) roles: Vec<SymbolId>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) strata: Vec<Vec<usize>>,
    pub(crate) forms: Arc<[Expression]>,
    /// How moves are read from percepts, if percepts reveal all moves.
    pub(crate) open_moves: Option<OpenMoves>,
}

impl Game {
    /// The name given when the rulesheet was read (a file stem or a shipped name).
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names used in the rules.
    #[must_use]
    pub fn symbols(&self) -> &Symbols {
        &self.symbols
    }

    /// The roles in statement order, which is the order of joint moves.
    #[must_use]
    pub fn roles(&self) -> &[SymbolId] {
        &self.roles
    }

    /// The ids of the roles, in the same order.
    pub fn role_ids(&self) -> impl ExactSizeIterator<Item = RoleId> + Clone + use<> {
        RoleId::first(self.roles.len())
    }

    /// The name of a role, as the rules have it.
    ///
    /// # Panics
    /// If the game has no such role.
    #[must_use]
    pub fn role_name(&self, role: RoleId) -> &str {
        self.symbols.name(self.roles[usize::from(role.0)])
    }

    /// The normalised rules in textual order, facts included.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// The indices of the rules of each stratum, facts included, in order of
    /// evaluation. Rules of one stratum may depend on each other, but their negated
    /// conditions depend only on facts and on rules of earlier strata. Two rules for one
    /// predicate may lie in different strata, since `(<= (goal ?r 0) (role ?r)
    /// (not (goal ?r 100)))` is allowed. So a predicate is complete only after its last
    /// stratum, but every instance that a negation uses is known in time.
    #[must_use]
    pub fn strata(&self) -> &[Vec<usize>] {
        &self.strata
    }

    /// What kind of game it is.
    #[must_use]
    pub fn kind(&self) -> GameKind {
        let sees = self.symbols.find("sees");
        let is_percept =
            |rule: &Rule| Some(rule.head.name) == sees && rule.head.arguments.len() == 2;
        let percepts = self.rules.iter().any(is_percept);
        GameKind {
            n_roles: self.roles.len(),
            chance: self.random().is_some(),
            percepts,
            hidden_information: percepts && self.open_moves.is_none(),
        }
    }

    /// The moves of all roles in a step, from the percepts of `role`, for games with
    /// percepts but without hidden information. `own_move` is the role's own move, which
    /// the rules need not let it perceive; `None` if it is not known.
    ///
    /// Returns `None` for other games, or if a percept is missing.
    #[must_use]
    pub fn moves_perceived(
        &self,
        role: RoleId,
        own_move: Option<&Expression>,
        percepts: &[Expression],
    ) -> Option<Vec<Expression>> {
        self.open_moves.as_ref()?.read(role, own_move, percepts)
    }

    /// The role `random`, if there is one. It is not a player's seat: it moves
    /// by chance, each of its legal moves with the same probability.
    #[must_use]
    pub fn random(&self) -> Option<RoleId> {
        self.find_role("random")
    }

    /// The role of this name.
    #[must_use]
    pub fn find_role(&self, name: &str) -> Option<RoleId> {
        let symbol = self.symbols.find(name)?;
        let index = self.roles.iter().position(|&role| role == symbol)?;
        Some(RoleId(u8::try_from(index).expect("validation admits at most 255 roles")))
    }

    /// All top-level forms in file order, without comments, as a START message carries
    /// them. They are as read, except that `(p)` is `p`, that `=>` is replaced, and that
    /// each name has its first spelling.
    #[must_use]
    pub fn forms(&self) -> &Arc<[Expression]> {
        &self.forms
    }

    /// The [`forms`](Self::forms) without those that say what holds initially: the rules of
    /// the game whatever state it begins in.
    pub fn forms_without_init(&self) -> impl Iterator<Item = &Expression> {
        self.forms.iter().filter(|form| {
            let head = match form {
                Expression::List(items) if items[0] == Expression::atom("<=") => items.get(1),
                form => Some(*form),
            };
            let word = match head {
                Some(Expression::List(items)) => items.first(),
                other => other,
            };
            !matches!(word, Some(Expression::Atom(word)) if word.eq_ignore_ascii_case("init"))
        })
    }
}
