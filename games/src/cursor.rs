//! One position that is asked, played on and taken back.
//!
//! A [`StateMachine`](crate::StateMachine) is asked about states, each of which it has to
//! recognise or load. A cursor stands in one position, so nothing is handed over but moves: what
//! tree walks and random playouts need. Compare `Board` of the crate cozy-chess and the stack of
//! differences of chess programs.

use smallvec::SmallVec;

use crate::compiled_network::features::nth_bit;
use crate::key::StateKey;
use crate::reasoning_error::{Cancel, ReasoningError};
use crate::state::{GoalReading, MoveId, RoleId, State};

/// A position of a game, made by [`StateMachine::cursor`](crate::StateMachine::cursor). Its
/// answers are those of the machine.
///
/// # Example
///
/// ```
/// use std::sync::Arc;
///
/// use games::{Case, Guards, Leniency, StateMachine as _, library, state_machine_for, validate};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let text = library::find("tic_tac_toe").ok_or("is shipped")?.text;
/// let game = validate::read("tic_tac_toe", text, Case::Folded, Leniency::Strict).game;
/// let mut machine = state_machine_for(Arc::new(game.ok_or("is valid")?), Guards::default())?;
/// let roles: Vec<_> = machine.game().role_ids().collect();
///
/// let initial = machine.initial_state()?;
/// let mut cursor = machine.cursor(&initial);
/// let mut n_joint_moves = 0;
/// while !cursor.is_terminal()? {
///     let mut joint_move = Vec::new();
///     for &role in &roles {
///         joint_move.extend(cursor.legal_moves(role)?.get(0));
///     }
///     cursor.play(&joint_move)?;
///     n_joint_moves += 1;
/// }
/// assert_eq!(n_joint_moves, 7);
/// assert_eq!(cursor.goal(roles[0])?.unique().map(|goal| goal.value()), Some(100));
/// while cursor.take_back() {}
/// assert_eq!(cursor.key(), machine.key(&initial));
/// # Ok(())
/// # }
/// ```
pub trait Cursor: Send {
    /// Makes computations return [`ReasoningError::Cancelled`] soon after the flag is raised.
    fn set_cancel(&mut self, cancel: Cancel);

    /// Enters a state of the machine or its forks. Nothing can be taken back then.
    fn enter(&mut self, state: &State);

    /// Whether the position is terminal.
    fn is_terminal(&mut self) -> Result<bool, ReasoningError>;

    /// The legal moves of a role.
    fn legal_moves(&mut self, role: RoleId) -> Result<LegalMoves<'_>, ReasoningError>;

    /// Makes a joint move, one move for each role. The moves need not be legal, as in
    /// [`StateMachine::next_state`](crate::StateMachine::next_state). After an error the position
    /// is the same.
    ///
    /// # Panics
    /// If `joint_move` has not exactly one move per role.
    fn play(&mut self, joint_move: &[MoveId]) -> Result<(), ReasoningError>;

    /// Makes a legal move of each role, the one whose number `choose` gives: role by role, it gets
    /// how many there are, and its number is less. `false` if the position is terminal or a role
    /// has no legal move; then the position is the same, though `choose` may have been asked about
    /// roles before. This is faster than to ask for the moves and play some of them.
    ///
    /// # Panics
    /// If `choose` gives a number that is not less.
    fn play_chosen(
        &mut self,
        choose: &mut dyn FnMut(usize) -> usize,
    ) -> Result<bool, ReasoningError>;

    /// Takes the last joint move back; `false` if none was played since a state was entered.
    fn take_back(&mut self) -> bool;

    /// Makes it impossible to take the joint moves back that were played so far. This frees
    /// their memory, a few words each.
    fn forget_way(&mut self);

    /// The goals that the rules give to a role.
    fn goal(&mut self, role: RoleId) -> Result<GoalReading, ReasoningError>;

    /// The key of the position.
    fn key(&mut self) -> StateKey;

    /// Puts the position into `state`.
    fn copy_state(&self, state: &mut State);
}

/// How any cursor makes chosen moves.
pub(crate) fn play_chosen<C: Cursor>(
    cursor: &mut C,
    n_roles: usize,
    choose: &mut dyn FnMut(usize) -> usize,
) -> Result<bool, ReasoningError> {
    if cursor.is_terminal()? {
        return Ok(false);
    }
    let mut joint_move: SmallVec<[MoveId; 4]> = SmallVec::new();
    for role in RoleId::first(n_roles) {
        let moves = cursor.legal_moves(role)?;
        if moves.is_empty() {
            return Ok(false);
        }
        let number = choose(moves.len());
        joint_move.push(moves.get(number).expect("a number of a move"));
    }
    cursor.play(&joint_move)?;
    Ok(true)
}

/// Legal moves of a role, in canonical order.
#[derive(Clone, Copy, Debug)]
pub struct LegalMoves<'a>(CursorKind<'a>);

#[derive(Clone, Copy, Debug)]
enum CursorKind<'a> {
    /// Bits of the role's moves, the ids of these, and the number of bits that are set.
    Bits(&'a [u64], &'a [MoveId], usize),
    Listed(&'a [MoveId]),
}

impl<'a> LegalMoves<'a> {
    /// The moves whose bits are set, which are `n`.
    #[inline]
    pub(crate) fn of_bits(bits: &'a [u64], ids: &'a [MoveId], n: usize) -> Self {
        Self(CursorKind::Bits(bits, ids, n))
    }

    /// These moves.
    pub(crate) fn listed(moves: &'a [MoveId]) -> Self {
        Self(CursorKind::Listed(moves))
    }

    /// The number of moves.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        match self.0 {
            CursorKind::Bits(_, _, n) => n,
            CursorKind::Listed(moves) => moves.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The move at `index`, counted from 0.
    #[must_use]
    #[inline]
    pub fn get(&self, index: usize) -> Option<MoveId> {
        let (bits, ids) = match self.0 {
            CursorKind::Bits(_, _, n) if index >= n => return None,
            CursorKind::Bits(bits, ids, _) => (bits, ids),
            CursorKind::Listed(moves) => return moves.get(index).copied(),
        };
        let mut left = index;
        for (at, &word) in bits.iter().enumerate() {
            // The last word has what is left.
            let n = if at + 1 == bits.len() { 64 } else { word.count_ones() as usize };
            if left < n {
                return Some(ids[at * 64 + nth_bit(word, left)]);
            }
            left -= n;
        }
        None
    }

    /// The moves one after the other.
    pub fn iter(&self) -> impl Iterator<Item = MoveId> + use<'a> {
        let (bits, ids, moves): (&[u64], &[MoveId], &[MoveId]) = match self.0 {
            CursorKind::Bits(bits, ids, _) => (bits, ids, &[]),
            CursorKind::Listed(moves) => (&[], &[], moves),
        };
        let of_word = move |(at, &word): (usize, &u64)| {
            let rests = std::iter::successors(Some(word), |word| Some(word & word.wrapping_sub(1)));
            let set = rests.take_while(|&rest| rest != 0);
            set.map(move |rest| ids[at * 64 + rest.trailing_zeros() as usize])
        };
        bits.iter().enumerate().flat_map(of_word).chain(moves.iter().copied())
    }
}
