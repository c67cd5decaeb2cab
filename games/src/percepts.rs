//! Games whose percepts reveal every move to every player: written in GDL-II, and yet
//! of perfect information.
//!
//! The initial state and all moves determine all states. So it is enough that each
//! player perceives, in each step, something from which the move of each other role can
//! be read, as by `(<= (sees ?r (did ?q ?m)) (role ?r) (does ?q ?m))`. This is decided
//! by the form of the rules. A rule for `sees` counts if its conditions hold in every
//! step, whatever the state (only `role`, `does` with a variable for the move, and
//! comparisons of roles), and if no other rule for `sees` can give a percept of the same
//! form. Equivalent rules of another form are not recognised.

use crate::Expression;
use crate::rule::{Literal, Rule, Sentence, Term, VariableId};
use crate::state::RoleId;
use crate::symbol::{SymbolId, Symbols};

/// Maximum number of assignments of roles to the variables of one rule that are tried.
const MAX_ASSIGNMENTS: usize = 10_000;

/// Maximum number of pairs of forms of percepts that are compared.
const MAX_COMPARISONS: usize = 1_000_000;

/// Where percepts contain the moves of all roles.
#[derive(Clone, Debug)]
pub(crate) struct OpenMoves {
    /// By role that perceives and role that moves: where the move is. `None` for a
    /// role's own moves if no percept has them, and for the percepts of `random`.
    signs: Vec<Vec<Option<Sign>>>,
}

/// A form of percepts of which there is one in each step.
#[derive(Clone, Debug)]
struct Sign {
    form: Form,
    /// The hole with the move.
    hole: usize,
}

/// A percept with holes for moves, numbered by first occurrence. Parts that the form of
/// the rule does not determine are [`Form::Unknown`].
#[derive(Clone, Debug, PartialEq, Eq)]
enum Form {
    Name(String),
    Hole(usize),
    List(Vec<Form>),
    Unknown,
}

/// What one rule lets one role perceive.
struct Seen {
    form: Form,
    /// By hole: the role that made the move; empty if it is not seen in each step.
    movers: Vec<usize>,
}

impl OpenMoves {
    /// Where the moves are, if each role but `random` perceives the moves of all others
    /// in every step.
    pub(crate) fn of(
        rules: &[Rule],
        roles: &[SymbolId],
        random: Option<RoleId>,
        symbols: &Symbols,
    ) -> Option<Self> {
        let reading = Reading { roles, symbols };
        let sees = symbols.find("sees")?;
        let sees = rules.iter().filter(|it| it.head.name == sees && it.head.arguments.len() == 2);
        let mut seen: Vec<Vec<Seen>> = roles.iter().map(|_| Vec::new()).collect();
        for rule in sees {
            reading.seen(rule, &mut seen)?;
        }
        let mut n_comparisons = 0;
        let mut signs = vec![vec![None; roles.len()]; roles.len()];
        for (role, seen) in seen.iter().enumerate() {
            if random.is_some_and(|random| usize::from(random.0) == role) {
                continue;
            }
            n_comparisons += seen.len() * seen.len();
            if n_comparisons > MAX_COMPARISONS {
                return None;
            }
            for (at, one) in seen.iter().enumerate().filter(|(_, one)| !one.movers.is_empty()) {
                let is_alike = |(other, it): (usize, &Seen)| {
                    other != at && meet(&it.form, &one.form) && !one.is_same(it)
                };
                if seen.iter().enumerate().any(is_alike) {
                    continue;
                }
                for (hole, &mover) in one.movers.iter().enumerate() {
                    signs[role][mover] = Some(Sign { form: one.form.clone(), hole });
                }
            }
            let knows = |(mover, sign): (usize, &Option<Sign>)| mover == role || sign.is_some();
            if !signs[role].iter().enumerate().all(knows) {
                return None;
            }
        }
        Some(Self { signs })
    }

    /// The moves of all roles, from the percepts of `role` and, if these do not have it,
    /// its own move. `None` if a percept is missing.
    pub(crate) fn read(
        &self,
        role: RoleId,
        own_move: Option<&Expression>,
        percepts: &[Expression],
    ) -> Option<Vec<Expression>> {
        let own = usize::from(role.0);
        let moves = self.signs.get(own)?.iter().enumerate().map(|(mover, sign)| {
            let read = sign.as_ref().and_then(|sign| {
                let mut holes = vec![None; sign.hole + 1];
                percepts.iter().find_map(|percept| {
                    holes.fill(None);
                    sign.form.fits(percept, &mut holes).then(|| holes[sign.hole].cloned())?
                })
            });
            match own_move.filter(|_| mover == own) {
                Some(own_move) => Some(own_move.clone()),
                None => read,
            }
        });
        moves.collect()
    }
}

impl Seen {
    /// Whether the other reveals the same moves by the same form.
    fn is_same(&self, other: &Self) -> bool {
        self.form == other.form && self.movers == other.movers
    }
}

impl Form {
    /// Whether a percept has this form; the moves in its holes.
    fn fits<'p>(&self, percept: &'p Expression, holes: &mut Vec<Option<&'p Expression>>) -> bool {
        match (self, percept) {
            (Self::Unknown, _) => true,
            (Self::Name(name), Expression::Atom(atom)) => name.eq_ignore_ascii_case(atom),
            (Self::Hole(hole), _) => {
                if holes.len() <= *hole {
                    holes.resize(hole + 1, None);
                }
                *holes[*hole].get_or_insert(percept) == percept
            }
            (Self::List(forms), Expression::List(items)) => {
                forms.len() == items.len()
                    && forms.iter().zip(items).all(|(form, item)| form.fits(item, holes))
            }
            _ => false,
        }
    }
}

/// Whether some percept may have both forms.
fn meet(left: &Form, right: &Form) -> bool {
    match (left, right) {
        (Form::Name(left), Form::Name(right)) => left.eq_ignore_ascii_case(right),
        (Form::Name(_), Form::List(_)) | (Form::List(_), Form::Name(_)) => false,
        (Form::List(left), Form::List(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| meet(l, r))
        }
        _ => true,
    }
}

struct Reading<'a> {
    roles: &'a [SymbolId],
    symbols: &'a Symbols,
}

/// What a variable of a rule for `sees` stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Meaning {
    Nothing,
    /// A role, with the place of its value in an assignment.
    Role(usize),
    /// The move of the role in the `does` of this number.
    Move(usize),
}

impl Reading<'_> {
    /// Adds what a rule lets each role perceive; none if there are too many ways.
    fn seen(&self, rule: &Rule, seen: &mut [Vec<Seen>]) -> Option<()> {
        let Some((meanings, moves)) = self.meanings(rule) else {
            // Seen in some steps only, or in unknown ones.
            let form = self.form(&rule.head.arguments[1], &mut |_| Form::Unknown);
            for (role, seen) in seen.iter_mut().enumerate() {
                if match rule.head.arguments[0] {
                    Term::Constant(name) => name == self.roles[role],
                    Term::Variable(_) => true,
                    Term::Function(..) => false,
                } {
                    seen.push(Seen { form: form.clone(), movers: Vec::new() });
                }
            }
            return Some(());
        };
        let n_variables = meanings.iter().filter(|it| matches!(it, Meaning::Role(_))).count();
        let n = self.roles.len().checked_pow(u32::try_from(n_variables).ok()?)?;
        if n > MAX_ASSIGNMENTS {
            return None;
        }
        for number in 0..n {
            let value = |at: usize| number / self.roles.len().pow(at as u32) % self.roles.len();
            let role_of = |term: &Term| match term {
                Term::Variable(VariableId(id)) => match meanings[*id as usize] {
                    Meaning::Role(at) => Some(value(at)),
                    _ => None,
                },
                Term::Constant(name) => self.roles.iter().position(|role| role == name),
                Term::Function(..) => None,
            };
            let holds = |literal: &Literal| match literal {
                Literal::Distinct(left, right) => role_of(left) != role_of(right),
                Literal::Equal(left, right) => role_of(left) == role_of(right),
                Literal::Positive(sentence) => role_of(&sentence.arguments[0]).is_some(),
                _ => false,
            };
            let Some(role) = role_of(&rule.head.arguments[0]) else { continue };
            if !rule.body.iter().all(holds) {
                continue;
            }
            let mut holes: Vec<usize> = Vec::new();
            let mut variable = |VariableId(id)| match meanings[id as usize] {
                Meaning::Role(at) => {
                    Form::Name(self.symbols.name(self.roles[value(at)]).to_owned())
                }
                Meaning::Move(at) => {
                    let known = holes.iter().position(|&hole| hole == at);
                    Form::Hole(known.unwrap_or_else(|| {
                        holes.push(at);
                        holes.len() - 1
                    }))
                }
                Meaning::Nothing => Form::Unknown,
            };
            let form = self.form(&rule.head.arguments[1], &mut variable);
            let movers = holes.iter().map(|&at| role_of(moves[at])).collect::<Option<Vec<_>>>()?;
            seen[role].push(Seen { form, movers });
        }
        Some(())
    }

    /// What the variables of a rule stand for and whose moves they are, if it
    /// applies in every step.
    fn meanings<'r>(&self, rule: &'r Rule) -> Option<(Vec<Meaning>, Vec<&'r Term>)> {
        let mut meanings = vec![Meaning::Nothing; rule.n_variables as usize];
        let mut moves = Vec::new();
        let mut n_roles = 0;
        let mut note_role = |meanings: &mut Vec<Meaning>, term: &Term| match term {
            Term::Variable(VariableId(id)) => match meanings[*id as usize] {
                Meaning::Nothing => {
                    meanings[*id as usize] = Meaning::Role(n_roles);
                    n_roles += 1;
                    true
                }
                Meaning::Role(_) => true,
                Meaning::Move(_) => false,
            },
            Term::Constant(_) => true,
            Term::Function(..) => false,
        };
        for literal in &rule.body {
            match literal {
                Literal::Positive(Sentence { name, arguments }) => {
                    match (self.symbols.name(*name).to_ascii_lowercase().as_str(), &arguments[..]) {
                        ("role", [role]) => {
                            if !note_role(&mut meanings, role) {
                                return None;
                            }
                        }
                        ("does", [role, Term::Variable(VariableId(id))])
                            if meanings[*id as usize] == Meaning::Nothing =>
                        {
                            if !note_role(&mut meanings, role)
                                || meanings[*id as usize] != Meaning::Nothing
                            {
                                return None;
                            }
                            meanings[*id as usize] = Meaning::Move(moves.len());
                            moves.push(role);
                        }
                        _ => return None,
                    }
                }
                // Below: of roles only.
                Literal::Distinct(..) | Literal::Equal(..) => {}
                Literal::Negative(_) | Literal::Or(_) => return None,
            }
        }
        let is_role = |term: &Term| match term {
            Term::Variable(VariableId(id)) => matches!(meanings[*id as usize], Meaning::Role(_)),
            Term::Constant(name) => self.roles.contains(name),
            Term::Function(..) => false,
        };
        let compares_roles = |literal: &Literal| match literal {
            Literal::Distinct(left, right) | Literal::Equal(left, right) => {
                is_role(left) && is_role(right)
            }
            _ => true,
        };
        let applies = is_role(&rule.head.arguments[0]) && rule.body.iter().all(compares_roles);
        applies.then_some((meanings, moves))
    }

    fn form(&self, term: &Term, variable: &mut impl FnMut(VariableId) -> Form) -> Form {
        match term {
            Term::Constant(name) => Form::Name(self.symbols.name(*name).to_owned()),
            Term::Variable(id) => variable(*id),
            Term::Function(name, arguments) => {
                let name = Form::Name(self.symbols.name(*name).to_owned());
                let arguments = arguments.iter().map(|argument| self.form(argument, variable));
                Form::List(std::iter::once(name).chain(arguments).collect())
            }
        }
    }
}
