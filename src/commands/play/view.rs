//! Prints a match while it is played.

use std::borrow::Cow;
use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use games::{Cancel, Expression, StateMachine};
use results::counted::counted;
use results::record::Ending;

use super::super::game_names::GameNames;
use super::super::possible_states::PossibleStates;
use super::super::{plan_text, said};
use crate::consumers::Catalogue;
use crate::event::{Decision, EventKind, Readiness};
use crate::explanation::Explanation;
use crate::manager::role_id;
use crate::schedule::Job;

/// Facts shown of each step's change.
const MAX_FACTS: usize = 8;

/// Letters shown of a fact or a move.
const MAX_LETTERS: usize = 400;

/// What of a match is printed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Detail {
    /// Nothing is.
    pub(super) is_hidden: bool,
    /// All facts that change, at full length.
    pub(super) all_facts: bool,
    /// What players report on their moves.
    pub(super) is_verbose: bool,
    /// Only what all roles may know: the moves and the state stay hidden.
    pub(super) is_secret: bool,
}

/// The state as the view follows it.
pub(super) struct Shown<'a> {
    machine: &'a mut dyn StateMachine,
    /// Raised when the reader has gone away.
    cancel: Cancel,
    /// The state and its facts; `None` if the rules failed.
    now: Option<(games::State, Vec<Expression>)>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(machine: &'a mut dyn StateMachine, cancel: Cancel) -> Self {
        let state = machine.initial_state().ok();
        let now = state.map(|state| {
            let facts = machine.facts(&state);
            (state, facts)
        });
        Self { machine, cancel, now }
    }

    /// Makes a joint move; gives the facts before it. `None` if the rules fail, or
    /// the reader has gone away.
    fn advance(&mut self, decisions: &[Decision]) -> Option<Vec<Expression>> {
        let (state, before) = self.now.take()?;
        let moves = decisions.iter().map(|decision| {
            let expression: Expression = decision.executed.parse().ok()?;
            self.machine.find_move(&expression)
        });
        let moves = moves.collect::<Option<Vec<_>>>()?;
        let mut next = games::State::default();
        self.machine.next_state(&state, &moves, &mut next).ok()?;
        if self.cancel.is_cancelled() {
            return None;
        }
        let after = self.machine.facts(&next);
        self.now = Some((next, after));
        Some(before)
    }
}

/// Prints a match as it goes.
pub(super) struct View<'a, W> {
    out: &'a mut W,
    catalogue: &'a Catalogue,
    shown: Shown<'a>,
    job: Option<Arc<Job>>,
    detail: Detail,
}

impl<'a, W: Write> View<'a, W> {
    pub(super) fn new(
        out: &'a mut W,
        catalogue: &'a Catalogue,
        shown: Shown<'a>,
        detail: Detail,
    ) -> Self {
        Self { out, catalogue, shown, job: None, detail }
    }

    /// Prints an event of the match.
    pub(super) fn show(&mut self, event: &EventKind) -> std::io::Result<()> {
        if let EventKind::MatchStarted { job, .. } = event {
            self.job = Some(Arc::clone(job));
        }
        let Some(job) = self.job.clone().filter(|_| !self.detail.is_hidden) else { return Ok(()) };
        match event {
            EventKind::MatchStarted { .. } => self.started(&job)?,
            EventKind::PlayersReady { roles, .. } => self.ready(&job, roles)?,
            EventKind::MovesPlayed { step, decisions, .. } => self.step(&job, *step, decisions)?,
            EventKind::MatchFinished { ending, rewards, .. } => {
                self.finished(&job, ending, rewards)?;
            }
            EventKind::Notice(notice) => writeln!(self.out, "note: {notice}")?,
            EventKind::TournamentStarted { .. }
            | EventKind::RoundStarted { .. }
            | EventKind::PlayerMissing { .. }
            | EventKind::PlayerGivenUp { .. }
            | EventKind::WorkersChanged { .. }
            | EventKind::ResultsWaited { .. }
            | EventKind::TournamentFinished { .. } => {}
        }
        self.out.flush()
    }

    fn started(&mut self, job: &Job) -> std::io::Result<()> {
        writeln!(self.out, "{}, seed {}", self.catalogue.game(job), job.seed)?;
        for (role, name) in self.catalogue.roles(job).iter().enumerate() {
            let player = self.catalogue.player(job, role).unwrap_or("chance");
            writeln!(self.out, "  {name}: {player}")?;
        }
        Ok(())
    }

    fn ready(&mut self, job: &Job, roles: &[Readiness]) -> std::io::Result<()> {
        writeln!(self.out, "start")?;
        for (role, readiness) in
            roles.iter().enumerate().filter(|(role, _)| job.seats[*role].is_some())
        {
            let name = &self.catalogue.roles(job)[role];
            match readiness.fault {
                Some(fault) => {
                    let detail = readiness.detail.as_deref();
                    let detail = detail.map_or(String::new(), |detail| format!(": {detail}"));
                    writeln!(self.out, "  {name} is not ready: {}{detail}", fault.name())?;
                }
                None => {
                    write!(self.out, "  {name} is ready after {}", think(readiness.wall))?;
                    if let Some(nodes) = readiness.nodes {
                        write!(self.out, ", {}", counted(nodes, "node", "nodes"))?;
                    }
                    write!(self.out, "{}", said::found(readiness.explanation.as_deref()))?;
                    writeln!(self.out)?;
                    self.explain(role, readiness.explanation.as_deref())?;
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, job: &Job, step: u32, decisions: &[Decision]) -> std::io::Result<()> {
        if self.detail.is_secret {
            return Ok(());
        }
        writeln!(self.out, "step {}", step + 1)?;
        let roles = self.catalogue.roles(job);
        let width = roles.iter().map(String::len).max().unwrap_or(0);
        for ((role, name), decision) in roles.iter().enumerate().zip(decisions) {
            let Decision { executed, n_legal, .. } = decision;
            let executed = self.as_shown(executed);
            let substituted = if decision.fault.is_some() { ", substituted" } else { "" };
            write!(self.out, "  {name:width$}  {executed}{substituted}  ({n_legal} legal")?;
            if job.seats[role].is_some() {
                write!(self.out, ", {}", think(decision.wall))?;
            }
            if let Some(nodes) = decision.nodes.filter(|&nodes| nodes > 0) {
                write!(self.out, ", {}", counted(nodes, "node", "nodes"))?;
            }
            write!(self.out, "{})", said::found(decision.explanation.as_deref()))?;
            if let Some(fault) = decision.fault {
                write!(self.out, "  {}", fault.name())?;
                if let Some(submitted) = &decision.submitted {
                    write!(self.out, ": {submitted:?}")?;
                }
                if let Some(detail) = &decision.detail {
                    write!(self.out, "; {detail}")?;
                }
            }
            writeln!(self.out)?;
            self.explain(role, decision.explanation.as_deref())?;
        }
        self.changes(decisions)
    }

    /// Everything that a player reports on its answer, if that is wanted.
    fn explain(&mut self, role: usize, said: Option<&Explanation>) -> std::io::Result<()> {
        let Some(said) = said.filter(|_| self.detail.is_verbose && !self.detail.is_secret) else {
            return Ok(());
        };
        let all_facts = self.detail.all_facts;
        let shown = &mut |text: &str| as_shown(text, all_facts).into_owned();
        said::details(self.out, said, shown)?;
        let machine = &*self.shown.machine;
        let belief = said.belief_to_show(machine.game());
        if let Some(belief) = belief {
            PossibleStates::print_likeliest(self.out, belief, machine, shown)?;
        }
        if let Some(plan) = said.plan_to_show() {
            let me = role_id(role);
            plan_text::print_beginning(self.out, plan, me, &mut GameNames(machine), shown)?;
        }
        Ok(())
    }

    /// A fact or a move, without the end of what is very long.
    fn as_shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        as_shown(text, self.detail.all_facts)
    }

    /// Prints which facts came and went. Nothing if the rules fail: the match itself
    /// will end with the reason.
    fn changes(&mut self, decisions: &[Decision]) -> std::io::Result<()> {
        let Some(before) = self.shown.advance(decisions) else { return Ok(()) };
        let Some((_, after)) = &self.shown.now else { return Ok(()) };
        // Both are only looked up in, so that no order of theirs shows.
        let [is_old, is_new] =
            [&before, after].map(|facts| facts.iter().collect::<HashSet<&Expression>>());
        let came = after.iter().filter(|fact| !is_old.contains(fact)).map(|fact| ('+', fact));
        let gone = before.iter().filter(|fact| !is_new.contains(fact)).map(|fact| ('-', fact));
        let mut changes = came.chain(gone).take_while(|_| !self.shown.cancel.is_cancelled());
        let limit = if self.detail.all_facts { usize::MAX } else { MAX_FACTS };
        write!(self.out, "   ")?;
        let mut n_shown = 0;
        for (sign, fact) in changes.by_ref().take(limit) {
            n_shown += 1;
            let fact = fact.to_string();
            write!(self.out, " {sign}{}", self.as_shown(&fact))?;
        }
        match changes.count() {
            0 if n_shown == 0 => writeln!(self.out, " (no fact changes)"),
            0 => writeln!(self.out),
            more => writeln!(self.out, " and {more} more"),
        }
    }

    fn finished(&mut self, job: &Job, ending: &Ending, rewards: &[u8]) -> std::io::Result<()> {
        let no_scores = if rewards.is_empty() { ": no scores" } else { "" };
        match ending.reason().as_str() {
            "" => writeln!(self.out, "end ({}){no_scores}", ending.name())?,
            reason => writeln!(self.out, "end ({}: {reason}){no_scores}", ending.name())?,
        }
        let roles = self.catalogue.roles(job);
        let width = roles.iter().map(String::len).max().unwrap_or(0);
        for ((role, name), reward) in roles.iter().enumerate().zip(rewards) {
            let Some(player) = self.catalogue.player(job, role) else { continue };
            writeln!(self.out, "  {name:width$}  reward {reward:>3}  {player}")?;
        }
        Ok(())
    }
}

/// A text, cut if it is long and is not to be shown whole.
fn as_shown(text: &str, is_whole: bool) -> Cow<'_, str> {
    // Cut at a character, whatever its length.
    match text.char_indices().nth(MAX_LETTERS) {
        Some((end, _)) if !is_whole => {
            let more = text[end..].chars().count();
            format!("{}... and {}", &text[..end], counted(more, "more letter", "more letters"))
                .into()
        }
        _ => text.into(),
    }
}

/// A think time, short.
fn think(wall: Duration) -> String {
    let micros = wall.as_micros();
    match micros {
        0..1000 => format!("{micros} us"),
        1000..1_000_000 => format!("{} ms", micros / 1000),
        _ => format!("{:.1} s", wall.as_secs_f64()),
    }
}
