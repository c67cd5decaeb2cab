//! How keywords are used: which must be there, with how many arguments, in
//! heads or bodies, and with which roles and goal values (GDL specification,
//! Love et al. 2008, section 3; GDL-II, Thielscher 2010).

use rustc_hash::FxHashSet;

use crate::finding::Findings;
use crate::rulesheet::Rulesheet;
use crate::span::Span;
use crate::symbol::SymbolId;
use crate::validate::clause::{Argument, ArgumentKind, Atomic, Clause, for_each_sentence};
use crate::validate::keyword::{Keyword, Words};
use crate::validate::names::{arguments, similar};

/// Maximum number of roles that moves and states have numbers for.
const MAX_ROLES: usize = 255;

pub(crate) struct Usage<'a> {
    pub(crate) rulesheet: &'a Rulesheet,
    pub(crate) words: &'a Words,
    pub(crate) clauses: &'a [Clause],
    pub(crate) findings: &'a mut Findings,
}

impl Usage<'_> {
    /// Checks all clauses; the roles in statement order.
    pub(crate) fn check(mut self) -> Vec<SymbolId> {
        let roles = self.roles();
        let known: FxHashSet<_> = roles.iter().copied().collect();
        for clause in self.clauses {
            self.head(clause);
            self.role_argument(&clause.head, &known);
            let mut sentences = Vec::new();
            for_each_sentence(&clause.body, &mut |sentence, _| sentences.push(sentence.clone()));
            for sentence in &sentences {
                self.in_body(sentence);
                self.role_argument(sentence, &known);
            }
        }
        roles
    }

    /// The four predicates no game can do without.
    pub(crate) fn missing(&mut self) {
        let rows = [
            (Keyword::Role, "declare each role by a fact such as `(role white)`"),
            (Keyword::Legal, "define the legal moves by rules for `(legal ?role ?move)`"),
            (Keyword::Goal, "define the goals of each role by rules for `(goal ?role ?value)`"),
            (Keyword::Terminal, "define the end of the game by rules for `terminal`"),
        ];
        for (keyword, help) in rows {
            let is_it = |clause: &Clause| self.words.named(clause.head.name) == Some(keyword);
            if !self.clauses.iter().any(is_it) {
                let message = format!("there is no rule for `{}`", keyword.name());
                self.findings.error("missing-keyword", Span::default(), message, help);
            }
        }
    }

    fn roles(&mut self) -> Vec<SymbolId> {
        let mut roles = Vec::new();
        let mut met = FxHashSet::default();
        for clause in self.clauses {
            if self.keyword(&clause.head) != Some(Keyword::Role) || !clause.body.is_empty() {
                continue;
            }
            let argument = &clause.head.arguments[0];
            match argument.kind {
                ArgumentKind::Constant(role) if met.contains(&role) => {
                    let name = self.rulesheet.spelling(role);
                    self.findings.warning(
                        "duplicate-role",
                        clause.span,
                        format!("the role `{name}` is declared twice"),
                        "remove one of the two; the first one counts here, but other systems may \
                         count two roles",
                    );
                }
                ArgumentKind::Constant(role) => {
                    roles.push(role);
                    met.insert(role);
                    self.chance(role, argument.span);
                }
                // Reported as a fact with a variable.
                ArgumentKind::Variable(_) => {}
                ArgumentKind::Function(..) => self.findings.error(
                    "compound-role",
                    argument.span,
                    "the name of a role is not a single word",
                    "name the role by a constant",
                ),
            }
        }
        if let (true, Some(clause)) = (roles.len() > MAX_ROLES, self.clauses.first()) {
            self.findings.error(
                "too-many-roles",
                clause.span,
                format!("there are {} roles", roles.len()),
                format!("at most {MAX_ROLES} are supported"),
            );
        }
        roles
    }

    /// A game of chance without percepts is one of perfect information.
    fn chance(&mut self, role: SymbolId, span: Span) {
        let is_sees = |clause: &Clause| self.keyword(&clause.head) == Some(Keyword::Sees);
        let named_random = self.rulesheet.symbols().find("random") == Some(role);
        if named_random && !self.clauses.iter().any(is_sees) {
            self.findings.info(
                "chance-in-the-open",
                span,
                "there is a role `random`, but no rule for `sees`",
                "all players will see all moves; to hide some, define what each role sees, as in \
                 `(<= (sees ?r (did ?q ?m)) (role ?r) (does ?q ?m))`",
            );
        }
    }

    fn head(&mut self, clause: &Clause) {
        let head = &clause.head;
        self.arity(head);
        let is_fact = clause.body.is_empty() && !clause.broken;
        match self.keyword(head) {
            Some(keyword @ (Keyword::True | Keyword::Does)) => {
                let name = keyword.name();
                let (code, what) = if is_fact {
                    ("keyword-as-fact", "a fact")
                } else {
                    ("keyword-in-head", "a head")
                };
                self.findings.error(
                    code,
                    head.span,
                    format!("`{name}` cannot be {what}"),
                    if keyword == Keyword::True {
                        "facts of the state are made by `init` and `next`"
                    } else {
                        "moves are made by the players; `legal` defines which are allowed"
                    },
                );
            }
            Some(Keyword::Role) if !is_fact => self.findings.error(
                "keyword-in-head",
                head.span,
                "`role` cannot be the head of a rule",
                "declare each role by a fact such as `(role white)`",
            ),
            Some(Keyword::Goal) => self.goal_value(&head.arguments[1]),
            _ => {}
        }
    }

    fn goal_value(&mut self, value: &Argument) {
        let name = match &value.kind {
            ArgumentKind::Variable(_) => return,
            ArgumentKind::Constant(name) => self.rulesheet.spelling(*name),
            ArgumentKind::Function(name, _) => self.rulesheet.spelling(*name),
        };
        let is_constant = matches!(value.kind, ArgumentKind::Constant(_));
        let is_goal = name.parse::<i64>().is_ok_and(|value| (0..=100).contains(&value));
        if !is_constant || !is_goal {
            self.findings.error(
                "bad-goal-value",
                value.span,
                format!("the goal value `{name}` is not an integer from 0 to 100"),
                "give a value from 0 (worst) to 100 (best)",
            );
        }
    }

    fn in_body(&mut self, sentence: &Atomic) {
        self.arity(sentence);
        let Some(keyword) = self.keyword(sentence) else { return };
        let name = keyword.name();
        match keyword {
            Keyword::Init | Keyword::Base | Keyword::Input => self.findings.error(
                "keyword-in-body",
                sentence.span,
                format!("`{name}` cannot be a condition"),
                match keyword {
                    Keyword::Init => "use `true` to test the current state",
                    Keyword::Base => "use `true`, or repeat the conditions of the rules for `base`",
                    _ => "use `legal` or `does`, or repeat the conditions of the rules for `input`",
                },
            ),
            Keyword::Next => self.findings.warning(
                "next-in-body",
                sentence.span,
                "`next` is used as a condition",
                "put the common conditions into a rule of their own; not all systems accept this",
            ),
            Keyword::Sees => self.findings.warning(
                "sees-in-body",
                sentence.span,
                "`sees` is used as a condition",
                "put the common conditions into a rule of their own; not all systems accept this",
            ),
            _ => {}
        }
    }

    fn arity(&mut self, sentence: &Atomic) {
        let (name, arity) = sentence.predicate();
        let Some(keyword) = self.words.named(name) else { return };
        if keyword.arity() == arity {
            return;
        }
        let (word, expected) = (keyword.name(), keyword.arity());
        if !keyword.is_late() {
            self.findings.error(
                "wrong-arity",
                sentence.span,
                format!("`{word}` takes {}, not {arity}", arguments(expected)),
                format!("give it {}", arguments(expected)),
            );
        } else if self.findings.first("keyword-as-relation", name, arity) {
            self.findings.warning(
                "keyword-as-relation",
                sentence.span,
                format!("`{word}` with {} is not the keyword", arguments(arity)),
                format!(
                    "it is read as an ordinary relation; rename it unless {} were meant",
                    arguments(expected)
                ),
            );
        }
    }

    /// The role that a keyword is about should be one.
    fn role_argument(&mut self, sentence: &Atomic, roles: &FxHashSet<SymbolId>) {
        let Some(keyword) = self.keyword(sentence) else { return };
        if !keyword.is_about_role() || roles.is_empty() {
            return;
        }
        let argument = &sentence.arguments[0];
        let name = match argument.kind {
            ArgumentKind::Variable(_) => return,
            ArgumentKind::Constant(name) if roles.contains(&name) => return,
            ArgumentKind::Constant(name) | ArgumentKind::Function(name, _) => name,
        };
        let name = self.rulesheet.spelling(name);
        // Too many roles are an error by themselves.
        let roles = roles.iter().filter(|_| roles.len() <= MAX_ROLES);
        let mut known: Vec<_> = roles.map(|&role| self.rulesheet.spelling(role)).collect();
        known.sort_unstable();
        let help = match similar(name, known) {
            Some(role) => format!("did you mean `{role}`?"),
            None => "check its spelling, or declare the role".to_owned(),
        };
        let message = format!("`{name}` is not a role, but is used in `{}`", keyword.name());
        self.findings.warning("unknown-role", argument.span, message, help);
    }

    fn keyword(&self, sentence: &Atomic) -> Option<Keyword> {
        let (name, arity) = sentence.predicate();
        self.words.keyword(name, arity)
    }
}
