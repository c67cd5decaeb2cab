//! Stepping through a recorded match.

use std::collections::HashSet;
use std::io::{BufRead, IsTerminal as _, Write};
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use games::Expression;
use results::counted::counted;
use results::record::{DecisionRecord, MatchRecord, StartRecord};
use serde::Serialize;

use super::export::failure;
use super::number::whole_from;
use super::run_name::{folder, latest};
use crate::board::{self, Boards};
use crate::exit_code;
use crate::failure::{CommandResult, Failure};
use crate::output::{json_line, to_stdout};
use crate::recorded::{RecordedRun, positions};

const EXAMPLES: &str = "\
Examples:
  gamemaster replay 17                      step through match 17 (from 0)
  gamemaster replay 17 --run my_run | less  print all steps
  gamemaster replay 17 --step 5             print the state after step 5
  gamemaster replay 17 --json               print states and moves as JSON lines

MATCH is a match number, job_id or match_id (columns job, job_id and match_id
of matches.csv). If the facts form a board or another picture, it is shown. If
not, and the game has only a few states, they are shown as a tree, with `*`
before the current state. Of the facts that are not in the picture, only those
that became true (`+`) or false (`-`) in the step are listed; at the start, and
with --step, all that are true.

Keys in a terminal:
  Enter, n  next step
  p         previous step
  f         first step
  l         last step
  NUMBER    step NUMBER
  q         quit";

/// Arguments of `gamemaster replay`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Match number (from 0), job_id or match_id
    #[arg(value_name = "MATCH")]
    name: String,
    /// Folder of a run, or the name of a folder in results/runs (NAME-HASH)
    /// [default: the latest in results/runs]
    #[arg(long, value_name = "RUN")]
    run: Option<PathBuf>,
    /// Print only the state after N steps, and the moves of the last of them
    #[arg(long, value_name = "N", value_parser = whole_from::<usize>(0))]
    step: Option<usize>,
    /// Print states and moves as JSON lines
    #[arg(long)]
    json: bool,
}

/// Carries out `gamemaster replay`.
pub fn execute(arguments: &Arguments) -> CommandResult {
    let run = match &arguments.run {
        Some(run) => folder(run)?,
        None => latest().ok_or_else(|| {
            Failure::usage(anyhow::anyhow!("no run in results/runs; name one with --run"))
        })?,
    };
    let mut run = RecordedRun::open(&run).map_err(failure)?;
    let record = run.find(&arguments.name).map_err(failure)?;
    let machine = run.machine(&record).map_err(failure)?;
    let game = Arc::clone(machine.game());
    let positions = positions(machine, &record).map_err(failure)?;
    let n_steps = record.steps.len();
    if let Some(step) = arguments.step.filter(|&step| step > n_steps) {
        return Err(Failure::usage(anyhow::anyhow!(
            "--step {step}: the match has {}",
            counted(n_steps, "step", "steps")
        )));
    }
    let replay = Replay { board: board::find(&game, &positions), record, positions };
    to_stdout(|stdout| {
        let steps = arguments.step.map_or(0..=n_steps, |step| step..=step);
        if arguments.json {
            for step in steps {
                json_line(stdout, &replay.line(step))?;
            }
            return Ok(exit_code::OK);
        }
        let is_terminal = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
        if arguments.step.is_none() && is_terminal {
            replay.converse(&mut std::io::stdin().lock(), stdout)?;
            return Ok(exit_code::OK);
        }
        replay.head(stdout)?;
        for step in steps {
            replay.show(step, arguments.step.is_some(), stdout)?;
        }
        if arguments.step.is_none() {
            replay.foot(stdout)?;
        }
        Ok(exit_code::OK)
    })
}

struct Replay {
    record: MatchRecord,
    positions: Vec<Vec<Expression>>,
    board: Option<Boards>,
}

/// A position as JSON.
#[derive(Serialize)]
struct Line<'a> {
    step: usize,
    facts: Vec<String>,
    /// The moves that led here, in role order; none at the start.
    moves: Option<Vec<&'a str>>,
    /// The faults that led here, in role order.
    faults: Option<Vec<Option<&'static str>>>,
    /// The replies that were replaced, in role order.
    submitted: Option<Vec<Option<&'a str>>>,
    /// Details of the faults, in role order.
    details: Option<Vec<Option<&'a str>>>,
}

impl Replay {
    fn n_steps(&self) -> usize {
        self.record.steps.len()
    }

    fn line(&self, step: usize) -> Line<'_> {
        let decisions = step.checked_sub(1).map(|before| &self.record.steps[before]);
        Line {
            step,
            facts: self.positions[step].iter().map(ToString::to_string).collect(),
            moves: decisions.map(|all| all.iter().map(|one| one.executed.as_str()).collect()),
            faults: decisions.map(|all| {
                all.iter().map(|one| one.fault.map(results::record::FaultKind::name)).collect()
            }),
            submitted: decisions
                .map(|all| all.iter().map(|one| one.submitted.as_deref()).collect()),
            details: decisions.map(|all| all.iter().map(|one| one.detail.as_deref()).collect()),
        }
    }

    fn head(&self, out: &mut impl Write) -> std::io::Result<()> {
        let MatchRecord { game, job, match_id, .. } = &self.record;
        let n_steps = counted(self.n_steps(), "step", "steps");
        writeln!(out, "{game}, match {job} ({match_id}), {n_steps}")?;
        for seat in &self.record.seats {
            writeln!(out, "  {}: {}", seat.role, seat.player.as_deref().unwrap_or("chance"))?;
        }
        if let Some(legend) = self.board.as_ref().and_then(Boards::legend) {
            writeln!(out, "  {legend}")?;
        }
        writeln!(out)
    }

    /// Shows the state after some steps, and what led to it. Of the facts beside the board: all, or
    /// those that changed in the last step.
    fn show(&self, step: usize, all_facts: bool, out: &mut impl Write) -> std::io::Result<()> {
        match step.checked_sub(1) {
            None => {
                writeln!(out, "start")?;
                for seat in &self.record.seats {
                    let words = prepared(&seat.start);
                    if !words.is_empty() {
                        writeln!(out, "  {}: {words}", seat.role)?;
                    }
                }
            }
            Some(before) => {
                writeln!(out, "step {step}")?;
                for (seat, decision) in self.record.seats.iter().zip(&self.record.steps[before]) {
                    writeln!(out, "  {}: {}{}", seat.role, decision.executed, fault(decision))?;
                }
            }
        }
        let facts = &self.positions[step];
        if let Some(board) = &self.board {
            for line in board.draw(facts).lines() {
                writeln!(out, "{}", format!("    {line}").trim_end())?;
            }
        }
        let listed = |facts: &[Expression]| -> Vec<String> {
            let is_listed = |fact: &&Expression| self.board.as_ref().is_none_or(|b| !b.shows(fact));
            facts.iter().filter(is_listed).map(ToString::to_string).collect()
        };
        let now = listed(facts);
        let before = step.checked_sub(1).filter(|_| !all_facts);
        let before = before.map(|before| listed(&self.positions[before]));
        let words: Vec<String> = match before {
            None => now,
            Some(before) => {
                let [is_old, is_new] =
                    [&before, &now].map(|facts| facts.iter().collect::<HashSet<_>>());
                let new = now.iter().filter(|fact| !is_old.contains(fact));
                let gone = before.iter().filter(|fact| !is_new.contains(fact));
                new.map(|fact| format!("+{fact}")).chain(gone.map(|f| format!("-{f}"))).collect()
            }
        };
        if !words.is_empty() {
            writeln!(out, "    {}", words.join(" "))?;
        }
        writeln!(out)
    }

    fn foot(&self, out: &mut impl Write) -> std::io::Result<()> {
        let ending = &self.record.ending;
        match ending.reason().as_str() {
            "" => writeln!(out, "end ({})", ending.name())?,
            reason => writeln!(out, "end ({}: {reason})", ending.name())?,
        }
        for seat in &self.record.seats {
            if let (Some(reward), Some(player)) = (seat.reward, &seat.player) {
                writeln!(out, "  {}: reward {reward}, {player}", seat.role)?;
            }
        }
        Ok(())
    }

    /// Goes to the steps that the user names, until the user quits.
    fn converse(&self, input: &mut impl BufRead, out: &mut impl Write) -> std::io::Result<()> {
        self.head(out)?;
        let last = self.n_steps();
        let mut step = 0;
        loop {
            self.show(step, false, out)?;
            if step == last {
                self.foot(out)?;
            }
            step = loop {
                write!(out, "{step} of {last}> ")?;
                out.flush()?;
                let mut line = String::new();
                if input.read_line(&mut line)? == 0 {
                    return writeln!(out);
                }
                match line.trim() {
                    "" | "n" | "next" => break (step + 1).min(last),
                    "p" | "previous" => break step.saturating_sub(1),
                    "f" | "first" => break 0,
                    "l" | "last" => break last,
                    "q" | "quit" => return Ok(()),
                    word => match word.parse::<usize>() {
                        Ok(wanted) => break wanted.min(last),
                        Err(_) => writeln!(out, "{KEYS}")?,
                    },
                }
            };
        }
    }
}

/// What a player used its start clock for; empty if nothing is known of it.
fn prepared(start: &StartRecord) -> String {
    let nodes = start.nodes.map(|nodes| counted(nodes, "node", "nodes"));
    let value = start.value_tenths.map(|tenths| format!("value {:.1}", f64::from(tenths) / 10.0));
    let depth = start.depth.map(|depth| format!("depth {depth}"));
    let words: Vec<String> = nodes.into_iter().chain(value).chain(depth).collect();
    words.join(", ")
}

/// The fault, the reply, and details; empty without a fault.
fn fault(decision: &DecisionRecord) -> String {
    let Some(fault) = decision.fault else { return String::new() };
    let mut words = format!("  (replaced; {}", fault.name());
    if let Some(submitted) = &decision.submitted {
        words.push_str(&format!(", {submitted:?}"));
    }
    if let Some(detail) = &decision.detail {
        words.push_str(&format!("; {detail}"));
    }
    words.push(')');
    words
}

/// The keys.
const KEYS: &str =
    "Enter or n: next step, p: previous, f: first, l: last, NUMBER: step NUMBER, q: quit";

#[cfg(test)]
mod tests {
    use super::*;

    /// A match of two steps: the first player's move failed, then both passed.
    fn replay() -> Replay {
        let seat = |role: &str, player: &str, reward: u8| {
            serde_json::json!({"role": role, "player": player, "player_hash": "", "reward": reward,
                "start": {"wall_us": 1, "value_tenths": u32::from(reward) * 10}})
        };
        let pass = serde_json::json!({"move": "pass", "n_legal": 1, "wall_us": 1});
        let late = serde_json::json!(
            {"move": "go", "n_legal": 2, "wall_us": 1, "fault": "late_move",
            "detail": "no whole answer within 2s"});
        let record = serde_json::json!({
            "job": 7, "job_id": "abcdef", "block": 3, "lap": 0, "rotation": 1, "attempt": 1,
            "game": "walk", "game_hash": "", "match_id": "match.abcdef", "seed": "",
            "start_clock_ms": 1, "play_clock_ms": 1, "budget": "clock", "concurrency": 1,
            "started_at": "", "duration_us": 1, "harness_us": 1, "ending": {"kind": "terminal"},
            "n_steps": 2, "seats": [seat("left", "slow", 0), seat("right", "quick", 100)],
            "steps": [[late, pass], [pass, pass]],
        });
        let facts = |text: &str| -> Vec<Expression> {
            text.split(", ").map(|fact| fact.parse().unwrap()).collect()
        };
        Replay {
            record: serde_json::from_value(record).unwrap(),
            positions: vec![facts("(at 1), day"), facts("(at 2), day"), facts("(at 2), night")],
            board: None,
        }
    }

    fn check(typed: &str, shown: &[&str]) {
        let mut out = Vec::new();
        replay().converse(&mut typed.as_bytes(), &mut out).unwrap();
        let out = String::from_utf8(out).unwrap();
        let is_place = |line: &&str| line.contains("> ") || line.starts_with("step");
        let places: Vec<&str> = out.lines().filter(is_place).collect();
        assert_eq!(places, shown, "typed {typed:?}: {out}");
    }

    #[test]
    fn one_step_has_all_facts_and_a_match_their_changes() {
        let shown = |all_facts| {
            let mut out = Vec::new();
            replay().show(2, all_facts, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        assert_eq!(shown(true), "step 2\n  left: pass\n  right: pass\n    (at 2) night\n\n");
        assert_eq!(shown(false), "step 2\n  left: pass\n  right: pass\n    +night -day\n\n");
    }

    #[test]
    fn keys_go_through_the_match() {
        check("\nn\nn\nq\n", &["0 of 2> step 1", "1 of 2> step 2", "2 of 2> step 2", "2 of 2> "]);
        check(
            "l\np\nf\n2\n99\n",
            &[
                "0 of 2> step 2",
                "2 of 2> step 1",
                "1 of 2> start",
                "0 of 2> step 2",
                "2 of 2> step 2",
                "2 of 2> ",
            ],
        );
        // What is not understood leaves everything as it is, with a hint.
        let mut out = Vec::new();
        replay().converse(&mut "x\n".as_bytes(), &mut out).unwrap();
        assert!(String::from_utf8(out).unwrap().ends_with(&format!("0 of 2> {KEYS}\n0 of 2> \n")));
    }

    #[test]
    fn a_match_without_a_board_lists_what_changed() {
        let mut out = Vec::new();
        replay().converse(&mut "n\nn\nq\n".as_bytes(), &mut out).unwrap();
        expect_test::expect![[r#"
            walk, match 7 (match.abcdef), 2 steps
              left: slow
              right: quick

            start
              left: value 0.0
              right: value 100.0
                (at 1) day

            0 of 2> step 1
              left: go  (replaced; late_move; no whole answer within 2s)
              right: pass
                +(at 2) -(at 1)

            1 of 2> step 2
              left: pass
              right: pass
                +night -day

            end (terminal)
              left: reward 0, slow
              right: reward 100, quick
            2 of 2> "#]]
        .assert_eq(&String::from_utf8(out).unwrap());
    }
}
