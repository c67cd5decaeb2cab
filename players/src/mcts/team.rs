//! Searches one tree in one or several threads. One thread at a time makes descents and counts
//! rewards; the others play the playouts of their passes meanwhile.

use std::sync::{Condvar, Mutex, MutexGuard, TryLockError};

use games::{ReasoningError, State, StateMachine};

use super::pass::{NodeCount, Pass};
use super::search::{End, Search, Turn};
use crate::Stop;

/// How often a thread asks for the tree before it sleeps: a pass takes about as long as to fall
/// asleep and wake up.
const ASKS: u32 = 2000;

/// Thinks about a state until `stop` is due, its value is proven, or `limit` descents were made,
/// in this thread and one for each of the machines of `others` (where an evaluation judges, in
/// this one alone). Gives the state's node.
///
/// # Panics
/// If a thread panicked.
pub(super) fn search(
    search: &mut Search,
    machine: &mut dyn StateMachine,
    others: &mut [Box<dyn StateMachine>],
    state: &State,
    stop: &Stop,
    limit: u64,
) -> Result<u32, ReasoningError> {
    search.begin(machine, state, stop)?;
    let others = if search.is_evaluating() { &mut [] as &mut [_] } else { others };
    let mut passes = std::mem::take(&mut search.passes);
    passes.resize_with(passes.len().max(1 + others.len()), Pass::default);
    passes.iter_mut().for_each(Pass::forget_question);
    let end = End { stop, limit };
    let searched = match others.is_empty() {
        true => search_alone(search, &mut passes[0], machine, end),
        false => search_together(search, &mut passes, machine, others, end),
    };
    search.passes = passes;
    searched.map(|()| search.root)
}

/// Searches until the end in this thread.
fn search_alone(
    search: &mut Search,
    pass: &mut Pass,
    machine: &mut dyn StateMachine,
    end: End<'_>,
) -> Result<(), ReasoningError> {
    let count = NodeCount::default();
    let mut played = Ok(());
    loop {
        let turn = search.take_turn(pass, played, machine, end);
        pass.mark_counted(&count, search.counters.nodes);
        match turn? {
            Turn::Play => played = pass.play(machine, &count, end.stop),
            Turn::Wait => unreachable!("no other pass is under way"),
            Turn::Over => return Ok(()),
        }
    }
}

/// Searches until the end in this thread and one for each of the `others`.
fn search_together(
    search: &mut Search,
    passes: &mut [Pass],
    machine: &mut dyn StateMachine,
    others: &mut [Box<dyn StateMachine>],
    end: End<'_>,
) -> Result<(), ReasoningError> {
    let count = NodeCount::default();
    let team = Team { search: Mutex::new(search), landed: Condvar::new(), count, end };
    let team = &team;
    let Some((own, passes)) = passes.split_first_mut() else { return Ok(()) };
    std::thread::scope(|scope| {
        let mut threads = Vec::new();
        for (machine, pass) in others.iter_mut().zip(passes) {
            machine.set_cancel(end.stop.cancel().clone());
            threads.push(scope.spawn(move || team.take_part(pass, machine.as_mut())));
        }
        let mut result = team.take_part(own, machine);
        for thread in threads {
            let their_result =
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            result = result.and(their_result);
        }
        result
    })
}

/// What the threads share.
struct Team<'a> {
    search: Mutex<&'a mut Search>,
    /// A pass that was under way is no longer.
    landed: Condvar,
    count: NodeCount,
    end: End<'a>,
}

impl<'a> Team<'a> {
    /// The part of one thread.
    fn take_part(
        &self,
        pass: &mut Pass,
        machine: &mut dyn StateMachine,
    ) -> Result<(), ReasoningError> {
        let mut played = Ok(());
        let mut search = self.ask();
        loop {
            let turn = search.take_turn(pass, played, machine, self.end);
            pass.mark_counted(&self.count, search.counters.nodes);
            played = Ok(());
            self.landed.notify_all();
            match turn? {
                Turn::Play => {
                    drop(search);
                    played = pass.play(machine, &self.count, self.end.stop);
                    search = self.ask();
                }
                Turn::Wait => search = self.landed.wait(search).expect(NO_PANIC),
                Turn::Over => return Ok(()),
            }
        }
    }

    /// Waits for the tree.
    fn ask(&self) -> MutexGuard<'_, &'a mut Search> {
        for _ in 0..ASKS {
            match self.search.try_lock() {
                Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
                asked => return asked.expect(NO_PANIC),
            }
        }
        self.search.lock().expect(NO_PANIC)
    }
}

const NO_PANIC: &str = "no thread panics while it has the tree";

#[cfg(test)]
mod tests {
    use games::PlayoutMoves;

    use super::super::move_averages::Preference;
    use super::super::regret_matching::Simultaneous;
    use super::super::search::Settings;
    use super::*;
    use crate::seed;
    use crate::testing::shipped;

    const SETTINGS: Settings = Settings {
        exploration: 0.2,
        first_play: 0.0,
        unexpanded: 4,
        leaves: 8,
        lanes: 4,
        max_length: 100,
        memory: 1 << 30,
        evaluated_exploration: 0.1,
        playout_moves: PlayoutMoves::Legal,
        preference: Preference { probability: 0.0, margin: 0.0 },
        simultaneous: Simultaneous::Ucb,
    };

    /// Searches a game's first state in three threads.
    fn search_in_threads(game: &str, settings: Settings, stop: &Stop, limit: u64) -> (Search, u32) {
        let mut machine = shipped(game);
        let state = machine.initial_state().unwrap();
        let mut others = [machine.fork(), machine.fork()];
        let mut search = Search::new(machine.game(), settings, seed::generator(1, None));
        let root =
            super::search(&mut search, machine.as_mut(), &mut others, &state, stop, limit).unwrap();
        (search, root)
    }

    fn n_under_way(search: &Search) -> u64 {
        let nodes = search.tree.nodes.iter().map(|node| u64::from(node.flying));
        let edges = search.tree.edges.iter().map(|edge| u64::from(edge.flying));
        nodes.sum::<u64>() + edges.sum::<u64>()
    }

    #[test]
    fn threads_prove_what_one_proves() {
        let (search, root) = search_in_threads("tic_tac_toe", SETTINGS, &Stop::never(), u64::MAX);
        assert!(search.tree.is_settled(root));
        assert!(search.tree.bounds(root).iter().all(|bounds| bounds.value() == 0.5));
        assert_eq!(n_under_way(&search), 0);
    }

    /// Every descent lands once, also those of passes that a budget stops.
    #[test]
    fn every_descent_lands() {
        let (search, root) = search_in_threads("connect_four", SETTINGS, &Stop::never(), 5000);
        assert_eq!(n_under_way(&search), 0);
        assert_eq!(u64::from(search.tree.node(root).visits), search.counters.descents);
        assert!((5000..5100).contains(&search.counters.descents));
        for nodes in [1, 100, 10_000, 100_000] {
            let stop = Stop::never().after_nodes(nodes);
            let (search, root) = search_in_threads("connect_four", SETTINGS, &stop, u64::MAX);
            assert_eq!(n_under_way(&search), 0);
            assert!(u64::from(search.tree.node(root).visits) <= search.counters.descents);
        }
    }

    /// Cold nodes are dropped while no other thread is on its way to one of them.
    #[test]
    fn threads_share_a_bounded_tree() {
        let settings = Settings { memory: 1 << 18, unexpanded: 1, ..SETTINGS };
        let (search, root) = search_in_threads("connect_four", settings, &Stop::never(), 5000);
        assert!(search.counters.recycled > 2 && search.tree.n_bytes() < 1 << 19);
        assert_eq!(n_under_way(&search), 0);
        assert!(!search.tree.is_settled(root));
    }

    /// A role's gain is no longer the other's loss, so the tree begins anew; passes of the
    /// other threads that come back are dropped.
    #[test]
    fn a_tree_that_was_cleared_takes_no_old_pass() {
        let (search, _) = search_in_threads("prisoners_dilemma", SETTINGS, &Stop::never(), 3000);
        assert!(search.tree_number > 0 && n_under_way(&search) == 0);
    }
}
