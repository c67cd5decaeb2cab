//! The player around a [`Search`]: it follows the match, searches from each of
//! its states, and always has a legal move to answer.

use std::sync::Arc;

use games::solve::ValueTable;
use games::{Expression, MoveId, State, StateMachine};
use rand_pcg::Pcg64;

use super::track::Track;
use super::{Answer, Memory, Search, Settings, check_order};
use crate::endgames::{check_table, move_of_table};
use crate::recorded_tree::MAX_NODES;
use crate::seed;
use crate::{Deliberation, Failure, Player, Seat, Stop, Turn};

/// A player that searches anew at each step.
pub(crate) struct Searcher {
    kind: &'static str,
    settings: Settings,
    move_order: Vec<Expression>,
    /// Search also where there is only one legal move, as the textbook has it.
    searches_forced_moves: bool,
    /// Search there until the clock ends, if there is one, to know more at the next choice.
    ponders: bool,
    /// Values of states that need no search.
    solved: Option<Arc<ValueTable>>,
    seed: Option<i64>,
    rng: Pcg64,
    track: Option<Track>,
    memory: Memory,
    deliberation: Option<Deliberation>,
    recorded_nodes: Option<usize>,
}

impl Searcher {
    /// A player of `kind` that searches by `settings`, the moves of `move_order` first.
    pub(crate) fn new(
        kind: &'static str,
        settings: Settings,
        move_order: Vec<Expression>,
        seed: Option<i64>,
    ) -> Self {
        Self {
            kind,
            settings,
            move_order,
            searches_forced_moves: false,
            ponders: false,
            solved: None,
            seed,
            rng: seed::generator(0, seed),
            track: None,
            memory: Memory::default(),
            deliberation: None,
            recorded_nodes: None,
        }
    }

    /// The same, but searching also where there is only one legal move.
    pub(crate) fn searching_forced_moves(self) -> Self {
        Self { searches_forced_moves: true, ..self }
    }

    /// The same, but if `ponders` searching until the clock ends where there is only one legal
    /// move, so that its table knows more at the next choice.
    pub(crate) fn pondering(self, ponders: bool) -> Self {
        Self { ponders, ..self }
    }

    /// The same, taking the values of states from a table where it has them.
    pub(crate) fn knowing(self, solved: Option<Arc<ValueTable>>) -> Self {
        Self { solved, ..self }
    }

    /// Whether the evaluation function, the table and the moves to try first fit the game.
    fn check_game(&self, machine: &mut dyn StateMachine) -> Result<(), Failure> {
        check_order(machine, &self.move_order)?;
        match self.settings.evaluation.refusal(machine) {
            Some(reason) => Err(Failure::Unsuitable(reason)),
            None => check_table(machine, self.solved.as_deref()),
        }
    }

    fn search(&mut self, state: &State, stop: &Stop) -> Result<Answer, Failure> {
        let Some(track) = &mut self.track else { return Ok(Answer::default()) };
        let Track { machine, role, .. } = track;
        let mut search =
            Search::new(machine.as_mut(), *role, self.settings.clone(), &mut self.memory, stop)
                .trying_first(&self.move_order)
                .recording(self.recorded_nodes)
                .knowing(self.solved.as_deref());
        let answer = search.best_move(state);
        self.deliberation = Some(search.deliberation());
        Ok(answer?)
    }

    fn forget(&mut self) {
        self.track = None;
        self.memory = Memory::default();
    }
}

impl Player for Searcher {
    fn check(&mut self, mut machine: Box<dyn StateMachine>) -> Result<(), Failure> {
        self.check_game(&mut *machine)
    }

    /// A player that remembers uses the start clock to fill its table.
    fn start(&mut self, seat: Seat, stop: &Stop) -> Result<(), Failure> {
        self.forget();
        self.deliberation = Some(Deliberation::default());
        self.rng = seed::generator(seat.seed, self.seed);
        let mut track = Track::new(seat, self.kind)?;
        self.check_game(&mut *track.machine)?;
        let state = self.track.insert(track).begin(stop)?;
        let is_limited = stop.deadline().is_some() || stop.node_budget().is_some();
        if let Some(state) = state
            && self.settings.remembered > 0
            && is_limited
        {
            self.search(&state, stop)?;
        }
        Ok(())
    }

    fn play(&mut self, turn: &Turn<'_>, stop: &Stop) -> Result<MoveId, Failure> {
        self.deliberation = Some(Deliberation::default());
        let fallback = turn.legal[0];
        let Some(track) = &mut self.track else { return Ok(fallback) };
        let Some(state) = track.follow(turn, stop)? else { return Ok(fallback) };
        let ponders = self.ponders && stop.deadline().is_some();
        if turn.legal.len() == 1 && !(self.searches_forced_moves || ponders) {
            return Ok(fallback);
        }
        let Track { machine, role, .. } = track;
        let table = self.solved.as_deref();
        let known = move_of_table(&mut **machine, *role, table, &state, &mut self.rng)?;
        if let Some((action, mut said)) = known {
            if self.recorded_nodes.is_some() {
                // The tree to record is that of a search.
                self.search(&state, stop)?;
                said.tree = self.deliberation.take().and_then(|searched| searched.tree);
            }
            self.deliberation = Some(said);
            return Ok(action);
        }
        let answer = self.search(&state, stop)?;
        if let Some(said) = self.deliberation.as_mut().filter(|said| said.value.is_none()) {
            let reply = match answer.action {
                Some(_) => "the best of those that were searched",
                None => "the first legal one",
            };
            said.notes.push(format!("no value was found; the move is {reply}"));
        }
        let drawn = answer.strategy.and_then(|strategy| {
            let shares = strategy.iter().map(|&(_, share)| share);
            seed::draw(shares, &mut self.rng).map(|at| strategy[at].0)
        });
        Ok(drawn.or(answer.action).unwrap_or(fallback))
    }

    fn abort(&mut self) {
        self.forget();
    }

    fn record_tree(&mut self, max_nodes: Option<usize>) -> bool {
        self.recorded_nodes = Some(max_nodes.unwrap_or(MAX_NODES));
        true
    }

    fn deliberation(&self) -> Option<Deliberation> {
        self.deliberation.clone()
    }
}
