//! Conditions that no state of any play can fulfil, facts that no rule can use,
//! and roles that can do nothing: mostly names that were misspelled.
//!
//! Where one impossible rule makes others impossible, only the first cause is
//! reported.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::components::components;
use crate::finding::Findings;
use crate::rule::VariableId;
use crate::rulesheet::Rulesheet;
use crate::symbol::SymbolId;
use crate::validate::clause::{
    Argument, ArgumentKind, Atomic, Clause, Condition, ConditionKind, Predicate,
};
use crate::validate::keyword::{Keyword, Words};
use crate::validate::names::{arguments, similar};
use crate::validate::possible::{Offered, Possible, Terms, TooLarge, Values};

/// Maximum number of pairs of a condition and a head that are compared.
const MAX_PAIRS: usize = 2_000_000;

/// Maximum number of names that are listed as an alternative to an impossible one.
const MAX_LISTED: usize = 4;

/// Reports what can never hold, for rulesheets without errors. Very large ones are not
/// checked.
pub(crate) fn check(
    clauses: &[Clause],
    words: &Words,
    roles: &[SymbolId],
    rulesheet: &Rulesheet,
    findings: &mut Findings,
) {
    let mut check = Check { clauses, words, roles, rulesheet, findings, n_pairs: 0 };
    // Nothing is known of what is too large.
    let _ = check.run();
}

struct Check<'a> {
    clauses: &'a [Clause],
    words: &'a Words,
    roles: &'a [SymbolId],
    rulesheet: &'a Rulesheet,
    findings: &'a mut Findings,
    n_pairs: usize,
}

/// What a sentence is about: the state, the moves, or a relation of its own.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Subject {
    Facts,
    Moves,
    Relation(Predicate),
}

/// What a condition can do with a name in a fact.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    Possible,
    Impossible,
    /// Only if the name is a role.
    AsRole,
}

/// A condition about the state.
struct Asked<'a> {
    clause: usize,
    fact: &'a Argument,
}

impl Asked<'_> {
    /// What it can do with a name at an argument of the fact.
    fn use_of(
        &self,
        at: usize,
        constant: SymbolId,
        taken_for_roles: &[FxHashSet<VariableId>],
        values: &[Option<Values>],
    ) -> Use {
        let ArgumentKind::Function(_, arguments) = &self.fact.kind else { return Use::Possible };
        let ArgumentKind::Variable(id) = arguments[at].kind else { return Use::Possible };
        let excludes =
            |values: &Values| values.get(&id).is_some_and(|terms| !terms.may_be(constant));
        if taken_for_roles[self.clause].contains(&id) {
            Use::AsRole
        } else if values[self.clause].as_ref().is_none_or(excludes) {
            Use::Impossible
        } else {
            Use::Possible
        }
    }
}

/// A condition that cannot hold.
struct Never<'a> {
    clause: usize,
    sentence: &'a Atomic,
    negated: bool,
    /// The rules that cannot apply and would make it hold, by their place among
    /// such rules.
    makers: Vec<usize>,
}

impl<'a> Check<'a> {
    fn run(&mut self) -> Result<(), TooLarge> {
        let mut possible = Possible::of(self.clauses, self.words)?;
        let mut values = Vec::with_capacity(self.clauses.len());
        for clause in self.clauses {
            values.push(possible.values(&clause.body, &Values::default())?);
        }
        self.idle_roles(&values);
        self.misnamed_roles(&values);
        let is_dead = |at: &usize| values[*at].is_none();
        let dead: Vec<usize> = (0..self.clauses.len()).filter(is_dead).collect();
        let nevers = self.nevers(&mut possible, &dead)?;
        for never in first_causes(&nevers, &dead) {
            self.report(never, &possible);
        }
        Ok(())
    }

    /// All conditions that cannot hold, with what might have made them hold.
    fn nevers(
        &mut self,
        possible: &mut Possible<'_>,
        dead: &[usize],
    ) -> Result<Vec<Never<'a>>, TooLarge> {
        let mut makers: FxHashMap<Subject, Vec<usize>> = FxHashMap::default();
        for (at, &clause) in dead.iter().enumerate() {
            makers.entry(self.subject(&self.clauses[clause].head)).or_default().push(at);
        }
        let mut nevers = Vec::new();
        for (clause, Clause { body, .. }) in self.clauses.iter().enumerate() {
            let mut sentences = Vec::new();
            sentences_of(body, &mut sentences);
            for (sentence, negated) in sentences {
                // What has no rule at all is reported as that.
                if possible.restrict(sentence, &mut Values::default())?
                    || possible.arguments_of(sentence).is_none()
                {
                    continue;
                }
                let makers = makers.get(&self.subject(sentence)).map_or(&[][..], Vec::as_slice);
                self.n_pairs += makers.len() + 1;
                if self.n_pairs > MAX_PAIRS {
                    return Err(TooLarge);
                }
                let makes = |&&at: &&usize| all_meet(&self.clauses[dead[at]].head, sentence);
                let makers = makers.iter().filter(makes).copied().collect();
                nevers.push(Never { clause, sentence, negated, makers });
            }
        }
        Ok(nevers)
    }

    fn report(&mut self, never: &Never<'_>, possible: &Possible<'_>) {
        let Never { sentence, negated, .. } = *never;
        let what = match self.subject(sentence) {
            Subject::Facts => "fact",
            Subject::Moves => "legal move",
            Subject::Relation(_) => "derivable fact",
        };
        let outcome =
            if negated { "so its negation always holds" } else { "so the condition never holds" };
        let (span, message, help) = match possible.culprit(sentence) {
            Some((part, offered)) => {
                if self.is_unknown_role(sentence, part) {
                    return;
                }
                let (id, arity) = match &part.kind {
                    ArgumentKind::Constant(name) => (*name, 0),
                    ArgumentKind::Function(name, arguments) => (*name, arguments.len()),
                    ArgumentKind::Variable(_) => (sentence.name, 0),
                };
                let name = self.rulesheet.spelling(id);
                // The last argument of `true` and `does` is the whole fact or move.
                let is_whole = !matches!(self.subject(sentence), Subject::Relation(_))
                    && sentence.arguments.last().is_some_and(|last| std::ptr::eq(last, part));
                let is_offered = offered.constants.contains(&id)
                    || offered.functions.iter().any(|&(known, _)| known == id);
                let message = match (is_whole, is_offered) {
                    (true, false) => format!("no {what} is named `{name}`"),
                    (true, true) => format!("no {what} `{name}` has {}", arguments(arity)),
                    (false, _) => format!("no {what} has `{name}` as this argument"),
                };
                (part.span, message, self.instead(part, &offered, is_whole))
            }
            None => (
                sentence.span,
                format!("no {what} fits this condition"),
                "check its arguments".to_owned(),
            ),
        };
        self.findings.warning("never-holds", span, message, format!("{help}; {outcome}"));
    }

    /// Whether the part is the role that a keyword is about, which is reported as
    /// unknown already.
    fn is_unknown_role(&self, sentence: &Atomic, part: &Argument) -> bool {
        self.keyword(sentence).is_some_and(Keyword::is_about_role)
            && std::ptr::eq(&sentence.arguments[0], part)
            && !matches!(part.kind, ArgumentKind::Constant(name) if self.roles.contains(&name))
    }

    /// What may have been meant by a part that cannot stand where it stands. Of a whole fact or
    /// move, the message says how many arguments it has.
    fn instead(&self, part: &Argument, offered: &Offered, is_whole: bool) -> String {
        let (name, arity) = match &part.kind {
            ArgumentKind::Function(name, arguments) => (*name, arguments.len()),
            ArgumentKind::Constant(name) => (*name, 0),
            ArgumentKind::Variable(_) => return "check its arguments".to_owned(),
        };
        if let Some(&(_, other)) = offered.functions.iter().find(|&&(known, _)| known == name) {
            let elsewhere = arguments(other);
            return match is_whole {
                true => format!("the rules give it {elsewhere}"),
                false => {
                    format!("the rules give it {elsewhere}, but here it has {}", arguments(arity))
                }
            };
        }
        let names = offered.constants.iter().chain(offered.functions.iter().map(|(name, _)| name));
        let mut names: Vec<&str> = names.map(|&name| self.rulesheet.spelling(name)).collect();
        names.sort_unstable();
        names.dedup();
        if let Some(other) = similar(self.rulesheet.spelling(name), names.iter().copied()) {
            return format!("did you mean `{other}`?");
        }
        match names.as_slice() {
            [] => "nothing can stand here".to_owned(),
            [.., last] if names.len() <= MAX_LISTED => match &names[..names.len() - 1] {
                [] => format!("only `{last}` can stand here"),
                others => format!("only `{}` and `{last}` can stand here", others.join("`, `")),
            },
            _ => "check its spelling".to_owned(),
        }
    }

    /// Roles that no rule allows a move, or promises a goal.
    fn idle_roles(&mut self, values: &[Option<Values>]) {
        let rows = [
            (Keyword::Legal, "role-without-moves", "let the role `{}` move"),
            (Keyword::Goal, "role-without-goal", "give the role `{}` a goal"),
        ];
        for (keyword, code, what) in rows {
            let heads: Vec<(&Argument, Option<&Values>)> = self
                .clauses
                .iter()
                .zip(values)
                .filter(|(clause, _)| self.keyword(&clause.head) == Some(keyword))
                .map(|(clause, values)| (&clause.head.arguments[0], values.as_ref()))
                .collect();
            for clause in self.clauses {
                let (Some(Keyword::Role), [Argument { kind: ArgumentKind::Constant(role), span }]) =
                    (self.keyword(&clause.head), clause.head.arguments.as_slice())
                else {
                    continue;
                };
                let name = self.rulesheet.spelling(*role);
                let may_hold = |&(argument, values): &(&Argument, Option<&Values>)| {
                    values.is_some_and(|values| may_be(argument, *role, values))
                };
                if heads.iter().any(may_hold)
                    || (keyword == Keyword::Goal && name == "random")
                    || !self.findings.first(code, *role, 0)
                {
                    continue;
                }
                let keyword = keyword.name();
                let names_role = |&(argument, values): &(&Argument, Option<&Values>)| {
                    values.is_none()
                        && !matches!(argument.kind, ArgumentKind::Constant(other) if other != *role)
                };
                let help = match heads.iter().any(names_role) {
                    true => format!(
                        "the rules for `{keyword}` that could apply to it have conditions that \
                         never hold"
                    ),
                    false => format!("check the roles that the rules for `{keyword}` name"),
                };
                self.findings.warning(
                    code,
                    *span,
                    format!("no rule can {}", what.replace("{}", name)),
                    help,
                );
            }
        }
    }

    /// Facts with a name that is no role, where rules that ask for the fact take the
    /// name for one, and all others cannot use it.
    fn misnamed_roles(&mut self, values: &[Option<Values>]) {
        let Some(asked) = self.asked_facts() else { return };
        let taken_for_roles: Vec<_> =
            self.clauses.iter().map(|clause| self.variables_of_roles(clause)).collect();
        let mut said = FxHashSet::default();
        for Clause { head, .. } in self.clauses {
            if !matches!(self.keyword(head), Some(Keyword::Init | Keyword::Next)) {
                continue;
            }
            let ArgumentKind::Function(name, arguments) = &head.arguments[0].kind else { continue };
            let Some(asked) = asked.get(&(*name, arguments.len())) else { continue };
            for (at, argument) in arguments.iter().enumerate() {
                let ArgumentKind::Constant(constant) = argument.kind else { continue };
                self.n_pairs += asked.len();
                if self.n_pairs > MAX_PAIRS {
                    return;
                }
                if self.roles.contains(&constant) || said.contains(&(*name, at, constant)) {
                    continue;
                }
                let asking = asked.iter().filter(|asked| meets(&head.arguments[0], asked.fact));
                let uses: Vec<Use> = asking
                    .map(|asked| asked.use_of(at, constant, &taken_for_roles, values))
                    .collect();
                if uses.contains(&Use::AsRole) && !uses.contains(&Use::Possible) {
                    said.insert((*name, at, constant));
                    self.report_misnamed(argument, constant);
                }
            }
        }
    }

    fn report_misnamed(&mut self, argument: &Argument, constant: SymbolId) {
        let known = self.roles.iter().map(|&role| self.rulesheet.spelling(role));
        let constant = self.rulesheet.spelling(constant);
        let help = match similar(constant, known) {
            Some(role) => format!("did you mean `{role}`?"),
            None => "check its spelling, or declare the role".to_owned(),
        };
        let message =
            format!("`{constant}` is not a role, but rules that use this fact take it for one");
        self.findings.warning("fact-of-no-role", argument.span, message, help);
    }

    /// The facts that conditions ask for, by name and arity; none if some condition
    /// tests any fact.
    fn asked_facts(&self) -> Option<FxHashMap<Predicate, Vec<Asked<'a>>>> {
        let mut asked: FxHashMap<Predicate, Vec<Asked<'a>>> = FxHashMap::default();
        for (clause, Clause { body, .. }) in self.clauses.iter().enumerate() {
            let mut sentences = Vec::new();
            sentences_of(body, &mut sentences);
            for (sentence, _) in sentences {
                if self.keyword(sentence) != Some(Keyword::True) {
                    continue;
                }
                let fact = &sentence.arguments[0];
                match &fact.kind {
                    ArgumentKind::Function(name, arguments) => {
                        let of_name = asked.entry((*name, arguments.len())).or_default();
                        of_name.push(Asked { clause, fact });
                    }
                    ArgumentKind::Variable(_) => return None,
                    ArgumentKind::Constant(_) => {}
                }
            }
        }
        Some(asked)
    }

    /// The variables of a clause that can only be roles.
    fn variables_of_roles(&self, clause: &Clause) -> FxHashSet<VariableId> {
        let mut found = FxHashSet::default();
        let mut note = |sentence: &Atomic| {
            let is_about_role =
                |keyword: Keyword| keyword.is_about_role() || keyword == Keyword::Role;
            if self.keyword(sentence).is_some_and(is_about_role)
                && let ArgumentKind::Variable(id) = sentence.arguments[0].kind
            {
                found.insert(id);
            }
        };
        note(&clause.head);
        for condition in &clause.body {
            if let ConditionKind::Positive(sentence) = &condition.kind {
                note(sentence);
            }
        }
        found
    }

    fn subject(&self, sentence: &Atomic) -> Subject {
        match self.keyword(sentence) {
            Some(Keyword::Init | Keyword::Next | Keyword::True) => Subject::Facts,
            Some(Keyword::Legal | Keyword::Does) => Subject::Moves,
            _ => Subject::Relation(sentence.predicate()),
        }
    }

    fn keyword(&self, sentence: &Atomic) -> Option<Keyword> {
        let (name, arity) = sentence.predicate();
        self.words.keyword(name, arity)
    }
}

/// The conditions that cannot hold, but for those that could if another such
/// condition did: of conditions that wait for each other the first.
fn first_causes<'n, 'a>(nevers: &'n [Never<'a>], dead: &[usize]) -> Vec<&'n Never<'a>> {
    let place: FxHashMap<usize, usize> =
        dead.iter().enumerate().map(|(at, &clause)| (clause, at)).collect();
    let mut edges: Vec<Vec<usize>> = vec![Vec::new(); dead.len()];
    for never in nevers {
        if let Some(&from) = place.get(&never.clause) {
            edges[from].extend(&never.makers);
        }
    }
    let component_of = components(edges.len(), |node, k| edges[node].get(k).copied());
    let n = component_of.iter().max().map_or(0, |&last| last + 1);
    // Rules that wait for others than themselves are explained by those.
    let mut is_explained = vec![false; n];
    for never in nevers {
        if let Some(&from) = place.get(&never.clause) {
            let own = component_of[from];
            let is_outside = |&at: &usize| component_of[at] != own;
            is_explained[own] |= never.makers.is_empty() || never.makers.iter().any(is_outside);
        }
    }
    let mut causes = Vec::new();
    for never in nevers {
        if never.makers.is_empty() {
            causes.push(never);
        } else if let Some(&from) = place.get(&never.clause)
            && !std::mem::replace(&mut is_explained[component_of[from]], true)
        {
            causes.push(never);
        }
    }
    causes
}

/// The sentences of a body, and whether they are negated.
fn sentences_of<'c>(body: &'c [Condition], found: &mut Vec<(&'c Atomic, bool)>) {
    for condition in body {
        match &condition.kind {
            ConditionKind::Positive(atomic) => found.push((atomic, false)),
            ConditionKind::Negative(atomic) => found.push((atomic, true)),
            ConditionKind::Distinct(..) | ConditionKind::Equal(..) => {}
            ConditionKind::Or(branches) => {
                branches.iter().for_each(|branch| sentences_of(branch, found));
            }
        }
    }
}

/// Whether an argument of a head can be this constant.
fn may_be(argument: &Argument, constant: SymbolId, values: &Values) -> bool {
    match &argument.kind {
        ArgumentKind::Constant(name) => *name == constant,
        ArgumentKind::Variable(id) => {
            values.get(id).is_none_or(|terms: &Terms| terms.may_be(constant))
        }
        ArgumentKind::Function(..) => false,
    }
}

/// Whether two sentences about the same subject have an instance in common, were
/// all occurrences of variables different ones.
fn all_meet(left: &Atomic, right: &Atomic) -> bool {
    left.arguments.iter().zip(&right.arguments).all(|(left, right)| meets(left, right))
}

/// As [`all_meet`], for terms.
fn meets(left: &Argument, right: &Argument) -> bool {
    match (&left.kind, &right.kind) {
        (ArgumentKind::Variable(_), _) | (_, ArgumentKind::Variable(_)) => true,
        (ArgumentKind::Constant(left), ArgumentKind::Constant(right)) => left == right,
        (ArgumentKind::Function(name, left), ArgumentKind::Function(other, right)) => {
            name == other
                && left.len() == right.len()
                && left.iter().zip(right).all(|(left, right)| meets(left, right))
        }
        _ => false,
    }
}
