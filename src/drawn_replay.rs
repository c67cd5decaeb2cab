//! Matches as the page of a report steps through them: positions computed from
//! the recorded moves, the board found in them, and the other facts.

use std::collections::BTreeMap;
use std::path::Path;

use games::Expression;
use results::counted::counted;
use results::record::{DecisionRecord, Ending, MatchRecord, SeatRecord};
use results::report::{
    Replay, ReplayBoard, ReplayNode, ReplayPiece, ReplaySeat, ReplayShape, ReplayStart, ReplayStep,
};

use crate::board::{self, Board, Boards, NodeKind, Shown, Side, TreeNode};
use crate::error_chain::chained;
use crate::recorded::{RecordedError, RecordedRun, positions};

/// Maximum number of bytes that the replays of a page take.
const MAX_BYTES: usize = 700_000;
/// Maximum number of bytes of one replay: a long match of a game with many facts would take
/// the room of all others. One that is longer is shown without trees.
const MAX_REPLAY_BYTES: usize = 200_000;

/// Replays of `records`, each with the reason why it is shown, as far as there is
/// room for them; and notes on those that are left out.
pub fn drawn_replays<'a>(
    run: &Path,
    records: impl Iterator<Item = (&'a MatchRecord, &'a str)>,
) -> (Vec<Replay>, Vec<String>) {
    let mut records = records.peekable();
    if records.peek().is_none() {
        return (vec![], vec![]);
    }
    let mut recorded = match RecordedRun::open(run) {
        Ok(recorded) => recorded,
        Err(error) => {
            return (vec![], vec![format!("No match can be replayed: {}.", chained(&error))]);
        }
    };
    let (mut replays, mut notes, mut n_bytes, mut n_left_out) = (vec![], vec![], 0, 0);
    for (record, reason) in records {
        let whole = drawn_replay(&mut recorded, record, reason);
        let drawn = match whole {
            Ok(replay) if replay.n_bytes() > MAX_REPLAY_BYTES && replay.has_trees() => {
                replay_of(&mut recorded, record, reason, false)
            }
            _ => whole,
        };
        match drawn {
            Ok(replay) => {
                let more = replay.n_bytes();
                if more <= MAX_REPLAY_BYTES && n_bytes + more <= MAX_BYTES {
                    n_bytes += more;
                    replays.push(replay);
                } else {
                    n_left_out += 1;
                }
            }
            Err(error) => {
                let (job, why) = (record.job, chained(&error));
                notes.push(format!("Match {job} cannot be replayed: {why}."));
            }
        }
    }
    if n_left_out > 0 {
        notes.push(format!(
            "{} too long for this page; use `gamemaster replay`.",
            counted(n_left_out, "match worth replaying is", "matches worth replaying are")
        ));
    }
    (replays, notes)
}

/// One match, with its positions computed from its moves.
///
/// # Errors
/// If its game is not what it was, or its moves cannot be computed.
pub fn drawn_replay(
    run: &mut RecordedRun,
    record: &MatchRecord,
    reason: &str,
) -> Result<Replay, RecordedError> {
    replay_of(run, record, reason, true)
}

/// The same, with all facts in a list if it would have trees that are not wanted.
fn replay_of(
    run: &mut RecordedRun,
    record: &MatchRecord,
    reason: &str,
    wants_trees: bool,
) -> Result<Replay, RecordedError> {
    let has_times = run.spec().timings;
    let machine = run.machine(record)?;
    let positions = positions(machine, record)?;
    let game = machine.game();
    let mut facts = Numbered::default();
    let is_wanted = |boards: &Boards| wants_trees || !boards.iter().any(Board::is_tree);
    let boards = board::find(game, &positions).filter(is_wanted);
    let mut drawings: Vec<Drawing<'_>> =
        boards.iter().flat_map(Boards::iter).map(Drawing::new).collect();
    let mut steps = Vec::with_capacity(positions.len());
    for (at, position) in positions.iter().enumerate() {
        let cells = drawings.iter_mut().flat_map(|drawing| drawing.cells(position)).collect();
        let mut step = ReplayStep { cells, ..ReplayStep::default() };
        let is_shown = |fact: &Expression| boards.as_ref().is_some_and(|boards| boards.shows(fact));
        let others = position.iter().filter(|fact| !is_shown(fact));
        step.facts = others.map(|fact| facts.number(&fact.to_string())).collect();
        if let Some(decisions) = at.checked_sub(1).and_then(|at| record.steps.get(at)) {
            step.moves = decisions.iter().map(|decision| decision.executed.clone()).collect();
            let players = || decisions.iter().zip(&record.seats);
            if decisions.iter().any(|decision| decision.value_tenths.is_some()) {
                let value = |decision: &DecisionRecord| {
                    decision.value_tenths.map(|tenths| f64::from(tenths) / 10.0)
                };
                step.values = decisions.iter().map(value).collect();
            }
            if has_times {
                let time = |(decision, seat): (&DecisionRecord, &SeatRecord)| {
                    let is_choice = seat.player.is_some() && decision.n_legal > 1;
                    is_choice.then(|| milliseconds(decision.wall_us))
                };
                step.times = players().map(time).collect();
            }
            if decisions.iter().any(|decision| decision.fault.is_some()) {
                let fault = |kind: results::record::FaultKind| kind.name().replace('_', " ");
                step.faults = decisions
                    .iter()
                    .map(|decision| decision.fault.map(fault).unwrap_or_default())
                    .collect();
            }
        }
        steps.push(step);
    }
    let seats = record.seats.iter().map(|seat| ReplaySeat {
        role: seat.role.clone(),
        player: seat.player.clone(),
        reward: seat.reward.filter(|_| seat.player.is_some()),
        start: seat.player.as_ref().and_then(|_| {
            let (ms, nodes) =
                (has_times.then(|| milliseconds(seat.start.wall_us)), seat.start.nodes);
            let value = seat.start.value_tenths.map(|tenths| f64::from(tenths) / 10.0);
            (ms.is_some() || nodes.is_some()).then_some(ReplayStart { ms, nodes, value })
        }),
    });
    Ok(Replay {
        job: record.job,
        match_id: record.match_id.clone(),
        game: record.game.clone(),
        reason: reason.to_owned(),
        ending: ending(&record.ending),
        seats: seats.collect(),
        boards: drawings.into_iter().map(Drawing::finish).collect(),
        facts: facts.words,
        steps,
    })
}

fn milliseconds(us: u64) -> f64 {
    us as f64 / 1000.0
}

fn ending(ending: &Ending) -> String {
    match ending {
        Ending::Terminal => "terminal".to_owned(),
        Ending::StepLimit => "the step limit".to_owned(),
        Ending::Aborted { reason } => format!("aborted ({reason})"),
        Ending::GameError { reason } => format!("the rules failed ({reason})"),
    }
}

/// Words by number, each once.
#[derive(Default)]
struct Numbered {
    numbers: BTreeMap<String, u32>,
    words: Vec<String>,
}

impl Numbered {
    fn number(&mut self, word: &str) -> u32 {
        if let Some(&number) = self.numbers.get(word) {
            return number;
        }
        let number = self.words.len() as u32;
        self.numbers.insert(word.to_owned(), number);
        self.words.push(word.to_owned());
        number
    }
}

/// A board, and the pieces met on it.
struct Drawing<'b> {
    board: &'b Board,
    /// What stands on a cell, by number; the first is nothing.
    stacks: Numbered,
    pieces: Vec<ReplayPiece>,
}

impl<'b> Drawing<'b> {
    fn new(board: &'b Board) -> Self {
        let mut stacks = Numbered::default();
        stacks.number("");
        Self { board, stacks, pieces: vec![ReplayPiece::default()] }
    }

    /// The cells of a position, row by row from the top.
    fn cells(&mut self, facts: &[Expression]) -> Vec<u32> {
        let mut cells = vec![];
        for (row, stacks) in self.board.cells(facts).into_iter().enumerate().rev() {
            for (column, stack) in stacks.into_iter().enumerate() {
                let shown = self.board.shown(column, row, &stack);
                let number = match shown {
                    Shown::Nothing => 0,
                    // What looks the same is the same piece.
                    _ => self.stacks.number(&format!("{}: {shown:?}", stack.join(", "))),
                };
                if number as usize == self.pieces.len() {
                    self.pieces.push(self.piece(&stack, shown));
                }
                cells.push(number);
            }
        }
        cells
    }

    /// What stands on a cell, as one.
    fn piece(&self, stack: &[String], shown: Shown) -> ReplayPiece {
        let name = stack.join(", ");
        let is_code = matches!(shown, Shown::Code { .. });
        let mark = match shown {
            Shown::Tree(_) => name.clone(),
            _ => shown.text(),
        };
        let (number, cards, tree) = match shown {
            Shown::Bar { number, .. } => (Some(number), vec![], vec![]),
            Shown::Cards { cards, .. } => (None, cards, vec![]),
            Shown::Code { names, .. } => (None, names.into_iter().map(Some).collect(), vec![]),
            Shown::Tree(tree) => (None, vec![], tree.nodes.iter().map(node).collect()),
            Shown::Nothing | Shown::Text(_) => (None, vec![], vec![]),
        };
        let looks = || stack.iter().map(|piece| self.board.look(piece));
        let colour = looks().find_map(|look| look.side).map(|side| match side {
            Side::Colour(colour) => colour.to_owned(),
            Side::Role(role) => format!("side{}", role % N_SIDES + 1),
        });
        ReplayPiece {
            mark,
            name,
            colour,
            is_king: looks().any(|look| look.is_king),
            width: looks().find_map(|look| look.size).map(width),
            number,
            cards,
            is_code,
            tree,
        }
    }

    fn finish(self) -> ReplayBoard {
        let (n_columns, n_rows) = (self.board.columns().len(), self.board.rows().len());
        let cells = |is_wanted: &dyn Fn(usize, usize) -> bool| {
            let is_wanted =
                |cell: &usize| is_wanted(cell % n_columns, n_rows - 1 - cell / n_columns);
            (0..n_columns * n_rows).filter(is_wanted).collect()
        };
        ReplayBoard {
            title: self.board.title().map(str::to_owned),
            is_table: self.board.is_table(),
            is_tree: self.board.is_tree(),
            is_lattice: self.board.is_lattice(),
            gaps: cells(&|column, row| !self.board.is_place(column, row)),
            walls_right: cells(&|column, row| self.board.has_wall_right(column, row)),
            walls_above: cells(&|column, row| self.board.has_wall_above(column, row)),
            columns: self.board.columns().to_vec(),
            rows: self.board.rows().iter().rev().cloned().collect(),
            shift: self.board.shift(),
            pieces: self.pieces,
        }
    }
}

/// A node of a tree of states.
fn node(node: &TreeNode) -> ReplayNode {
    let (shape, role) = match &node.kind {
        NodeKind::Moves(roles) => match roles.as_slice() {
            [(_, role)] => (ReplayShape::Moves, Some(*role)),
            _ => (ReplayShape::Moves, None),
        },
        NodeKind::Chance => (ReplayShape::Chance, None),
        NodeKind::End(_) => (ReplayShape::End, None),
        NodeKind::Again => (ReplayShape::Again, None),
    };
    let more = match shape {
        ReplayShape::Again => String::new(),
        _ => node.kind.text(),
    };
    ReplayNode {
        parent: node.parent,
        way: node.way(),
        name: node.name.clone(),
        more,
        shape,
        role,
        is_here: node.is_here,
        is_on_line: node.is_on_line,
        n_hidden: node.n_hidden,
    }
}

/// Colours of the page for sides that are named after none.
const N_SIDES: usize = 6;

/// The width of a slab in percent of its cell: the smallest takes a third.
fn width((size, n_sizes): (u8, u8)) -> u8 {
    let steps = u32::from(n_sizes.saturating_sub(1)).max(1);
    let share = 33 + 63 * u32::from(size.saturating_sub(1)) / steps;
    u8::try_from(share).unwrap_or(96)
}
