//! From a game's rules to the clauses that reasoners evaluate.
//!
//! The meaning of GDL's keywords is settled here, so that later stages know only
//! relations:
//!
//! * `(true (cell ?x ?y ?m))` is a condition on the relation of the facts built with
//!   `cell` of three arguments, which has a fourth column for the fact as a whole;
//!   `(true ?p)` is one on the relation of all facts.
//! * An `or` becomes several clauses, or a predicate of its own when they would
//!   be too many.
//! * A negation with variables of its own becomes the negation of a predicate
//!   that has them projected away.
//! * Equations are solved by substitution.
//!
//! Predicates are divided by what they depend on: the rules alone (*static*), the state,
//! or the moves made in it (*action*).

use rustc_hash::{FxHashMap, FxHashSet};

use crate::Game;
use crate::rule::{Literal, Rule, Sentence, Term};
use crate::symbol::SymbolId;

use super::terms::{FunctorId, TermId, Terms};
use crate::components::components;
use crate::state_machine::{MAX_TERM_SIZE, ReasoningError};

/// Maximum number of clauses made of one rule.
const MAX_ALTERNATIVES: usize = 64;

/// Maximum number of conditions of all clauses. One of many alternatives repeats what stands
/// beside them.
const MAX_CONDITIONS: usize = 200_000;

/// A predicate, by its number.
pub(crate) type PredicateId = usize;

/// A term of a clause. Ground terms are constants, compound ones too.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Pattern {
    Constant(TermId),
    Variable(u32),
    Compound(FunctorId, Vec<Pattern>),
}

/// A predicate applied to terms.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Atom {
    pub(crate) predicate: PredicateId,
    pub(crate) arguments: Vec<Pattern>,
}

/// A condition.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Condition {
    Positive(Atom),
    Negative(Atom),
    Distinct(Pattern, Pattern),
}

/// A rule without `or`.
#[derive(Clone, Debug)]
pub(crate) struct Clause {
    pub(crate) head: Atom,
    pub(crate) body: Vec<Condition>,
    pub(crate) n_variables: u32,
    /// Orders the clauses of one component, if a negation lies inside it.
    pub(crate) stratum: usize,
}

/// What a predicate depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Phase {
    Static,
    State,
    Action,
}

/// Where the rows of a predicate come from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Source {
    /// The facts of the state with this functor.
    Facts(FunctorId),
    /// All facts of the state.
    AllFacts,
    /// The moves.
    Moves,
    /// Clauses.
    Clauses,
}

/// A predicate's properties.
#[derive(Clone, Debug)]
pub(crate) struct Predicate {
    pub(crate) name: SymbolId,
    pub(crate) arity: usize,
    pub(crate) source: Source,
    pub(crate) phase: Phase,
    pub(crate) component: usize,
    pub(crate) clauses: Vec<usize>,
}

/// Predicates that depend on each other and are evaluated as one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Component {
    pub(crate) predicates: Vec<PredicateId>,
    pub(crate) recursive: bool,
    /// Some negation leads back into the component.
    pub(crate) negation_inside: bool,
}

/// The predicates that questions about states use.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Roots {
    pub(crate) init: PredicateId,
    pub(crate) legal: PredicateId,
    pub(crate) terminal: PredicateId,
    pub(crate) goal: PredicateId,
    pub(crate) next: PredicateId,
    pub(crate) sees: PredicateId,
    pub(crate) does: PredicateId,
}

/// All clauses that some question may need.
#[derive(Clone, Debug)]
pub(crate) struct Rules {
    pub(crate) predicates: Vec<Predicate>,
    pub(crate) clauses: Vec<Clause>,
    /// In order of evaluation: a component depends on earlier ones only.
    pub(crate) components: Vec<Component>,
    pub(crate) roots: Roots,
}

/// Reads the rules of a game.
///
/// # Errors
/// If equations make the terms of some rule too large, or alternatives the rules.
pub(crate) fn rules(game: &Game, terms: &mut Terms) -> Result<Rules, ReasoningError> {
    let mut reading = Reading::new(game, terms);
    let root = |reading: &mut Reading<'_>, name: &str, arity| match game.symbols().find(name) {
        Some(symbol) => reading.predicate((symbol, arity), Source::Clauses),
        None => reading.new_predicate(SymbolId(u32::MAX), arity, Source::Clauses),
    };
    let roots = Roots {
        init: root(&mut reading, "init", 1),
        legal: root(&mut reading, "legal", 2),
        terminal: root(&mut reading, "terminal", 0),
        goal: root(&mut reading, "goal", 2),
        next: root(&mut reading, "next", 1),
        sees: root(&mut reading, "sees", 2),
        does: reading.new_predicate(SymbolId(u32::MAX), 2, Source::Moves),
    };
    reading.does = Some((game.symbols().find("does"), roots.does));
    for (stratum, of_stratum) in game.strata().iter().enumerate() {
        for &rule in of_stratum {
            reading.rule(&game.rules()[rule], 2 * stratum)?;
        }
    }
    let mut rules = Rules {
        predicates: reading.predicates,
        clauses: reading.clauses,
        components: Vec::new(),
        roots,
    };
    rules.keep_needed();
    rules.find_components();
    rules.find_phases();
    Ok(rules)
}

struct Reading<'a> {
    terms: &'a mut Terms,
    predicates: Vec<Predicate>,
    ids: FxHashMap<(SymbolId, usize), PredicateId>,
    facts: FxHashMap<FunctorId, PredicateId>,
    all_facts: Option<PredicateId>,
    truth: Option<SymbolId>,
    does: Option<(Option<SymbolId>, PredicateId)>,
    clauses: Vec<Clause>,
    /// The conditions of all clauses so far.
    n_conditions: usize,
}

impl<'a> Reading<'a> {
    fn new(game: &Game, terms: &'a mut Terms) -> Self {
        Self {
            terms,
            predicates: Vec::new(),
            ids: FxHashMap::default(),
            facts: FxHashMap::default(),
            all_facts: None,
            truth: game.symbols().find("true"),
            does: None,
            clauses: Vec::new(),
            n_conditions: 0,
        }
    }

    fn new_predicate(&mut self, name: SymbolId, arity: usize, source: Source) -> PredicateId {
        self.predicates.push(Predicate {
            name,
            arity,
            source,
            phase: Phase::Static,
            component: 0,
            clauses: Vec::new(),
        });
        self.predicates.len() - 1
    }

    fn predicate(&mut self, key: (SymbolId, usize), source: Source) -> PredicateId {
        if let Some(&id) = self.ids.get(&key) {
            return id;
        }
        let id = self.new_predicate(key.0, key.1, source);
        self.ids.insert(key, id);
        id
    }

    fn pattern(&mut self, term: &Term) -> Pattern {
        match term {
            Term::Constant(name) => Pattern::Constant(self.terms.constant(*name)),
            Term::Variable(id) => Pattern::Variable(id.0),
            Term::Function(name, arguments) => {
                let functor = self.terms.functor_id(*name, arguments.len() as u32);
                let arguments: Vec<_> = arguments.iter().map(|term| self.pattern(term)).collect();
                self.compound(functor, arguments)
            }
        }
    }

    fn compound(&mut self, functor: FunctorId, arguments: Vec<Pattern>) -> Pattern {
        let ground: Option<Vec<TermId>> = arguments
            .iter()
            .map(|argument| match argument {
                Pattern::Constant(term) => Some(*term),
                _ => None,
            })
            .collect();
        match ground {
            Some(ground) => Pattern::Constant(self.terms.intern(functor, &ground)),
            None => Pattern::Compound(functor, arguments),
        }
    }

    /// A sentence of a body; `fresh` counts the clause's variables.
    fn atom(&mut self, sentence: &Sentence, fresh: &mut u32) -> Atom {
        let arity = sentence.arguments.len();
        if Some(sentence.name) == self.truth && arity == 1 {
            return self.fact(&sentence.arguments[0], fresh);
        }
        let arguments = sentence.arguments.iter().map(|term| self.pattern(term)).collect();
        let predicate = match self.does {
            Some((Some(name), does)) if name == sentence.name && arity == 2 => does,
            _ => self.predicate((sentence.name, arity), Source::Clauses),
        };
        Atom { predicate, arguments }
    }

    fn fact(&mut self, term: &Term, fresh: &mut u32) -> Atom {
        let whole = self.pattern(term);
        let (name, mut arguments) = match term {
            Term::Variable(_) => {
                let predicate = match self.all_facts {
                    Some(predicate) => predicate,
                    None => self.new_predicate(SymbolId(u32::MAX), 1, Source::AllFacts),
                };
                self.all_facts = Some(predicate);
                return Atom { predicate, arguments: vec![whole] };
            }
            Term::Constant(name) => (*name, Vec::new()),
            Term::Function(name, arguments) => {
                (*name, arguments.iter().map(|term| self.pattern(term)).collect())
            }
        };
        let functor = self.terms.functor_id(name, arguments.len() as u32);
        let predicate = match self.facts.get(&functor) {
            Some(&predicate) => predicate,
            None => {
                let arity = if arguments.is_empty() { 0 } else { arguments.len() + 1 };
                let predicate = self.new_predicate(name, arity, Source::Facts(functor));
                self.facts.insert(functor, predicate);
                predicate
            }
        };
        if !arguments.is_empty() {
            arguments.push(Pattern::Variable(*fresh));
            *fresh += 1;
        }
        Atom { predicate, arguments }
    }

    fn rule(&mut self, rule: &Rule, stratum: usize) -> Result<(), ReasoningError> {
        let body = self.split_large(rule, stratum)?;
        let body: &[Literal] = body.as_deref().unwrap_or(&rule.body);
        let mut alternatives = Vec::new();
        expand(body, &mut Vec::new(), &mut alternatives);
        for alternative in alternatives {
            self.n_conditions += alternative.len();
            if self.n_conditions > MAX_CONDITIONS {
                return Err(ReasoningError::RulesTooLarge { limit: MAX_CONDITIONS });
            }
            self.clause(rule, &alternative, stratum)?;
        }
        Ok(())
    }

    /// Replaces the largest `or` by a predicate of its own, until few clauses
    /// remain to be made of the rule. The new predicate repeats the positive
    /// conditions beside the `or`, so that its clauses are safe by themselves.
    fn split_large(
        &mut self,
        rule: &Rule,
        stratum: usize,
    ) -> Result<Option<Vec<Literal>>, ReasoningError> {
        let mut changed = None;
        while n_alternatives(changed.as_deref().unwrap_or(&rule.body)) > MAX_ALTERNATIVES {
            let body = changed.get_or_insert_with(|| rule.body.clone());
            let size = |literal: &Literal| n_alternatives(std::slice::from_ref(literal));
            let Some(at) = (0..body.len()).max_by_key(|&at| size(&body[at])) else { break };
            let Literal::Or(branches) = &body[at] else { break };
            if branches.iter().all(|branch| n_alternatives(branch) == 1) && n_ors(body) == 1 {
                // One plain list of alternatives: as many clauses.
                break;
            }
            let branches = branches.clone();
            let others: Vec<_> = body
                .iter()
                .filter(|other| matches!(other, Literal::Positive(_)))
                .cloned()
                .collect();
            let mut elsewhere = Vec::new();
            sentence_variables(&rule.head, &mut elsewhere);
            for (other, literal) in body.iter().enumerate() {
                if other != at {
                    literal_variables(literal, &mut elsewhere);
                }
            }
            let mut variables = Vec::new();
            literal_variables(&body[at], &mut variables);
            variables.sort_unstable();
            variables.dedup();
            // What only negations bind stays inside.
            let mut bound = Vec::new();
            others.iter().for_each(|literal| literal_variables(literal, &mut bound));
            supplied(&body[at], &mut bound);
            variables.retain(|id| elsewhere.contains(id) && bound.contains(id));
            let predicate =
                self.new_predicate(SymbolId(u32::MAX), variables.len(), Source::Clauses);
            let name = SymbolId(u32::MAX - 1 - u32::try_from(predicate).unwrap_or(0));
            self.ids.insert((name, variables.len()), predicate);
            let arguments = variables.iter().map(|&id| Term::Variable(id)).collect();
            let head = Sentence { name, arguments };
            for branch in branches {
                let body = others.iter().cloned().chain(branch).collect();
                let part = Rule { head: head.clone(), body, n_variables: rule.n_variables };
                self.rule(&part, stratum)?;
            }
            body[at] = Literal::Positive(head);
        }
        Ok(changed)
    }

    fn clause(
        &mut self,
        rule: &Rule,
        body: &[&Literal],
        stratum: usize,
    ) -> Result<(), ReasoningError> {
        let mut n_variables = rule.n_variables;
        let head = Atom {
            predicate: self.predicate((rule.head.name, rule.head.arguments.len()), Source::Clauses),
            arguments: rule.head.arguments.iter().map(|term| self.pattern(term)).collect(),
        };
        let mut conditions = Vec::new();
        let mut equations = Vec::new();
        let mut whole_facts: Vec<(Pattern, u32)> = Vec::new();
        for literal in body {
            match literal {
                Literal::Positive(sentence) => {
                    let atom = self.atom(sentence, &mut n_variables);
                    if let (Source::Facts(functor), Some(Pattern::Variable(id))) =
                        (&self.predicates[atom.predicate].source, atom.arguments.last())
                    {
                        let arguments = atom.arguments[..atom.arguments.len() - 1].to_vec();
                        whole_facts.push((Pattern::Compound(*functor, arguments), *id));
                    }
                    conditions.push(Condition::Positive(atom));
                }
                Literal::Negative(sentence) => {
                    let atom = self.atom(sentence, &mut n_variables);
                    conditions.push(Condition::Negative(atom));
                }
                Literal::Distinct(left, right) => {
                    conditions.push(Condition::Distinct(self.pattern(left), self.pattern(right)));
                }
                Literal::Equal(left, right) => {
                    equations.push((self.pattern(left), self.pattern(right)));
                }
                Literal::Or(_) => unreachable!("alternatives hold no `or`"),
            }
        }
        let mut clause = Clause { head, body: conditions, n_variables, stratum };
        if !self.solve(&mut clause, equations)? {
            return Ok(());
        }
        // A fact that is handed on need not be built again.
        for argument in &mut clause.head.arguments {
            if let Some((_, id)) = whole_facts.iter().find(|(whole, _)| whole == argument) {
                *argument = Pattern::Variable(*id);
            }
        }
        self.close_negations(&mut clause);
        let mut known = FxHashSet::default();
        clause.body.retain(|condition| known.insert(condition.clone()));
        self.add(clause);
        Ok(())
    }

    fn add(&mut self, clause: Clause) {
        self.predicates[clause.head.predicate].clauses.push(self.clauses.len());
        self.clauses.push(clause);
    }

    /// Solves equations by substitution, and comparisons that the patterns
    /// decide; `false` if the body can never hold.
    fn solve(
        &mut self,
        clause: &mut Clause,
        mut equations: Vec<(Pattern, Pattern)>,
    ) -> Result<bool, ReasoningError> {
        // Each equation may double what another one put in.
        let mut growth = 0_usize;
        while let Some((left, right)) = equations.pop() {
            match (left, right) {
                (left, right) if left == right => {}
                (Pattern::Variable(id), other) | (other, Pattern::Variable(id)) => {
                    if occurs(id, &other) {
                        return Ok(false);
                    }
                    let mut n = 0_usize;
                    let mut note = |pattern: &mut Pattern| {
                        each_variable(pattern, &mut |other| n += usize::from(other == id));
                    };
                    clause.head.arguments.iter_mut().for_each(&mut note);
                    for condition in &mut clause.body {
                        each_pattern(condition, &mut note);
                    }
                    for (left, right) in &mut equations {
                        note(left);
                        note(right);
                    }
                    growth = growth.saturating_add(n.saturating_mul(size_of(&other) - 1));
                    let is_large = |pattern: &Pattern| match pattern {
                        Pattern::Constant(term) => self.terms.size(*term) > MAX_TERM_SIZE,
                        _ => false,
                    };
                    if growth > MAX_TERM_SIZE as usize || is_large(&other) {
                        return Err(ReasoningError::TermTooLarge { limit: MAX_TERM_SIZE });
                    }
                    let mut replace = |pattern: &mut Pattern| {
                        *pattern = self.substitute(pattern, id, &other);
                    };
                    clause.head.arguments.iter_mut().for_each(&mut replace);
                    for condition in &mut clause.body {
                        each_pattern(condition, &mut replace);
                    }
                    for (left, right) in &mut equations {
                        replace(left);
                        replace(right);
                    }
                }
                (left, right) => match (self.parts(&left), self.parts(&right)) {
                    ((name, left), (other, right)) if name == other => {
                        equations.extend(left.into_iter().zip(right));
                    }
                    _ => return Ok(false),
                },
            }
        }
        let mut possible = true;
        clause.body.retain(|condition| match condition {
            Condition::Distinct(left, right) if left == right => {
                possible = false;
                true
            }
            Condition::Distinct(left, right) => self.may_equal(left, right),
            _ => true,
        });
        Ok(possible)
    }

    fn substitute(&mut self, pattern: &Pattern, id: u32, by: &Pattern) -> Pattern {
        match pattern {
            Pattern::Variable(other) if *other == id => by.clone(),
            Pattern::Compound(functor, arguments) => {
                let arguments = arguments.iter().map(|part| self.substitute(part, id, by));
                let arguments: Vec<_> = arguments.collect();
                self.compound(*functor, arguments)
            }
            other => other.clone(),
        }
    }

    /// Functor and arguments of what is no variable.
    fn parts(&self, pattern: &Pattern) -> (FunctorId, Vec<Pattern>) {
        match pattern {
            Pattern::Constant(term) => (
                self.terms.functor(*term),
                self.terms.arguments(*term).iter().map(|&term| Pattern::Constant(term)).collect(),
            ),
            Pattern::Compound(functor, arguments) => (*functor, arguments.clone()),
            Pattern::Variable(_) => unreachable!("variables are substituted first"),
        }
    }

    fn may_equal(&self, left: &Pattern, right: &Pattern) -> bool {
        match (left, right) {
            (Pattern::Variable(_), _) | (_, Pattern::Variable(_)) => true,
            (Pattern::Constant(left), Pattern::Constant(right)) => left == right,
            _ => {
                let ((name, left), (other, right)) = (self.parts(left), self.parts(right));
                name == other
                    && left.iter().zip(&right).all(|(left, right)| self.may_equal(left, right))
            }
        }
    }

    /// Puts a predicate of its own before each negation that has a variable of
    /// its own deeper than in a column: there is no such thing. In a column
    /// such a variable simply matches anything.
    fn close_negations(&mut self, clause: &mut Clause) {
        let mut supplied = vec![false; clause.n_variables as usize];
        for condition in &clause.body {
            if let Condition::Positive(atom) = condition {
                let mut note = |id: u32| supplied[id as usize] = true;
                atom.arguments.iter().for_each(|argument| each_variable(argument, &mut note));
            }
        }
        for at in 0..clause.body.len() {
            let Condition::Negative(atom) = &clause.body[at] else { continue };
            let mut own: Vec<u32> = Vec::new();
            let mut outer: Vec<u32> = Vec::new();
            let mut note = |id: u32| {
                let into = if supplied[id as usize] { &mut outer } else { &mut own };
                into.push(id);
            };
            atom.arguments.iter().for_each(|argument| each_variable(argument, &mut note));
            let is_column = |id: &u32| atom.arguments.contains(&Pattern::Variable(*id));
            let occurs_once = |id: &u32| own.iter().filter(|other| *other == id).count() == 1;
            if own.iter().all(|id| is_column(id) && occurs_once(id)) {
                continue;
            }
            outer.sort_unstable();
            outer.dedup();
            let predicate = self.new_predicate(SymbolId(u32::MAX), outer.len(), Source::Clauses);
            let arguments: Vec<_> = outer.iter().map(|&id| Pattern::Variable(id)).collect();
            let head = Atom { predicate, arguments };
            self.add(Clause {
                head: head.clone(),
                body: vec![Condition::Positive(atom.clone())],
                n_variables: clause.n_variables,
                // After everything that the negation needs, before its users.
                stratum: clause.stratum.saturating_sub(1),
            });
            clause.body[at] = Condition::Negative(head);
        }
    }
}

/// All conjunctions of a body, by choosing one branch of each `or`.
fn expand<'l>(body: &'l [Literal], chosen: &mut Vec<&'l Literal>, out: &mut Vec<Vec<&'l Literal>>) {
    fn go<'l>(
        todo: &mut Vec<&'l [Literal]>,
        chosen: &mut Vec<&'l Literal>,
        out: &mut Vec<Vec<&'l Literal>>,
    ) {
        let Some(body) = todo.pop() else {
            out.push(chosen.clone());
            return;
        };
        match body {
            [] => go(todo, chosen, out),
            [Literal::Or(branches), rest @ ..] => {
                for branch in branches {
                    let mut todo = todo.clone();
                    todo.push(rest);
                    todo.push(branch);
                    let n_chosen = chosen.len();
                    go(&mut todo, chosen, out);
                    chosen.truncate(n_chosen);
                }
            }
            [literal, rest @ ..] => {
                chosen.push(literal);
                todo.push(rest);
                go(todo, chosen, out);
            }
        }
    }
    go(&mut vec![body], chosen, out);
}

fn n_alternatives(body: &[Literal]) -> usize {
    body.iter().fold(1, |product, literal| match literal {
        Literal::Or(branches) => {
            let sum = branches
                .iter()
                .fold(0_usize, |sum, branch| sum.saturating_add(n_alternatives(branch)));
            product.saturating_mul(sum)
        }
        _ => product,
    })
}

fn n_ors(body: &[Literal]) -> usize {
    body.iter().filter(|literal| matches!(literal, Literal::Or(_))).count()
}

type Ids = Vec<crate::rule::VariableId>;

fn sentence_variables(sentence: &Sentence, into: &mut Ids) {
    sentence.arguments.iter().for_each(|term| term_variables(term, into));
}

fn term_variables(term: &Term, into: &mut Ids) {
    match term {
        Term::Constant(_) => {}
        Term::Variable(id) => into.push(*id),
        Term::Function(_, arguments) => {
            arguments.iter().for_each(|term| term_variables(term, into));
        }
    }
}

fn literal_variables(literal: &Literal, into: &mut Ids) {
    match literal {
        Literal::Positive(sentence) | Literal::Negative(sentence) => {
            sentence_variables(sentence, into);
        }
        Literal::Distinct(left, right) | Literal::Equal(left, right) => {
            term_variables(left, into);
            term_variables(right, into);
        }
        Literal::Or(branches) => {
            branches.iter().flatten().for_each(|literal| literal_variables(literal, into));
        }
    }
}

/// The variables that a literal binds whichever way it holds.
fn supplied(literal: &Literal, into: &mut Ids) {
    match literal {
        Literal::Positive(sentence) => sentence_variables(sentence, into),
        Literal::Or(branches) => {
            let of_branch = |branch: &Vec<Literal>| {
                let mut ids = Vec::new();
                branch.iter().for_each(|literal| supplied(literal, &mut ids));
                ids
            };
            let mut sets = branches.iter().map(of_branch);
            if let Some(first) = sets.next() {
                let rest: Vec<_> = sets.collect();
                into.extend(first.into_iter().filter(|id| rest.iter().all(|set| set.contains(id))));
            }
        }
        _ => {}
    }
}

fn occurs(id: u32, pattern: &Pattern) -> bool {
    let mut found = false;
    each_variable(pattern, &mut |other| found |= other == id);
    found
}

/// The symbols and variables of a pattern, each ground term taken for one.
fn size_of(pattern: &Pattern) -> usize {
    match pattern {
        Pattern::Constant(_) | Pattern::Variable(_) => 1,
        Pattern::Compound(_, arguments) => 1 + arguments.iter().map(size_of).sum::<usize>(),
    }
}

/// Calls `visit` for each occurrence of a variable.
pub(crate) fn each_variable(pattern: &Pattern, visit: &mut impl FnMut(u32)) {
    match pattern {
        Pattern::Constant(_) => {}
        Pattern::Variable(id) => visit(*id),
        Pattern::Compound(_, arguments) => {
            arguments.iter().for_each(|argument| each_variable(argument, visit));
        }
    }
}

fn each_pattern(condition: &mut Condition, visit: &mut impl FnMut(&mut Pattern)) {
    match condition {
        Condition::Positive(atom) | Condition::Negative(atom) => {
            atom.arguments.iter_mut().for_each(visit);
        }
        Condition::Distinct(left, right) => {
            visit(left);
            visit(right);
        }
    }
}

impl Condition {
    /// The sentence, and whether it is negated.
    pub(crate) fn atom(&self) -> Option<(&Atom, bool)> {
        match self {
            Self::Positive(atom) => Some((atom, false)),
            Self::Negative(atom) => Some((atom, true)),
            Self::Distinct(..) => None,
        }
    }
}

impl Rules {
    /// Drops the clauses of predicates that no question leads to.
    fn keep_needed(&mut self) {
        let roots = self.roots;
        let mut todo =
            vec![roots.init, roots.legal, roots.terminal, roots.goal, roots.next, roots.sees];
        let mut needed = vec![false; self.predicates.len()];
        while let Some(predicate) = todo.pop() {
            if std::mem::replace(&mut needed[predicate], true) {
                continue;
            }
            for &clause in &self.predicates[predicate].clauses {
                let atoms = self.clauses[clause].body.iter().filter_map(Condition::atom);
                todo.extend(atoms.map(|(atom, _)| atom.predicate));
            }
        }
        for (predicate, &needed) in self.predicates.iter_mut().zip(&needed) {
            if !needed {
                predicate.clauses.clear();
            }
        }
    }

    /// Whether a component may be evaluated on demand.
    pub(crate) fn is_demandable(&self, component: usize) -> bool {
        let info = &self.components[component];
        let given = |&id: &PredicateId| {
            self.predicates[id].source != Source::Clauses || self.predicates[id].arity == 0
        };
        !info.negation_inside
            && !self.is_needed_in_full(component)
            && !info.predicates.iter().all(given)
    }

    /// Whether some question needs all of it.
    pub(crate) fn is_needed_in_full(&self, component: usize) -> bool {
        let roots = &self.roots;
        [roots.init, roots.legal, roots.terminal, roots.goal, roots.next, roots.sees]
            .iter()
            .any(|&id| self.predicates[id].component == component)
    }

    fn find_components(&mut self) {
        let edges: Vec<Vec<usize>> = self
            .predicates
            .iter()
            .map(|predicate| {
                let bodies = predicate.clauses.iter().flat_map(|&at| &self.clauses[at].body);
                bodies.filter_map(Condition::atom).map(|(atom, _)| atom.predicate).collect()
            })
            .collect();
        let component_of = components(edges.len(), |node, k| edges[node].get(k).copied());
        let n = component_of.iter().max().map_or(0, |&last| last + 1);
        self.components = vec![Component::default(); n];
        for (id, &component) in component_of.iter().enumerate() {
            self.predicates[id].component = component;
            self.components[component].predicates.push(id);
            self.components[component].recursive |= edges[id].contains(&id);
        }
        for component in &mut self.components {
            component.recursive |= component.predicates.len() > 1;
        }
        for clause in &self.clauses {
            let component = component_of[clause.head.predicate];
            for (atom, negative) in clause.body.iter().filter_map(Condition::atom) {
                if negative && component_of[atom.predicate] == component {
                    self.components[component].negation_inside = true;
                }
            }
        }
    }

    fn find_phases(&mut self) {
        for component in &self.components {
            let phase_of = |&id: &PredicateId| match self.predicates[id].source {
                Source::Facts(_) | Source::AllFacts => Phase::State,
                Source::Moves => Phase::Action,
                Source::Clauses => {
                    let clauses = &self.predicates[id].clauses;
                    let bodies = clauses.iter().flat_map(|&at| &self.clauses[at].body);
                    let atoms = bodies.filter_map(Condition::atom);
                    atoms
                        .map(|(atom, _)| self.predicates[atom.predicate].phase)
                        .max()
                        .unwrap_or(Phase::Static)
                }
            };
            let phase = component.predicates.iter().map(phase_of).max().unwrap_or(Phase::Static);
            for &id in &component.predicates {
                self.predicates[id].phase = phase;
            }
        }
    }
}
