//! Makes a suite of connect-four positions that a perfect solver has judged:
//!
//! ```text
//! cargo run --release --manifest-path scripts/connect_four_suite/Cargo.toml > connect_four.toml
//! gamemaster suite run connect_four.toml --player mcts --play-clock 1s
//! ```
//!
//! The first argument is the number of positions (1000 without it), the second one the seed
//! of the random moves that lead to them. Positions are spread evenly over 0 to 33 stones on the
//! board. In each of them some legal move gives the value of the game away, and nobody can win
//! at once. The solver is the crate `connect-four-ai`.

use std::collections::HashSet;
use std::io::{self, BufWriter, Write};

use connect_four_ai::{Position, Solver};
use rand::SeedableRng;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;

/// Positions have fewer stones than this: most later ones have no choice left.
const MAX_STONES: usize = 34;

/// Random games in a row without a new position after which a number of stones is given up:
/// there is one position without stones, and seven with one.
const MAX_TRIES: usize = 10_000;

/// A position and the worth of its moves.
struct Judged {
    /// Columns from 0, as they were played.
    columns: Vec<usize>,
    /// By column: 100 for a win, 50 for a draw, 0 for a loss; `None` if it is full.
    values: [Option<u8>; Position::WIDTH],
    /// Plies until the end if both sides play perfectly.
    depth: usize,
}

fn main() -> io::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut number = |name: &str, default: u64| match arguments.next() {
        None => default,
        Some(text) => text.parse().unwrap_or_else(|_| {
            eprintln!("error: {name} `{text}` is not a whole number");
            std::process::exit(2);
        }),
    };
    let (n_positions, seed) = (number("number of positions", 1000) as usize, number("seed", 1));
    let mut random = StdRng::seed_from_u64(seed);
    let mut solver = Solver::new();
    let mut known = HashSet::new();
    let mut judged = Vec::new();
    let mut n_trivial = 0_u64;
    for n_stones in 0..MAX_STONES {
        let n_wanted = (n_positions - judged.len()).div_ceil(MAX_STONES - n_stones);
        let (mut n_found, mut n_tries) = (0, 0);
        while n_found < n_wanted && n_tries < MAX_TRIES {
            n_tries += 1;
            let Some(columns) = random_game(n_stones, &mut random) else { continue };
            let position = played(&columns);
            if position.can_win_next() || !known.insert(position.get_key()) {
                continue;
            }
            n_tries = 0;
            match judge(columns, &position, &mut solver) {
                Some(found) => {
                    judged.push(found);
                    n_found += 1;
                }
                None => n_trivial += 1,
            }
        }
    }
    eprintln!(
        "{} positions; {n_trivial} others were left out: all their moves are worth the same",
        judged.len()
    );
    print(&judged)
}

/// The columns of a random game of this length that nobody has won.
fn random_game(n_stones: usize, random: &mut StdRng) -> Option<Vec<usize>> {
    let mut position = Position::new();
    let mut columns = Vec::with_capacity(n_stones);
    for _ in 0..n_stones {
        let open: Vec<usize> =
            (0..Position::WIDTH).filter(|&column| position.is_playable(column)).collect();
        let &column = open.choose(random)?;
        if position.is_winning_move(column) {
            return None;
        }
        position.play(column);
        columns.push(column);
    }
    Some(columns)
}

fn played(columns: &[usize]) -> Position {
    let mut position = Position::new();
    columns.iter().for_each(|&column| position.play(column));
    position
}

/// Values and depth of a position in which nobody can win immediately; `None` if all moves are
/// worth the same.
fn judge(columns: Vec<usize>, position: &Position, solver: &mut Solver) -> Option<Judged> {
    let scores = solver.get_all_move_scores(position);
    let values = scores.map(|score| {
        score.map(|score| match score.signum() {
            1 => 100,
            0 => 50,
            _ => 0,
        })
    });
    let best = scores.iter().flatten().max()?;
    let n_left = Position::BOARD_SIZE - position.get_moves();
    let stones_to_spare = usize::from(best.unsigned_abs());
    let depth = match best.signum() {
        // A score counts from 1 the stones that the winner still has when the game ends.
        1 => 2 * (n_left.div_ceil(2) - stones_to_spare) + 1,
        0 => n_left,
        _ => 2 * (n_left / 2 - stones_to_spare) + 2,
    };
    let mut different = values.iter().flatten().collect::<Vec<_>>();
    different.dedup();
    (different.len() > 1).then_some(Judged { columns, values, depth })
}

fn print(judged: &[Judged]) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    writeln!(out, "format = 1")?;
    for (at, Judged { columns, values, depth }) in judged.iter().enumerate() {
        let role = ["white", "red"][columns.len() % 2];
        let moves: Vec<String> = columns
            .iter()
            .enumerate()
            .map(|(ply, column)| match ply % 2 {
                0 => format!("((drop {}) noop)", column + 1),
                _ => format!("(noop (drop {}))", column + 1),
            })
            .collect();
        let best = values.iter().flatten().max().expect("a position has moves");
        let (mut good, mut worth) = (Vec::new(), Vec::new());
        for (column, value) in values.iter().enumerate() {
            let Some(value) = value else { continue };
            worth.push(format!("\"(drop {})\" = {value}", column + 1));
            if value == best {
                good.push(format!("\"(drop {})\"", column + 1));
            }
        }
        writeln!(
            out,
            "\n[[position]]\nid = \"stones-{:02}-{:04}\"\ngame = \"connect_four\"\nrole = \"{role}\"",
            columns.len(),
            at + 1
        )?;
        if !moves.is_empty() {
            writeln!(out, "moves = \"{}\"", moves.join(" "))?;
        }
        writeln!(out, "good = [{}]", good.join(", "))?;
        writeln!(out, "values = {{ {} }}", worth.join(", "))?;
        writeln!(out, "depth = {depth}\nsource = \"connect-four-ai 1.0.0\"")?;
    }
    out.flush()
}
