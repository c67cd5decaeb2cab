//! The effects of moves on the board in random play: in which direction a move called
//! `north` takes a piece, where dropped pieces land, which role moves first.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use games::rule::{Sentence, Term};
use games::{
    Expression, Game, Guards, MoveId, Prover, ReasoningError, RoleId, State, StateMachine as _,
};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use super::directions::Directions;
use super::grid::Grid;
use super::orientation::{Scores, Way, scores};

/// Matches tried, and steps of each.
const PLAYOUTS: u32 = 4;
const STEPS: u32 = 30;

/// Steps of reasoning for one question.
const MAX_STEPS: u64 = 5_000_000;

/// Always the same, so that a board always lies the same way.
const SEED: u64 = 1;

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Trial {
    /// Where pieces went by moves that name a direction.
    pub(super) ways: Vec<Way>,
    /// Pieces that came by moves of one word, by match.
    drops: Vec<Vec<Drop>>,
}

/// A piece that landed on a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Drop {
    /// The only argument of the move.
    argument: String,
    at: [usize; 2],
}

/// The only role that has a choice at first; `None` if several have, or none.
pub(super) fn first_mover(game: &Game) -> Option<RoleId> {
    let mut machine = machine(game)?;
    let state = machine.initial_state().ok()?;
    let mut legal = Vec::new();
    let mut movers = Vec::new();
    for role in game.role_ids() {
        machine.legal_moves(&state, role, &mut legal).ok()?;
        if legal.len() > 1 && Some(role) != game.random() {
            movers.push(role);
        }
    }
    match movers.as_slice() {
        [mover] => Some(*mover),
        _ => None,
    }
}

fn machine(game: &Game) -> Option<Prover> {
    let guards = Guards { max_steps: MAX_STEPS, ..Guards::default() };
    Prover::new(Arc::new(game.clone()), guards).ok()
}

impl Trial {
    /// Plays a little, if the rules have moves that may show the orientation.
    pub(super) fn of(game: &Game, grid: &Grid, is_nothing: &dyn Fn(&str) -> bool) -> Self {
        let directions = Directions::of(game);
        let mut trial = Self::default();
        if !is_worth_it(game, &directions) {
            return trial;
        }
        let Some(mut machine) = machine(game) else { return trial };
        let mut rng = Pcg64Mcg::seed_from_u64(SEED);
        let eye = Eye { grid, is_nothing, directions };
        for _ in 0..PLAYOUTS {
            trial.drops.push(Vec::new());
            let mut before = Seen::new();
            let mut watch = |moves: &[(&str, Expression)], facts: Vec<Expression>| {
                let after = eye.look(&facts);
                for (role, played) in moves {
                    trial.ways.extend(eye.ways(played, role, &before, &after));
                    let drops = trial.drops.last_mut().expect("one for each match");
                    drops.extend(eye.drop(played, &before, &after));
                }
                before = after;
            };
            // If the rules cannot be computed further, what was seen so far counts.
            if playout(&mut machine, &mut rng, &mut watch).is_err() {
                break;
            }
        }
        trial
    }

    /// Which coordinate is the column that pieces are dropped into, and where its
    /// bottom is.
    pub(super) fn gravity(&self) -> Scores {
        let fitting: Vec<(usize, bool)> = [(0, true), (0, false), (1, true), (1, false)]
            .into_iter()
            .filter(|&(column, is_up)| self.falls(column, is_up))
            .collect();
        let [(column, is_up)] = fitting[..] else { return [0; 8] };
        scores(|orientation| {
            u32::from(orientation.vertical() != column && orientation.grows_down != is_up)
        })
    }

    /// Whether the pieces dropped into a column are stacked.
    fn falls(&self, column: usize, is_up: bool) -> bool {
        let mut n_upon = 0;
        let mut floors = BTreeSet::new();
        let mut names: BTreeMap<&str, usize> = BTreeMap::new();
        for drops in &self.drops {
            let mut tops: BTreeMap<usize, usize> = BTreeMap::new();
            for Drop { argument, at } in drops {
                let (place, height) = (at[column], at[1 - column]);
                if *names.entry(argument).or_insert(place) != place {
                    return false;
                }
                let Some(below) = tops.insert(place, height) else {
                    floors.insert(height);
                    continue;
                };
                let is_upon = if is_up { height == below + 1 } else { height + 1 == below };
                if !is_upon {
                    return false;
                }
                n_upon += 1;
            }
        }
        let places: BTreeSet<usize> = names.values().copied().collect();
        floors.len() == 1 && n_upon > 1 && places.len() == names.len()
    }
}

/// The positions of a few matches of random moves, as far as the rules can be computed.
pub(super) fn positions(game: &Game) -> Vec<Vec<Expression>> {
    let mut positions = Vec::new();
    let Some(mut machine) = machine(game) else { return positions };
    let mut rng = Pcg64Mcg::seed_from_u64(SEED);
    for _ in 0..PLAYOUTS {
        if playout(&mut machine, &mut rng, &mut |_, facts| positions.push(facts)).is_err() {
            break;
        }
    }
    positions
}

/// Gets the moves that led to a position, with the names of their roles, and its facts. No moves
/// lead to the first.
type Watch<'w> = dyn FnMut(&[(&str, Expression)], Vec<Expression>) + 'w;

/// Plays random moves before the eyes of `watch`.
fn playout(
    machine: &mut Prover,
    rng: &mut Pcg64Mcg,
    watch: &mut Watch<'_>,
) -> Result<(), ReasoningError> {
    let game = Arc::clone(machine.game());
    let mut state = machine.initial_state()?;
    watch(&[], machine.facts(&state));
    let mut legal = Vec::new();
    for _ in 0..STEPS {
        if machine.is_terminal(&state)? {
            break;
        }
        let mut joint_move: Vec<MoveId> = Vec::new();
        for role in game.role_ids() {
            machine.legal_moves(&state, role, &mut legal)?;
            if legal.is_empty() {
                return Ok(());
            }
            joint_move.push(legal[rng.random_range(0..legal.len())]);
        }
        let mut next = State::default();
        machine.next_state(&state, &joint_move, &mut next)?;
        let played = game.role_ids().zip(&joint_move);
        let moves: Vec<(&str, Expression)> =
            played.map(|(role, &id)| (game.role_name(role), machine.move_expression(id))).collect();
        watch(&moves, machine.facts(&next));
        state = next;
    }
    Ok(())
}

/// Whether some move names a direction, or has a single argument.
fn is_worth_it(game: &Game, directions: &Directions) -> bool {
    let symbols = game.symbols();
    let is_move = |head: &Sentence| ["legal", "input"].contains(&symbols.name(head.name));
    let is_drop =
        |term: &Term| matches!(term, Term::Function(_, arguments) if arguments.len() == 1);
    let drops = game
        .rules()
        .iter()
        .any(|rule| is_move(&rule.head) && rule.head.arguments.get(1).is_some_and(is_drop));
    let mut forms: Vec<&Expression> = game.forms().iter().collect();
    while !drops && let Some(form) = forms.pop() {
        match form {
            Expression::Atom(name) if directions.of_name(name).is_some() => return true,
            Expression::Atom(_) => {}
            Expression::List(items) => forms.extend(items),
        }
    }
    drops
}

/// The cells of each piece.
type Seen = BTreeMap<Piece, BTreeSet<[usize; 2]>>;

/// Number of its relation, and name.
type Piece = (usize, String);

/// How the board is looked at.
struct Eye<'a> {
    grid: &'a Grid,
    is_nothing: &'a dyn Fn(&str) -> bool,
    directions: Directions,
}

impl Eye<'_> {
    fn look(&self, facts: &[Expression]) -> Seen {
        let mut seen = Seen::new();
        for located in facts.iter().filter_map(|fact| self.grid.locate(fact)) {
            seen.entry((located.layer, located.piece)).or_default().insert(located.at);
        }
        seen
    }

    /// Where pieces went by a move that names a direction.
    fn ways(&self, played: &Expression, role: &str, before: &Seen, after: &Seen) -> Vec<Way> {
        let Some(on_page) = self.directions.of_term(played) else { return vec![] };
        let mut went: Vec<(&Piece, [i32; 2])> = Vec::new();
        for (piece, cells) in before {
            let Some(now) = after.get(piece) else { continue };
            let mut gone = cells.difference(now);
            let mut new = now.difference(cells);
            if let (Some(from), None, Some(to), None) =
                (gone.next(), gone.next(), new.next(), new.next())
            {
                went.push((piece, [0, 1].map(|axis| to[axis] as i32 - from[axis] as i32)));
            }
        }
        // The only gap among tiles is what a move is named after; else it is no piece.
        let is_nothing = |piece: &Piece| (self.is_nothing)(&piece.1);
        let is_gap = |piece: &Piece| is_nothing(piece) && before[piece].len() == 1;
        let has_gap = went.iter().any(|(piece, _)| is_gap(piece));
        went.retain(|(piece, _)| if has_gap { is_gap(piece) } else { !is_nothing(piece) });
        let is_own = |piece: &Piece| piece.1.split([' ', '_', '-']).any(|word| word == role);
        if went.iter().any(|(piece, _)| is_own(piece)) {
            went.retain(|(piece, _)| is_own(piece));
        }
        went.into_iter().map(|(_, in_grid)| Way { in_grid, on_page }).collect()
    }

    /// Where a single piece came from nowhere by a move of one word.
    fn drop(&self, played: &Expression, before: &Seen, after: &Seen) -> Option<Drop> {
        let Expression::List(items) = played else { return None };
        let [_, Expression::Atom(argument)] = items.as_slice() else { return None };
        let none = BTreeSet::new();
        let pieces =
            after.iter().filter(|((layer, piece), _)| *layer == 0 && !(self.is_nothing)(piece));
        let mut came =
            pieces.flat_map(|(piece, cells)| cells.difference(before.get(piece).unwrap_or(&none)));
        let &at = came.next()?;
        came.next().is_none().then(|| Drop { argument: argument.clone(), at })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(drops: &[&str], column: usize, is_up: bool, expected: bool) {
        let drop = |word: &str| {
            let numbers: Vec<usize> = word.split(',').map(|part| part.parse().unwrap()).collect();
            Drop { argument: format!("c{}", numbers[column]), at: [numbers[0], numbers[1]] }
        };
        let drops = drops.iter().map(|drops| drops.split(' ').map(drop).collect()).collect();
        let trial = Trial { ways: vec![], drops };
        assert_eq!(trial.falls(column, is_up), expected, "{trial:?}");
    }

    #[test]
    fn pieces_that_lie_upon_each_other_fell() {
        check(&["0,0 1,0 0,1 0,2"], 0, true, true);
        check(&["0,5 1,5 0,4 0,3"], 0, false, true);
        check(&["5,0 5,1 4,0 3,0"], 1, false, true);
        // A gap; two floors; too few to tell.
        check(&["0,0 0,1 0,3"], 0, true, false);
        check(&["0,0 0,1 0,2 1,4"], 0, true, false);
        check(&["0,0 1,0 0,1"], 0, true, false);
    }
}
