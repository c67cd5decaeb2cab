//! What pieces are worth by a learned evaluation, as a list.

use std::io::{self, Write};

use games::{ReasoningError, StateMachine};
use players::learning::{LinearEvaluation, PieceWeight, piece_weights};
use serde::Serialize;

use crate::board;

/// Pieces that are printed for a role, those of the greatest weight.
const PIECES_SHOWN: usize = 12;

/// The kinds of pieces of a game with their weights, by role.
#[derive(Serialize)]
pub(super) struct PieceList(Vec<RolePieces>);

/// The weights for one role.
#[derive(Serialize)]
struct RolePieces {
    role: String,
    /// The kind that others are compared with.
    unit: String,
    /// The greatest weight first.
    pieces: Vec<Piece>,
    /// The weights are those of the role before, with the other sign.
    is_opposite: bool,
}

#[derive(Serialize)]
struct Piece {
    /// The facts of this kind.
    facts: String,
    /// How many there are in a state of random play, on average.
    mean_count: f64,
    /// What one adds to the logarithm of the odds, on average.
    weight: f64,
    /// The weight in units of that of the unit.
    relative: f64,
}

impl PieceList {
    /// The pieces of the machine's game; `None` if its facts form no board in the initial
    /// state, if it has no pieces, or if their weights are 0.
    /// Means are taken over random play that follows from `seed`.
    pub(super) fn of(
        evaluation: &LinearEvaluation,
        machine: &mut dyn StateMachine,
        seed: u64,
    ) -> Result<Option<Self>, ReasoningError> {
        let initial = machine.initial_state()?;
        let facts = machine.facts(&initial);
        let boards = board::find(machine.game(), &[facts]);
        if !boards.is_some_and(|boards| boards.have_places()) {
            return Ok(None);
        }
        let kinds = piece_weights(evaluation, machine, seed)?;
        let chance = machine.game().random().map(|role| usize::from(role.0));
        let mut list: Vec<RolePieces> = Vec::new();
        let mut before: Option<usize> = None;
        for (at, role) in evaluation.roles.iter().enumerate().filter(|&(at, _)| Some(at) != chance)
        {
            let Some(unit) = unit(&kinds, at, role) else { continue };
            let by = unit.weights[at];
            let piece = |kind: &PieceWeight| Piece {
                facts: kind.pattern.to_string(),
                mean_count: rounded(kind.mean_count, 1e2),
                weight: rounded(kind.weights[at], 1e4),
                relative: rounded(kind.weights[at] / by, 1e2),
            };
            let mut pieces: Vec<Piece> = kinds.iter().map(piece).collect();
            pieces.sort_by(|a, b| b.weight.total_cmp(&a.weight));
            let is_opposite = before.is_some_and(|before| {
                kinds.iter().all(|kind| (kind.weights[at] + kind.weights[before]).abs() < 1e-9)
            });
            before = Some(at);
            let (role, unit) = (role.clone(), unit.pattern.to_string());
            list.push(RolePieces { role, unit, pieces, is_opposite });
        }
        Ok((!list.is_empty()).then_some(Self(list)))
    }

    /// Prints it, each line behind `indent`.
    pub(super) fn print(&self, out: &mut impl Write, indent: &str) -> io::Result<()> {
        for RolePieces { role, unit, pieces, is_opposite } in &self.0 {
            if *is_opposite {
                writeln!(
                    out,
                    "{indent}pieces for {role}: the same weights, with + and - exchanged"
                )?;
                continue;
            }
            writeln!(out, "{indent}pieces for {role}, in units of {unit}")?;
            let mut shown: Vec<&Piece> = pieces.iter().collect();
            shown.sort_by(|a, b| b.weight.abs().total_cmp(&a.weight.abs()));
            shown.truncate(PIECES_SHOWN);
            shown.sort_by(|a, b| b.weight.total_cmp(&a.weight));
            let width = shown.iter().map(|piece| piece.facts.len()).max().unwrap_or(0);
            for Piece { facts, relative, weight, .. } in shown {
                writeln!(out, "{indent}  {facts:width$}  {relative:+6.2}  weight {weight:+.3}")?;
            }
        }
        Ok(())
    }
}

/// The most numerous kind that is good for a role: of those that name the role, if there is
/// one. That is the pawn of chess.
fn unit<'k>(kinds: &'k [PieceWeight], at: usize, role: &str) -> Option<&'k PieceWeight> {
    let is_own = |kind: &&PieceWeight| {
        kind.pattern.arguments.iter().flatten().any(|given| given.to_string() == role)
    };
    let is_good = |kind: &&PieceWeight| kind.weights[at] > 0.0;
    let most = |kinds: Vec<&'k PieceWeight>| {
        kinds.into_iter().max_by(|a, b| a.mean_count.total_cmp(&b.mean_count))
    };
    most(kinds.iter().filter(is_good).filter(is_own).collect())
        .or_else(|| most(kinds.iter().filter(is_good).collect()))
}

fn rounded(number: f64, fractions: f64) -> f64 {
    (number * fractions).round() / fractions
}
