//! What random playouts show of a rulesheet: states in which a role cannot move,
//! ends without a goal, games that do not end, and conditions that never held.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Args;
use games::rulesheet::{Form, FormKind};
use games::{Expression, Finding, Game, ReasoningError, Rulesheet, Severity, Span, State};
use results::counted::counted;

use super::super::machine;
use super::super::walk::{Walker, playout_rng};
use crate::commands::number::whole_from;
use crate::commands::time_limits::clock;
use crate::diagnostics::Diagnostics;
use crate::failure::Failure;

/// Joint moves that are named as the way to a state; of longer ways, only the
/// length.
const MAX_NAMED: usize = 12;

/// How much to play.
#[derive(Args, Clone, Copy, Debug)]
pub(super) struct Playing {
    /// Also check the game in random playouts
    #[arg(long)]
    pub(super) play: bool,
    /// Play N random playouts of each game
    #[arg(long, value_name = "N", default_value_t = 100, requires = "play", value_parser = whole_from::<u64>(0))]
    playouts: u64,
    /// Stop each playout after N steps
    #[arg(long, value_name = "N", default_value_t = 1000, requires = "play", value_parser = whole_from::<usize>(0))]
    step_limit: usize,
    /// Use this random seed
    #[arg(long, value_name = "S", default_value_t = 1, requires = "play", value_parser = whole_from::<u64>(0))]
    seed: u64,
    /// Play each game for at most this time
    #[arg(long, value_name = "TIME", default_value = "10s", requires = "play", value_parser = clock)]
    time: Duration,
}

/// The findings of all playouts of one game.
struct Seen {
    playouts: u64,
    /// Playouts that were cut.
    cut: u64,
    /// All facts of all states.
    facts: BTreeSet<Expression>,
    /// By kind of finding and role: the first of its kind, and how many there were.
    odd: BTreeMap<(&'static str, usize), (Oddity, u64)>,
    failure: Option<ReasoningError>,
}

/// Something odd in a playout.
struct Oddity {
    severity: Severity,
    message: String,
    help: &'static str,
    /// The joint moves that lead there.
    way: Vec<String>,
}

/// Adds what random playouts show to what was found by reading.
pub(super) fn play(
    diagnostics: &Diagnostics,
    game: &Arc<Game>,
    rulesheet: &Rulesheet,
    playing: Playing,
) -> Result<Diagnostics, Failure> {
    let seen = playouts(game, playing)?;
    let mut findings = diagnostics.findings().to_vec();
    let roles = role_spans(rulesheet);
    for ((code, role), (oddity, count)) in &seen.odd {
        let name = game.symbols().name(game.roles()[*role]);
        let span = roles.get(&name.to_ascii_lowercase()).copied().unwrap_or_default();
        findings.push(oddity.finding(code, span, *count, seen.playouts));
    }
    if let Some(error) = &seen.failure {
        findings.push(Finding {
            code: "cannot-be-computed",
            severity: Severity::Error,
            span: Span::default(),
            message: format!("random play reached a state that cannot be computed: {error}"),
            help: "matches that reach this state end as game_error".to_owned(),
        });
    } else if seen.cut > 0 {
        findings.push(unended(&seen, playing));
    }
    if seen.playouts > 0 {
        findings.extend(never_held(rulesheet, &seen));
    }
    findings.sort_by_key(|finding| (finding.span.start, std::cmp::Reverse(finding.severity)));
    Ok(Diagnostics::new(diagnostics.file(), diagnostics.text(), findings))
}

fn playouts(game: &Arc<Game>, playing: Playing) -> Result<Seen, Failure> {
    let mut walker = Walker::new(machine(game)?);
    let mut seen =
        Seen { playouts: 0, cut: 0, facts: BTreeSet::new(), odd: BTreeMap::new(), failure: None };
    let deadline = Instant::now() + playing.time;
    while seen.playouts < playing.playouts && (seen.playouts == 0 || Instant::now() < deadline) {
        match playout(&mut walker, game, seen.playouts, playing, deadline, &mut seen) {
            Ok(()) => seen.playouts += 1,
            Err(error) => {
                seen.failure = Some(error);
                break;
            }
        }
    }
    Ok(seen)
}

fn playout(
    walker: &mut Walker,
    game: &Game,
    playout: u64,
    playing: Playing,
    deadline: Instant,
    seen: &mut Seen,
) -> Result<(), ReasoningError> {
    let mut rng = playout_rng(playing.seed, playout);
    let mut state = walker.machine.initial_state()?;
    let mut way = Vec::new();
    for step in 0..=playing.step_limit {
        seen.facts.extend(walker.machine.facts(&state));
        if walker.machine.is_terminal(&state)? {
            return note_goals(walker, game, &state, &way, seen);
        }
        if !walker.find_moves(&state)? {
            for role in walker.roles().map(|role| usize::from(role.0)) {
                if walker.moves[role].is_empty() {
                    seen.note("no-legal-move", role, || Oddity {
                        severity: Severity::Error,
                        message: format!(
                            "`{}` has no legal move at step {step}",
                            game.symbols().name(game.roles()[role])
                        ),
                        help: "give each role at least one move (such as `noop`) in every state that \
                               is not terminal; otherwise the match ends as game_error",
                        way: way.clone(),
                    });
                }
            }
            return Ok(());
        }
        if step == playing.step_limit || Instant::now() >= deadline {
            break;
        }
        let joint_move = walker.draw(&mut rng).to_vec();
        let moves = joint_move.iter().map(|&id| walker.machine.move_expression(id)).collect();
        way.push(Expression::List(moves).to_string());
        walker.advance(&mut state)?;
    }
    seen.cut += 1;
    Ok(())
}

/// Looks at the goals of a terminal state.
fn note_goals(
    walker: &mut Walker,
    game: &Game,
    state: &State,
    way: &[String],
    seen: &mut Seen,
) -> Result<(), ReasoningError> {
    let random = game.random();
    for role in walker.roles().filter(|&role| Some(role) != random) {
        let reading = walker.machine.goal(state, role)?;
        let role = usize::from(role.0);
        let name = game.symbols().name(game.roles()[role]);
        let n_values = reading.values.len() + usize::from(reading.unreadable);
        let (code, what, help) = if reading.values.is_empty() {
            (
                "goal-missing",
                "no goal",
                "give each role one goal in every terminal state; a match that ends there counts \
                 as 0 for it",
            )
        } else if n_values > 1 {
            (
                "goal-conflict",
                "several goals",
                "give each role one goal in every terminal state; of several, the smallest counts",
            )
        } else if reading.clamped {
            (
                "goal-out-of-range",
                "a goal that is not from 0 to 100",
                "give values from 0 (worst) to 100 (best); others are moved to the nearer end",
            )
        } else {
            continue;
        };
        seen.note(code, role, || Oddity {
            severity: Severity::Warning,
            message: format!("`{name}` has {what} in the terminal state at step {}", way.len()),
            help,
            way: way.to_vec(),
        });
    }
    Ok(())
}

impl Seen {
    fn note(&mut self, code: &'static str, role: usize, oddity: impl FnOnce() -> Oddity) {
        self.odd.entry((code, role)).or_insert_with(|| (oddity(), 0)).1 += 1;
    }
}

impl Oddity {
    fn finding(&self, code: &'static str, span: Span, count: u64, playouts: u64) -> Finding {
        let Self { severity, message, help, way } = self;
        let way = match way.as_slice() {
            [] => "in the initial state".to_owned(),
            way if way.len() <= MAX_NAMED => format!("after {}", way.join(" ")),
            way => format!("after {} joint moves", way.len()),
        };
        Finding {
            code,
            severity: *severity,
            span,
            message: format!("{message}, in {count} of {}", random_playouts(playouts)),
            help: format!("{help}. First seen {way}"),
        }
    }
}

fn random_playouts(n: u64) -> String {
    counted(n, "random playout", "random playouts")
}

fn unended(seen: &Seen, playing: Playing) -> Finding {
    let none = seen.cut == seen.playouts;
    Finding {
        code: "no-end",
        severity: if none { Severity::Warning } else { Severity::Note },
        span: Span::default(),
        message: format!(
            "{} of {} did not end within {} steps and {}",
            seen.cut,
            random_playouts(seen.playouts),
            playing.step_limit,
            humantime::format_duration(playing.time)
        ),
        help:
            "matches that reach the step limit are not scored; add a step counter to the rules, or \
               allow longer playouts with --step-limit and --time"
                .to_owned(),
    }
}

/// The statements of roles, by name in lower case.
fn role_spans(rulesheet: &Rulesheet) -> BTreeMap<String, Span> {
    let mut spans = BTreeMap::new();
    for form in rulesheet.forms() {
        if let Expression::List(items) = rulesheet.expression(form)
            && let [Expression::Atom(word), Expression::Atom(role)] = items.as_slice()
            && word.eq_ignore_ascii_case("role")
        {
            spans.entry(role.to_ascii_lowercase()).or_insert(form.span);
        }
    }
    spans
}

/// Hints about conditions that no state of any playout fulfilled.
fn never_held(rulesheet: &Rulesheet, seen: &Seen) -> Vec<Finding> {
    let mut by_shape: BTreeMap<(&str, usize), Vec<&Expression>> = BTreeMap::new();
    for fact in &seen.facts {
        by_shape.entry(shape(fact)).or_default().push(fact);
    }
    let mut asked: BTreeMap<Expression, Span> = BTreeMap::new();
    for form in rulesheet.forms() {
        each_condition(rulesheet, form, &mut |pattern, span| {
            asked.entry(pattern).or_insert(span);
        });
    }
    let holds = |pattern: &Expression| {
        if is_variable(pattern) {
            return !seen.facts.is_empty();
        }
        let facts = by_shape.get(&shape(pattern)).map_or(&[][..], Vec::as_slice);
        facts.iter().any(|fact| fits(pattern, fact, &mut BTreeMap::new()))
    };
    asked
        .into_iter()
        .filter(|(pattern, _)| !holds(pattern))
        .map(|(pattern, span)| Finding {
            code: "never-held",
            severity: Severity::Note,
            span,
            message: format!(
                "`(true {pattern})` held in no state of {}",
                random_playouts(seen.playouts)
            ),
            help: "longer play may reach such a state; check the spelling if it should be frequent"
                .to_owned(),
        })
        .collect()
}

/// Name and number of arguments.
fn shape(expression: &Expression) -> (&str, usize) {
    match expression {
        Expression::Atom(name) => (name, 0),
        Expression::List(items) => match items.first() {
            Some(Expression::Atom(name)) => (name, items.len() - 1),
            _ => ("", items.len()),
        },
    }
}

fn is_variable(expression: &Expression) -> bool {
    matches!(expression, Expression::Atom(name) if name.starts_with('?'))
}

/// Whether a fact is an instance of a pattern.
fn fits<'p>(
    pattern: &'p Expression,
    fact: &'p Expression,
    values: &mut BTreeMap<&'p str, &'p Expression>,
) -> bool {
    match (pattern, fact) {
        (Expression::Atom(name), _) if name.starts_with('?') => {
            *values.entry(name).or_insert(fact) == fact
        }
        (Expression::List(patterns), Expression::List(items)) => {
            patterns.len() == items.len()
                && patterns.iter().zip(items).all(|(pattern, item)| fits(pattern, item, values))
        }
        _ => pattern == fact,
    }
}

/// Calls `visit` for the argument of each `true` among the conditions of a rule.
fn each_condition(rulesheet: &Rulesheet, form: &Form, visit: &mut impl FnMut(Expression, Span)) {
    let FormKind::List(items) = &form.kind else { return };
    let Some((Form { kind: FormKind::Constant(word), .. }, parts)) = items.split_first() else {
        return;
    };
    match (rulesheet.symbols().name(*word).to_ascii_lowercase().as_str(), parts) {
        ("<=", [_, conditions @ ..]) | ("=>", [conditions @ .., _]) => {
            conditions.iter().for_each(|form| each_condition(rulesheet, form, visit));
        }
        ("not" | "or" | "and", conditions) => {
            conditions.iter().for_each(|form| each_condition(rulesheet, form, visit));
        }
        ("true", [fact]) => visit(bare(rulesheet.expression(fact)), form.span),
        _ => {}
    }
}

/// With `p` for `(p)`, as facts are written.
fn bare(expression: Expression) -> Expression {
    match expression {
        Expression::List(mut items) if items.len() == 1 => items.remove(0),
        Expression::List(items) => Expression::List(items.into_iter().map(bare).collect()),
        atom => atom,
    }
}
