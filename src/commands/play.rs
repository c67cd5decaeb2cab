//! Playing one match in view.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet};
use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow};
use clap::Args;
use games::{Cancel, Expression, Guards, StateMachine, state_machine_for};
use results::counted::counted;
use results::record::{Budget, Ending, MatchRecord};

use super::number::{nodes, whole_from};
use super::said;
use crate::consumers::{Catalogue, Recorder};
use crate::event::{Decision, EventKind, Readiness};
use crate::exit_code;
use crate::explanation::Explanation;
use crate::failure::{CommandResult, Failure};
use crate::fingerprint::Fingerprint;
use crate::game_source::{self, Reading};
use crate::interrupt::on_interrupt;
use crate::manager::{
    Manager, ManagerSettings, MatchRules, MatchSetup, PlayerConfig, PlayerStderr, PreparedGame,
};
use crate::output::{json_line, to_stdout};
use crate::schedule::{Clocks, Job};
use crate::spec::duration::{EXPECTED, read_clock};
use crate::spec::{Contestant, read_player};
use crate::supervisor::OWN_EXECUTABLE;

/// Facts shown of each step's change.
const MAX_FACTS: usize = 8;

/// Letters shown of a fact or a move.
const MAX_LETTERS: usize = 400;

const EXAMPLES: &str = "\
Examples:
  gamemaster play tic_tac_toe alpha_beta random
  gamemaster play tic_tac_toe strong=alpha_beta weak=alpha_beta:depth=1
  gamemaster play breakthrough_6x6 alpha_beta fast=alpha_beta:clocks.play=100ms
  gamemaster play my_game.kif 'cmd:python3 my_player.py --port {port}' random
  gamemaster play connect_four http://127.0.0.1:9147 legal --json

A player is one of
  KIND                      a built-in player (see `gamemaster players`)
  KIND:option=value,...     a built-in player with options
  http://HOST:PORT          a running player
  'cmd:COMMAND'             a program to launch, with {port} in its arguments
NAME= before any of them gives the player this name. The role `random` (chance)
takes no player.

Exit codes:
  0    the match is complete
  1    internal error, or the match was aborted
  2    invalid arguments
  3    an invalid rulesheet, or a player that does not reply at the beginning
  130  interrupted";

/// Arguments of `gamemaster play`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Path of a rulesheet, or the name of a shipped game
    game: String,
    /// Players, one for each role, in the order of the roles
    #[arg(required = true)]
    players: Vec<String>,
    /// Give each player this time from START to the first move
    #[arg(long, value_name = "TIME", default_value = "10s", value_parser = clock)]
    start_clock: Duration,
    /// Give each player this time for each move
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = play_clock)]
    play_clock: Duration,
    /// Accept replies until this long after a clock has ended
    #[arg(long, value_name = "TIME", default_value = "1s", value_parser = clock)]
    margin: Duration,
    /// Limit built-in players to N nodes (states) per move, instead of time
    #[arg(long, value_name = "N", value_parser = nodes)]
    nodes: Option<u64>,
    /// End the match without scores after N steps
    #[arg(long, value_name = "N", default_value_t = MatchRules::default().step_limit, value_parser = whole_from::<u32>(0))]
    step_limit: u32,
    /// Use this random seed
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole_from::<u64>(0))]
    seed: u64,
    /// Scramble the names in the rules for remote and launched players
    #[arg(long)]
    scramble: bool,
    #[command(flatten)]
    reading: Reading,
    /// Print what players report on their moves: candidates, values, lines
    #[arg(long, short)]
    verbose: bool,
    /// Print all facts that change, at full length [default: 8 per step]
    #[arg(long)]
    all_facts: bool,
    /// Print only the record of the match, as one line of JSON
    #[arg(long)]
    json: bool,
}

fn clock(text: &str) -> Result<Duration, String> {
    read_clock(text).ok_or_else(|| format!("expected {EXPECTED}"))
}

/// A time to think for each move: above zero.
pub(super) fn play_clock(text: &str) -> Result<Duration, String> {
    match clock(text)? {
        Duration::ZERO => {
            Err("there would be no time to think; give 1ms or more, or --nodes as a budget".into())
        }
        clock => Ok(clock),
    }
}

/// Carries out `gamemaster play`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let players = arguments.players.iter().map(|player| read_player(player));
    let players = distinct(players.collect::<Result<_, _>>().map_err(Failure::usage)?)?;
    let source = game_source::GameSource::find(&arguments.game).map_err(Failure::game)?;
    let hash = Fingerprint::of("rulesheet").text(&source.text).hex(16);
    let game = source.check(arguments.reading).loaded().map_err(Failure::game)?.game;
    let seats = seats(&game, &players).map_err(Failure::usage)?;
    if arguments.nodes.is_none()
        && let Some(player) = players.iter().find(|player| player.config.odds.nodes.is_some())
    {
        let id = &player.config.id;
        return Err(Failure::usage(anyhow!(
            "{id} has a node budget, but the match has clocks; give --nodes too"
        )));
    }
    let machine =
        state_machine_for(Arc::clone(&game), Guards::default()).map_err(Failure::preflight)?;
    for player in &players {
        if let Some(reason) =
            player.config.unsuitable(machine.fork()).map_err(Failure::preflight)?
        {
            let (id, game) = (&player.config.id, game.name());
            return Err(Failure::usage(anyhow!("{id} cannot play {game}: {reason}")));
        }
    }
    let mut shown = machine.fork();
    let game = Arc::new(PreparedGame::new(game.name().to_owned(), hash, machine));
    let setup = setup(arguments, game, &players, seats);

    let stderr = PlayerStderr::Show;
    let supervisor = Some(OWN_EXECUTABLE.into());
    let manager = Manager::new(ManagerSettings { stderr, supervisor, ..Default::default() });
    for player in &players {
        manager.preflight(&player.config).map_err(Failure::player)?;
    }
    let at_interrupt = Arc::clone(&manager);
    let cancel = Cancel::new();
    shown.set_cancel(cancel.clone());
    let stop = cancel.clone();
    let stop = move || {
        stop.cancel();
        at_interrupt.interrupt();
    };
    on_interrupt(stop).context("cannot listen for interrupts")?;
    let outcome = to_stdout(|stdout| {
        let configs: Vec<Arc<PlayerConfig>> =
            players.iter().map(|player| Arc::clone(&player.config)).collect();
        let catalogue = Arc::new(Catalogue::new(&[Arc::clone(&setup.game)], &configs, 1));
        let shown = Shown::new(&mut *shown, cancel);
        let mut view = View::new(stdout, &catalogue, shown, arguments);
        let mut recorder = Recorder::new(Arc::clone(&catalogue));
        let (mut record, mut printed) = (None, Ok(()));
        manager.worker().play(&setup, &mut |event| {
            if let Some(finished) = recorder.take(&event) {
                record = Some(finished);
            }
            if printed.is_ok() {
                printed = view.show(&event);
                if printed.is_err() {
                    // The reader has gone away.
                    manager.interrupt();
                }
            }
        });
        printed?;
        let record = record.ok_or_else(|| anyhow!("internal error: no record of the match"))?;
        if arguments.json {
            json_line(stdout, &record)?;
        }
        Ok(code(&record))
    });
    manager.shutdown();
    outcome
}

fn code(record: &MatchRecord) -> u8 {
    match record.ending {
        Ending::Aborted { .. } if record.ending.aborted_by_fault().is_some() => exit_code::INTERNAL,
        Ending::Aborted { .. } => exit_code::INTERRUPTED,
        Ending::GameError { .. } => exit_code::PREFLIGHT,
        _ => exit_code::OK,
    }
}

/// Gives players of the same name a number each, with a note on standard error.
fn distinct(players: Vec<Contestant>) -> std::io::Result<Vec<Contestant>> {
    let mut stderr = std::io::stderr().lock();
    let mut taken = BTreeSet::new();
    players
        .into_iter()
        .map(|mut player| {
            let id = player.config.id.clone();
            let mut number = 1;
            while !taken.insert(player.config.id.clone()) {
                number += 1;
                let id = format!("{id}-{number}");
                player.config = Arc::new(PlayerConfig { id, ..(*player.config).clone() });
            }
            if number > 1 {
                let new = &player.config.id;
                writeln!(stderr, "note: player {number} named `{id}` is called `{new}`")?;
            }
            Ok(player)
        })
        .collect()
}

/// The seats: the players in order on the roles that need one.
fn seats(game: &games::Game, players: &[Contestant]) -> anyhow::Result<Vec<Option<usize>>> {
    let random = game.random().map(|role| usize::from(role.0));
    let roles: Vec<&str> = game.roles().iter().map(|&role| game.symbols().name(role)).collect();
    let mut next = 0..players.len();
    let mut seats = Vec::new();
    let mut needed = Vec::new();
    for (role, name) in roles.iter().enumerate() {
        if random == Some(role) {
            seats.push(None);
        } else {
            needed.push(*name);
            seats.push(next.next());
        }
    }
    if needed.len() != players.len() {
        return Err(anyhow!(
            "{} has {} ({}), but {} given",
            game.name(),
            counted(needed.len(), "role", "roles"),
            needed.join(", "),
            counted(players.len(), "player is", "players are")
        ));
    }
    for (player, seat) in players.iter().zip(&needed) {
        if game.kind().hidden_information && !player.plays_hidden_information {
            return Err(anyhow!(
                "{} cannot play {} as {seat}: it has hidden information",
                player.config.id,
                game.name()
            ));
        }
    }
    Ok(seats)
}

fn setup(
    arguments: &Arguments,
    game: Arc<PreparedGame>,
    players: &[Contestant],
    seats: Vec<Option<usize>>,
) -> MatchSetup {
    let budget = arguments.nodes.map_or(Budget::Clock, Budget::Nodes);
    let clocks = Clocks {
        start: arguments.start_clock,
        play: arguments.play_clock,
        margin: arguments.margin,
    };
    let mut id = Fingerprint::of("single match").text(&game.hash).number(arguments.seed);
    for player in players {
        id = id.text(&player.config.id).text(&player.config.hash);
    }
    let configs = seats.iter().map(|seat| seat.map(|seat| Arc::clone(&players[seat].config)));
    MatchSetup {
        seats: configs.collect(),
        game,
        rules: Arc::new(MatchRules {
            step_limit: arguments.step_limit,
            scramble: arguments.scramble,
            ..MatchRules::default()
        }),
        budget,
        concurrency: 1,
        job: Arc::new(Job {
            number: 0,
            id: id.hex(20),
            block: 0,
            lap: 0,
            rotation: 0,
            game: 0,
            seats,
            clocks,
            budget,
            seed: arguments.seed,
            round: None,
        }),
    }
}

/// The state as the view follows it.
struct Shown<'a> {
    machine: &'a mut dyn StateMachine,
    /// Raised when the reader has gone away.
    cancel: Cancel,
    /// The state and its facts; `None` if the rules failed.
    now: Option<(games::State, Vec<Expression>)>,
}

impl<'a> Shown<'a> {
    fn new(machine: &'a mut dyn StateMachine, cancel: Cancel) -> Self {
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
struct View<'a, W> {
    out: &'a mut W,
    catalogue: &'a Catalogue,
    shown: Shown<'a>,
    job: Option<Arc<Job>>,
    hidden: bool,
    all_facts: bool,
    is_verbose: bool,
}

impl<'a, W: Write> View<'a, W> {
    fn new(
        out: &'a mut W,
        catalogue: &'a Catalogue,
        shown: Shown<'a>,
        arguments: &Arguments,
    ) -> Self {
        let Arguments { json: hidden, all_facts, verbose: is_verbose, .. } = *arguments;
        Self { out, catalogue, shown, job: None, hidden, all_facts, is_verbose }
    }

    fn show(&mut self, event: &EventKind) -> std::io::Result<()> {
        if let EventKind::MatchStarted { job, .. } = event {
            self.job = Some(Arc::clone(job));
        }
        let Some(job) = self.job.clone().filter(|_| !self.hidden) else { return Ok(()) };
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
                    self.explain(readiness.explanation.as_deref())?;
                }
            }
        }
        Ok(())
    }

    fn step(&mut self, job: &Job, step: u32, decisions: &[Decision]) -> std::io::Result<()> {
        writeln!(self.out, "step {}", step + 1)?;
        let roles = self.catalogue.roles(job);
        let width = roles.iter().map(String::len).max().unwrap_or(0);
        for ((role, name), decision) in roles.iter().enumerate().zip(decisions) {
            let Decision { executed, n_legal, .. } = decision;
            let executed = self.as_shown(executed);
            write!(self.out, "  {name:width$}  {executed}  ({n_legal} legal")?;
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
            self.explain(decision.explanation.as_deref())?;
        }
        self.changes(decisions)
    }

    /// Everything that a player reports on its answer, if that is wanted.
    fn explain(&mut self, said: Option<&Explanation>) -> std::io::Result<()> {
        let Some(said) = said.filter(|_| self.is_verbose) else { return Ok(()) };
        let all_facts = self.all_facts;
        said::details(self.out, said, &mut |text| as_shown(text, all_facts).into_owned())
    }

    /// A fact or a move, without the end of what is very long.
    fn as_shown<'t>(&self, text: &'t str) -> Cow<'t, str> {
        as_shown(text, self.all_facts)
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
        let limit = if self.all_facts { usize::MAX } else { MAX_FACTS };
        write!(self.out, "   ")?;
        for (sign, fact) in changes.by_ref().take(limit) {
            let fact = fact.to_string();
            write!(self.out, " {sign}{}", self.as_shown(&fact))?;
        }
        match changes.count() {
            0 => writeln!(self.out),
            more => writeln!(self.out, " and {more} more"),
        }
    }

    fn finished(&mut self, job: &Job, ending: &Ending, rewards: &[u8]) -> std::io::Result<()> {
        match ending.reason().as_str() {
            "" => writeln!(self.out, "end ({})", ending.name())?,
            reason => writeln!(self.out, "end ({}: {reason})", ending.name())?,
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

/// A think time, short.
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

fn think(wall: Duration) -> String {
    let micros = wall.as_micros();
    match micros {
        0..1000 => format!("{micros} us"),
        1000..1_000_000 => format!("{} ms", micros / 1000),
        _ => format!("{:.1} s", wall.as_secs_f64()),
    }
}
