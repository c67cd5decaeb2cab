//! Which ends can be reached in a game of one role. Each state is entered once, so that the
//! search ends where play may go in circles.

use games::{Cursor, MoveId, State, StateKey};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Missing, ROLE};
use crate::search::worst;
use crate::{Failure, Stop};

/// What is known of states: whether an end with the wanted reward can be reached.
pub(super) type Known = FxHashMap<StateKey, bool>;

/// The outcome of a search for ends.
pub(super) enum Reached {
    /// A way to an end with the wanted reward or more, or to a state that is known to lead to
    /// one.
    Wanted(Way),
    /// There is none. The best other way, the first of equals; `None` if no end can be reached.
    Less(Option<Way>),
    /// The search ended early, for lack of time or of room for states.
    Stopped(Missing),
}

/// Maximum number of states of which something is known, which bounds memory.
pub const MAX_STATES: usize = 7_000_000;

/// The moves to an end, and its reward.
pub(super) struct Way {
    pub(super) reward: u8,
    pub(super) moves: Vec<MoveId>,
}

/// A state of the line, with the moves that are not tried yet, the first at the end.
struct Entered {
    key: StateKey,
    untried: Vec<MoveId>,
}

/// Looks from a state for an end with the reward `wanted` or more, moves in the order of the
/// rules. `known` must be about the same reward; what is found out is added.
pub(super) fn reach(
    cursor: &mut dyn Cursor,
    start: &State,
    wanted: u8,
    known: &mut Known,
    stop: &Stop,
) -> Result<Reached, Failure> {
    cursor.enter(start);
    let mut seen = FxHashSet::default();
    let mut line: Vec<Entered> = Vec::new();
    // As many as the line has states, while one of its children is entered.
    let mut moves = Vec::new();
    let mut best: Option<Way> = None;
    let mut entered = Some(cursor.key());
    loop {
        if let Some(key) = entered.take() {
            if stop.is_due(seen.len() as u64) {
                return Ok(Reached::Stopped(Missing::Time));
            }
            if seen.len() + known.len() >= MAX_STATES {
                return Ok(Reached::Stopped(Missing::States));
            }
            seen.insert(key);
            let is_known = known.get(&key).copied();
            let end = match cursor.is_terminal()? {
                true => Some(worst(&cursor.goal(ROLE)?)),
                false => None,
            };
            if is_known == Some(true) || end.is_some_and(|reward| reward >= wanted) {
                known.extend(line.iter().map(|it| (it.key, true)));
                known.insert(key, true);
                return Ok(Reached::Wanted(Way { reward: end.unwrap_or(wanted), moves }));
            }
            if let Some(reward) = end
                && best.as_ref().is_none_or(|best| reward > best.reward)
            {
                best = Some(Way { reward, moves: moves.clone() });
            }
            let mut untried = Vec::new();
            if end.is_none() && is_known.is_none() {
                let legal = cursor.legal_moves(ROLE)?;
                untried.extend(legal.iter());
                untried.reverse();
            }
            line.push(Entered { key, untried });
        }
        let Some(Entered { untried, .. }) = line.last_mut() else { break };
        let Some(action) = untried.pop() else {
            line.pop();
            moves.pop();
            cursor.take_back();
            continue;
        };
        cursor.play(&[action])?;
        let key = cursor.key();
        if seen.contains(&key) {
            cursor.take_back();
        } else {
            moves.push(action);
            entered = Some(key);
        }
    }
    known.extend(seen.into_iter().map(|key| (key, false)));
    Ok(Reached::Less(best))
}
