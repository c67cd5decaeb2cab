//! `gamemaster game trace`: playouts as JSON lines, a line for each state.
//! Other systems write the same lines, so that reasoners can be compared.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context as _, anyhow, ensure};
use clap::Args;
use flate2::bufread::MultiGzDecoder;
use games::{Expression, Game, MoveId, Severity, State};
use results::counted::counted;
use serde::{Deserialize, Serialize};

use super::view::{ByRole, View, percepts, role_names};
use super::walk::{Walker, playout_rng};
use super::{GameArgument, machine, reasoning};
use crate::commands::number::whole_from;
use crate::diagnostics::Diagnostics;
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::game_source::LoadedGame;
use crate::output::{json_line, to_stdout};

/// The first two bytes of a gzip file.
const GZIP: [u8; 2] = [0x1f, 0x8b];

const EXAMPLES: &str = "\
Examples:
  gamemaster game trace tic_tac_toe --random 3 --seed 7
  gamemaster game trace my_game.kif --case sensitive --follow other.jsonl.gz

The first line has the fields
  game, file         the name of the game, and that of the file
  roles              roles in order
  valid              always true, since rules with errors have no trace
  validator_message  warnings of `gamemaster game validate`, if there are any
  gdl2               whether the rules have `sees` (GDL-II)
  status             ok
Each further line is a state with the fields
  p         number of the playout, from 0
  s         number of the step, from 0
  state     facts
  legal     legal moves by role; null in a terminal state
  joint     the joint move made; null in the last state of a playout
  terminal  whether the state is terminal
  goals     goals by role; null for a role to which the rules give none or
            several
  percepts  percepts by role of the step that led to the state, null at step 0;
            only for games with `sees` (GDL-II)
Terms have single spaces; lists are sorted by code point.";

/// Arguments of `gamemaster game trace`.
#[derive(Args, Debug)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    #[command(flatten)]
    game: GameArgument,
    /// Replay the joint moves of this trace (JSON lines, may be gzipped)
    #[arg(long, value_name = "TRACE", conflicts_with_all = ["random", "seed", "step_limit"])]
    follow: Option<PathBuf>,
    /// Play N random playouts
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = whole_from::<u64>(0))]
    random: u64,
    /// Use this random seed
    #[arg(long, value_name = "S", default_value_t = 1, value_parser = whole_from::<u64>(0))]
    seed: u64,
    /// Stop each playout after N steps
    #[arg(long, value_name = "N", default_value_t = 120, value_parser = whole_from::<usize>(0))]
    step_limit: usize,
    /// Print JSON (the default; accepted for uniformity)
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Header {
    game: String,
    file: String,
    roles: Vec<String>,
    valid: bool,
    validator_message: String,
    gdl2: bool,
    status: &'static str,
}

#[derive(Serialize)]
struct Line {
    p: u64,
    s: usize,
    state: Vec<String>,
    legal: Option<ByRole<Vec<String>>>,
    joint: Option<Vec<String>>,
    terminal: bool,
    goals: ByRole<Option<u8>>,
    /// Left out where the rules say nothing of percepts.
    #[serde(skip_serializing_if = "Option::is_none")]
    percepts: Option<Option<ByRole<Vec<String>>>>,
}

/// What is read of a line of a trace that is followed.
#[derive(Deserialize)]
struct FollowedLine {
    p: u64,
    s: usize,
    joint: Option<Vec<String>>,
}

/// Carries out `gamemaster game trace`.
pub(super) fn execute(arguments: &Arguments) -> CommandResult {
    let LoadedGame { game, diagnostics } = arguments.game.load()?;
    let followed = arguments.follow.as_deref().map(|path| open(path).map(|lines| (path, lines)));
    let followed = followed.transpose().map_err(Failure::usage)?;
    to_stdout(|stdout| {
        let header = header(&game, &diagnostics);
        let mut tracer = Tracer::new(&game)?;
        match followed {
            Some((path, lines)) => tracer.follow(path, lines, &header, stdout)?,
            None => {
                json_line(stdout, &header)?;
                for playout in 0..arguments.random {
                    tracer.random(playout, arguments.seed, arguments.step_limit, stdout)?;
                }
            }
        }
        Ok(exit_code::OK)
    })
}

fn header(game: &Game, diagnostics: &Diagnostics) -> Header {
    let file = Path::new(diagnostics.file()).file_name().and_then(|name| name.to_str());
    let worth_telling =
        diagnostics.findings().iter().filter(|finding| finding.severity > Severity::Note);
    let messages: Vec<String> =
        worth_telling.map(|finding| finding.line(diagnostics.text())).collect();
    Header {
        game: game.name().to_owned(),
        file: file.unwrap_or(diagnostics.file()).to_owned(),
        roles: role_names(game),
        valid: true,
        validator_message: messages.join(" | "),
        gdl2: game.kind().percepts,
        status: "ok",
    }
}

/// A place in a playout, and how it was reached.
struct Tracer {
    walker: Walker,
    game: Arc<Game>,
    has_percepts: bool,
    initial: State,
    state: State,
    /// The percepts of the step that led to `state`.
    percepts: Option<ByRole<Vec<String>>>,
}

impl Tracer {
    fn new(game: &Arc<Game>) -> Result<Self, Failure> {
        let mut walker = Walker::new(machine(game)?);
        let initial = walker.machine.initial_state().map_err(reasoning)?;
        Ok(Self {
            walker,
            game: Arc::clone(game),
            has_percepts: game.kind().percepts,
            state: initial.clone(),
            initial,
            percepts: None,
        })
    }

    fn restart(&mut self) {
        self.state.clone_from(&self.initial);
        self.percepts = None;
    }

    fn random(
        &mut self,
        playout: u64,
        seed: u64,
        max_steps: usize,
        stdout: &mut impl Write,
    ) -> Result<(), Failure> {
        let mut rng = playout_rng(seed, playout);
        self.restart();
        for step in 0..=max_steps {
            let terminal = self.walker.machine.is_terminal(&self.state).map_err(reasoning)?;
            let playable = !terminal && self.walker.find_moves(&self.state).map_err(reasoning)?;
            let joint_move =
                (playable && step < max_steps).then(|| self.walker.draw(&mut rng).to_vec());
            self.print(playout, step, joint_move.as_deref(), stdout)?;
            match joint_move {
                Some(joint_move) => self.advance(&joint_move)?,
                None => break,
            }
        }
        Ok(())
    }

    /// Replays the joint moves of a trace, legal or not. A state is printed for
    /// each state of the trace, and the header before the first.
    fn follow(
        &mut self,
        path: &Path,
        lines: impl BufRead,
        header: &Header,
        stdout: &mut impl Write,
    ) -> Result<(), Failure> {
        let place = |number: usize| format!("{}:{number}", path.display());
        let mut due = None;
        let mut n_states = 0_u64;
        for (index, line) in lines.lines().enumerate() {
            let line = line.with_context(|| place(index + 1)).map_err(Failure::usage)?;
            if line.trim().is_empty() || (index == 0 && is_header(&line)) {
                continue;
            }
            n_states += 1;
            let (followed, joint_move) = self
                .followed(&line, due)
                .with_context(|| place(index + 1))
                .map_err(Failure::usage)?;
            let FollowedLine { p, s, .. } = followed;
            if n_states == 1 {
                json_line(stdout, header)?;
            }
            if s == 0 {
                self.restart();
            }
            self.print(p, s, joint_move.as_deref(), stdout)?;
            due = joint_move.is_some().then_some((p, s + 1));
            if let Some(joint_move) = joint_move {
                self.advance(&joint_move)?;
            }
        }
        if n_states == 0 {
            let error = anyhow!("the trace `{}` has no states", path.display());
            return Err(Failure::usage(error));
        }
        Ok(())
    }

    fn followed(
        &mut self,
        line: &str,
        due: Option<(u64, usize)>,
    ) -> anyhow::Result<(FollowedLine, Option<Vec<MoveId>>)> {
        let line: FollowedLine = serde_json::from_str(line).map_err(|_| {
            anyhow!("not a JSON line of a trace as `gamemaster game trace` prints it")
        })?;
        let (p, s) = (line.p, line.s);
        ensure!(s == 0 || due == Some((p, s)), "step {s} of playout {p} follows no joint move");
        let Some(joint_move) = &line.joint else { return Ok((line, None)) };
        let n_roles = self.game.roles().len();
        ensure!(
            joint_move.len() == n_roles,
            "a joint move of {} for {n_roles} roles",
            counted(joint_move.len(), "move", "moves")
        );
        let ids = joint_move.iter().map(|text| self.find_move(text)).collect::<Result<_, _>>()?;
        Ok((line, Some(ids)))
    }

    fn find_move(&mut self, text: &str) -> anyhow::Result<MoveId> {
        let expression = Expression::parse(text).with_context(|| format!("the move `{text}`"))?;
        let found = self.walker.machine.find_move(&expression);
        found.ok_or_else(|| anyhow!("the move `{text}` uses names that the rules do not have"))
    }

    fn print(
        &mut self,
        p: u64,
        s: usize,
        joint_move: Option<&[MoveId]>,
        stdout: &mut impl Write,
    ) -> Result<(), Failure> {
        let machine = self.walker.machine.as_mut();
        let View { facts, legal, terminal, goals, .. } =
            View::of(machine, &self.state).map_err(reasoning)?;
        let text = |&id: &MoveId| machine.move_expression(id).to_string();
        let joint = joint_move.filter(|_| !terminal).map(|ids| ids.iter().map(text).collect());
        let percepts = self.has_percepts.then(|| self.percepts.take());
        json_line(stdout, &Line { p, s, state: facts, legal, joint, terminal, goals, percepts })?;
        Ok(())
    }

    fn advance(&mut self, joint_move: &[MoveId]) -> Result<(), Failure> {
        let machine = self.walker.machine.as_mut();
        if self.has_percepts {
            let percepts = percepts(machine, &self.state, joint_move).map_err(reasoning)?;
            self.percepts = Some(percepts);
        }
        let mut next = State::default();
        machine.next_state(&self.state, joint_move, &mut next).map_err(reasoning)?;
        self.state = next;
        Ok(())
    }
}

/// Whether a line describes a game and not one of its states.
fn is_header(line: &str) -> bool {
    let line: Result<serde_json::Map<String, serde_json::Value>, _> = serde_json::from_str(line);
    line.is_ok_and(|members| !members.contains_key("p"))
}

fn open(path: &Path) -> anyhow::Result<Box<dyn BufRead>> {
    let failed = || format!("cannot read the trace `{}`", path.display());
    let mut lines = BufReader::new(File::open(path).with_context(failed)?);
    let gzip = lines.fill_buf().with_context(failed)?.starts_with(&GZIP);
    Ok(if gzip { Box::new(BufReader::new(MultiGzDecoder::new(lines))) } else { Box::new(lines) })
}
