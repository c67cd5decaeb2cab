//! A person at the terminal as a player: sees the state, or in a game of hidden information
//! the percepts, and types moves.
//!
//! Prompts go to standard error, moves are read from standard input. Two people at one
//! terminal take turns: whoever is asked second waits.

use std::io::{BufRead as _, IsTerminal as _, Write as _};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, OnceLock};
use std::time::Duration;

use games::split_mix::SplitMix;
use games::{Expression, MoveId, State, StateMachine};
use players::{
    Deliberation, Failure, Observation, OptionError, Options, Player, PlayerKind, Seat, Stop, Turn,
};
use rustix::process::{Signal, getpid, kill_process};

use crate::board::{self, Boards};
use crate::locking::lock;

/// The person.
pub(crate) static KIND: PlayerKind = PlayerKind {
    name: "human",
    summary: "A person at the terminal, in `gamemaster play`: sees the board, or else the facts, \
              and types the number or the text of a move. A single legal move is played without \
              asking. Has an hour for each move, unless its own option `clocks.play` says \
              otherwise (human:clocks.play=30s); --play-clock does not limit it.",
    options: &[],
    instant: false,
    plays_hidden_information: true,
    make,
};

/// Time for a move, if the player has no clock of its own.
pub(crate) const PLAY_CLOCK: Duration = Duration::from_secs(3600);

/// How often the clock is looked at while a person thinks.
const TICK: Duration = Duration::from_millis(50);

/// Steps whose percepts are shown with a question, the last ones.
const MAX_PERCEIVED: usize = 30;
/// Maximum number of moves that are listed without being asked for.
const MAX_LISTED: usize = 60;

/// Maximum number of positions in which the board is looked for.
const MAX_SAMPLED: usize = 100;

/// Columns of a line of moves.
const WIDTH: usize = 78;

fn make(options: &Options) -> Result<Box<dyn Player>, OptionError> {
    options.read(KIND.name, KIND.options)?.seed()?;
    Ok(Box::new(Human { seat: None }))
}

struct Human {
    seat: Option<Seated>,
}

/// What a person follows of a match.
struct Seated {
    machine: Box<dyn StateMachine>,
    role: String,
    view: View,
    /// What was played and perceived in each step so far, if there was anything.
    perceived: Vec<String>,
    /// Whether the last step had a choice.
    had_choice: bool,
}

/// What a person may see.
enum View {
    /// The state, in a game of perfect information.
    State { state: State, board: Option<Box<Boards>> },
    /// Nothing but percepts.
    Percepts,
}

impl Player for Human {
    fn start(&mut self, seat: Seat, _: &Stop) -> Result<(), Failure> {
        let mut machine = seat.machine.take();
        let role = machine.game().role_name(seat.role).to_owned();
        let view = if machine.game().kind().hidden_information {
            View::Percepts
        } else {
            let state = machine.initial_state()?;
            let positions = sample_positions(&mut *machine, &state)?;
            let board = board::find(machine.game(), &positions).map(Box::new);
            View::State { state, board }
        };
        self.seat = Some(Seated { machine, role, view, perceived: Vec::new(), had_choice: false });
        Ok(())
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        let not_started = || Failure::Unsuitable("the match has not begun".to_owned());
        let seat = self.seat.as_mut().ok_or_else(not_started)?;
        seat.follow(turn)?;
        seat.had_choice = turn.legal.len() > 1;
        if let &[only] = turn.legal {
            return Ok(only);
        }
        let terminal = terminal();
        seat.show(turn);
        Ok(seat.ask(turn.legal, &terminal, stop))
    }

    fn abort(&mut self) {
        self.seat = None;
    }

    fn deliberation(&self) -> Option<Deliberation> {
        None
    }
}

/// The positions of a random match. A board may show in them only: at the beginning it may be
/// empty.
fn sample_positions(
    machine: &mut dyn StateMachine,
    initial: &State,
) -> Result<Vec<Vec<Expression>>, Failure> {
    let mut random = SplitMix::new(0);
    let mut state = initial.clone();
    let mut positions = vec![machine.facts(&state)];
    let (mut joint_move, mut legal) = (Vec::new(), Vec::new());
    while positions.len() < MAX_SAMPLED && !machine.is_terminal(&state)? {
        joint_move.clear();
        for role in machine.game().role_ids() {
            machine.legal_moves(&state, role, &mut legal)?;
            if legal.is_empty() {
                return Ok(positions);
            }
            joint_move.push(legal[random.below(legal.len())]);
        }
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next)?;
        positions.push(machine.facts(&next));
        state = next;
    }
    Ok(positions)
}

impl Seated {
    /// Follows the step just played, and notes what there is to say of it: nothing of a step
    /// without a choice that was not perceived.
    fn follow(&mut self, turn: &Turn<'_>) -> Result<(), Failure> {
        let machine = &mut self.machine;
        match (turn.observation, &mut self.view) {
            (Some(Observation::JointMove(joint_move)), View::State { state, .. }) => {
                let mut next = State::default();
                machine.next_state(state, joint_move, &mut next)?;
                *state = next;
            }
            (Some(Observation::Percepts { own_move, percepts }), _) => {
                if percepts.is_empty() && !self.had_choice {
                    return Ok(());
                }
                let own_move = machine.move_expression(*own_move);
                let percepts = match &percepts[..] {
                    [] => "nothing".to_owned(),
                    percepts => joined(percepts),
                };
                let step = turn.step;
                self.perceived
                    .push(format!("step {step}: you played {own_move} and perceived {percepts}"));
            }
            _ => {}
        }
        Ok(())
    }

    /// Prints what the person may see.
    fn show(&mut self, turn: &Turn<'_>) {
        let mut lines = vec![String::new(), format!("{}, step {}", self.role, turn.step + 1)];
        let n_earlier = self.perceived.len().saturating_sub(MAX_PERCEIVED);
        if n_earlier > 0 {
            lines.push(format!("  {n_earlier} earlier steps are not shown"));
        }
        lines.extend(self.perceived[n_earlier..].iter().map(|line| format!("  {line}")));
        if let View::State { state, board } = &self.view {
            let facts = self.machine.facts(state);
            if let Some(board) = board {
                lines.extend(board.draw(&facts).lines().map(|line| format!("  {line}")));
                lines.extend(board.legend().map(|legend| format!("  {legend}")));
            }
            let is_listed =
                |fact: &&Expression| board.as_ref().is_none_or(|board| !board.shows(fact));
            let others: Vec<String> =
                facts.iter().filter(is_listed).map(ToString::to_string).collect();
            if !others.is_empty() {
                lines.extend(columns(&others));
            }
        }
        say(&lines.join("\n"));
    }

    /// Asks for a move until a legal one is typed, or the time is up: then it is the first.
    fn ask(&mut self, legal: &[MoveId], terminal: &Receiver<String>, stop: &Stop) -> MoveId {
        let moves: Vec<Expression> =
            legal.iter().map(|&id| self.machine.move_expression(id).clone()).collect();
        let texts: Vec<String> =
            (1..).zip(&moves).map(|(number, text)| format!("{number} {text}")).collect();
        if texts.len() <= MAX_LISTED {
            say(&format!("moves:\n{}", columns(&texts).join("\n")));
        } else {
            say(&format!("{} moves; type ? to list them", texts.len()));
        }
        loop {
            prompt("your move (number or text, ? for the list, quit): ");
            let Some(line) = next_line(terminal, stop) else {
                say(&format!("\nthe time is up: {} is played", moves[0]));
                return legal[0];
            };
            match line.trim() {
                "" => {}
                "?" => say(&columns(&texts).join("\n")),
                "quit" | "exit" => {
                    quit(stop);
                    return legal[0];
                }
                typed => match find(typed, &moves) {
                    Ok(index) => return legal[index],
                    Err(problem) => say(&problem),
                },
            }
        }
    }
}

/// The move that was typed; or why there is none.
fn find(typed: &str, moves: &[Expression]) -> Result<usize, String> {
    if let Some(index) = moves.iter().position(|known| known.to_string() == typed) {
        return Ok(index);
    }
    if let Ok(number) = typed.parse::<usize>() {
        let index = number.checked_sub(1).filter(|&index| index < moves.len());
        return index
            .ok_or_else(|| format!("{number}: the moves have numbers 1 to {}", moves.len()));
    }
    // `mark 1 1`, and `(MARK 1 1)`.
    let plain = |text: &str| {
        let text = text.trim_start_matches('(').trim_end_matches(')');
        text.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase()
    };
    let typed_plain = plain(typed);
    let position = moves.iter().position(|known| plain(&known.to_string()) == typed_plain);
    position.ok_or_else(|| format!("`{typed}` is not a legal move; type ? to list the moves"))
}

fn joined(expressions: &[Expression]) -> String {
    expressions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

/// Texts in columns of equal width.
fn columns(texts: &[String]) -> Vec<String> {
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0) + 2;
    let per_line = (WIDTH / width).max(1);
    texts
        .chunks(per_line)
        .map(|line| {
            let line: String = line.iter().map(|text| format!("{text:width$}")).collect();
            format!("  {}", line.trim_end())
        })
        .collect()
}

/// Prints to the person. What cannot be printed is lost: the match goes on.
fn say(text: &str) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}

fn prompt(text: &str) {
    let mut stderr = std::io::stderr().lock();
    let _ = write!(stderr, "{text}");
    if !std::io::stdin().is_terminal() {
        // Nobody's Enter ends the line.
        let _ = writeln!(stderr);
    }
    let _ = stderr.flush();
}

/// Ends the match as Ctrl-C does, and waits for that, so that no move is played.
fn quit(stop: &Stop) {
    if kill_process(getpid(), Signal::INT).is_ok() {
        while !stop.is_due(0) {
            std::thread::sleep(TICK);
        }
    }
}

/// The next line that is typed; `None` if the time is up. Ends the match at the end of the
/// input.
fn next_line(terminal: &Receiver<String>, stop: &Stop) -> Option<String> {
    loop {
        match terminal.recv_timeout(TICK) {
            Ok(line) => return Some(line),
            Err(RecvTimeoutError::Disconnected) => {
                say("\nthe input has ended, so the match is aborted");
                return Some("quit".to_owned());
            }
            Err(RecvTimeoutError::Timeout) if stop.is_due(0) => return None,
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

/// The lines of standard input. They are read on a thread of their own, since reading cannot
/// be interrupted when a clock ends.
fn terminal() -> MutexGuard<'static, Receiver<String>> {
    static LINES: OnceLock<Mutex<Receiver<String>>> = OnceLock::new();
    let lines = LINES.get_or_init(|| {
        let (sender, receiver) = channel();
        std::thread::spawn(move || {
            for line in std::io::stdin().lock().lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        Mutex::new(receiver)
    });
    lock(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(texts: &[&str]) -> Vec<Expression> {
        texts.iter().map(|text| text.parse().expect("a move")).collect()
    }

    #[test]
    fn a_move_is_found_by_its_text_its_words_or_its_number() {
        let known = moves(&["(mark 1 1)", "(mark 1 2)", "noop"]);
        for (typed, index) in
            [("(mark 1 2)", 1), ("mark 1 2", 1), ("MARK  1  1", 0), ("3", 2), ("noop", 2)]
        {
            assert_eq!(find(typed, &known), Ok(index), "{typed}");
        }
    }

    #[test]
    fn a_move_that_is_a_number_goes_before_a_number_of_the_list() {
        assert_eq!(find("1", &moves(&["2", "1"])), Ok(1));
    }

    #[test]
    fn what_is_no_move_is_refused_with_advice() {
        let known = moves(&["(mark 1 1)", "noop"]);
        assert_eq!(find("3", &known), Err("3: the moves have numbers 1 to 2".to_owned()));
        assert_eq!(find("0", &known), Err("0: the moves have numbers 1 to 2".to_owned()));
        let refused = find("mark", &known).unwrap_err();
        assert_eq!(refused, "`mark` is not a legal move; type ? to list the moves");
    }

    #[test]
    fn moves_stand_in_columns() {
        let texts: Vec<String> = (1..=9).map(|n| format!("{n} (mark 1 {n})")).collect();
        let lines = columns(&texts);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[1], "  6 (mark 1 6)  7 (mark 1 7)  8 (mark 1 8)  9 (mark 1 9)");
    }
}
