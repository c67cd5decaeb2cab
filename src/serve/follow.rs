//! One match of a served player: follows the state by the messages of the Gamemaster,
//! and asks the player for moves.
//!
//! All computations here stop when the request's time is over, and continue with the next
//! request. If no better reply is known in time, it is a legal move of the last known
//! state.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, mpsc};
use std::time::{Duration, Instant};

use games::{
    Cancel, Case, Expression, Leniency, MoveId, RoleId, Rulesheet, StateMachine, reasoner, validate,
};
use players::{Observation, Options, Player, PlayerKind, Seat, Stop, Turn};
use tokio::sync::{OwnedSemaphorePermit, oneshot};

use super::candidates::{Candidates, Heard};
use super::memory::Memory;
use super::track::Track;
use super::waiting::Waiting;
use crate::locking::lock;
use crate::protocol::News;
use crate::spare_time::SpareTime;

/// How a match begins.
pub(super) struct Begin {
    pub(super) role: Expression,
    pub(super) rules: Arc<[Expression]>,
    pub(super) start_clock: Duration,
    pub(super) play_clock: Duration,
    pub(super) deadline: Instant,
    pub(super) cancel: Cancel,
    /// Raised when a fast reasoner has to be done without.
    pub(super) hurry: Cancel,
    /// Held while the rules are in memory as they came.
    pub(super) large: Option<OwnedSemaphorePermit>,
}

/// Orders to the thread of a match. A question is given up when its `cancel` is raised.
pub(super) enum Order {
    /// The first order.
    Play {
        news: News,
        deadline: Instant,
        cancel: Cancel,
        reply: oneshot::Sender<String>,
        waiting: Waiting,
    },
    /// The last order; without news the match was aborted.
    End { news: Option<News>, deadline: Instant, cancel: Cancel, done: oneshot::Sender<()> },
}

/// A match to come.
pub(super) struct Follower {
    pub(super) kind: &'static PlayerKind,
    pub(super) options: Options,
    pub(super) memory: Memory,
    pub(super) fallback: Arc<Mutex<String>>,
    /// Raised when the match is abandoned.
    pub(super) ended: Cancel,
    /// Raised when orders are taken.
    pub(super) begun: Arc<AtomicBool>,
}

impl Follower {
    /// Follows the match to its end. `ready` is sent whether it can be played.
    pub(super) fn follow(
        self,
        first: Begin,
        ready: oneshot::Sender<bool>,
        orders: &mpsc::Receiver<Order>,
    ) {
        let begun = catch_unwind(AssertUnwindSafe(|| self.begin(first))).ok().flatten();
        self.begun.store(begun.is_some(), Ordering::Release);
        let _ = ready.send(begun.is_some());
        let Some(mut followed) = begun else { return };
        while let Ok(order) = orders.recv() {
            match order {
                Order::Play { news, deadline, cancel, reply, waiting } => {
                    let stop = Stop::never().at(deadline).on(cancel);
                    let answer = catch_unwind(AssertUnwindSafe(|| followed.play(news, &stop)));
                    let answer = answer.ok().flatten();
                    let fallback = || lock(&self.fallback).clone();
                    // Before it is answered: the next one may be here at once.
                    drop(waiting);
                    let _ = reply.send(answer.unwrap_or_else(fallback));
                }
                Order::End { news, deadline, cancel, done } => {
                    let stop = Stop::never().at(deadline).on(cancel);
                    let _ = catch_unwind(AssertUnwindSafe(|| followed.end(news, &stop)));
                    let _ = done.send(());
                    return;
                }
            }
        }
    }

    fn begin(&self, first: Begin) -> Option<FollowedMatch> {
        let Begin { role, rules, start_clock, play_clock, deadline, cancel, hurry, large } = first;
        let mut text = String::new();
        for rule in rules.iter() {
            text.push_str(&rule.to_string());
            text.push('\n');
        }
        drop(rules);
        let rulesheet = Rulesheet::parse("received", &text, Case::Folded).ok()?;
        let game = Arc::new(validate(&rulesheet, Leniency::Lenient).game?);
        let role = match &role {
            Expression::Atom(name) => game.find_role(name)?,
            Expression::List(_) => return None,
        };
        let hidden = game.kind().hidden_information;
        if hidden && !self.kind.plays_hidden_information {
            return None;
        }
        drop((rulesheet, text, large));
        if self.ended.is_cancelled() {
            return None;
        }
        let (guards, budget) = (self.memory.guards(), self.memory.grounding());
        let chosen = reasoner::choose_within(game, guards, budget, &hurry, &self.ended);
        let mut machine = chosen.ok()?.machine;
        // A first PLAY that comes before the rules are understood ends the
        // player's thoughts, but not this: without it there is no match.
        machine.set_cancel(self.ended.clone());
        let initial = machine.initial_state().ok()?;
        if !hurry.is_cancelled() {
            machine.prepare();
        }
        let spare_time = SpareTime::spend(&*machine, deadline);
        let knowledge = if hidden {
            Knowledge::Hidden(Candidates::new(role, initial))
        } else {
            Knowledge::Perfect(Track::new(initial))
        };
        let mut followed = FollowedMatch {
            player: (self.kind.make)(&self.options).ok()?,
            role,
            knowledge,
            step: 0,
            fallback: Arc::clone(&self.fallback),
            last_legal: Vec::new(),
            answered: None,
            machine,
            _spare_time: spare_time,
        };
        followed.find_legal();
        let seat = Seat {
            machine: followed.machine.fork().into(),
            role,
            start_clock: Some(start_clock),
            play_clock: Some(play_clock),
            // Nothing that a Gamemaster sends is secret or repeatable: the
            // player's own option `seed` is what makes it repeat itself.
            seed: 0,
        };
        let stop = Stop::never().at(deadline).on(cancel);
        followed.player.start(seat, &stop).ok()?;
        (!self.ended.is_cancelled()).then_some(followed)
    }
}

/// What is known of the state.
enum Knowledge {
    Perfect(Track),
    Hidden(Candidates),
}

struct FollowedMatch {
    machine: Box<dyn StateMachine>,
    /// Ends with the match at the latest.
    _spare_time: Option<SpareTime>,
    player: Box<dyn Player>,
    role: RoleId,
    knowledge: Knowledge,
    step: u32,
    fallback: Arc<Mutex<String>>,
    last_legal: Vec<MoveId>,
    /// The player's last reply.
    answered: Option<MoveId>,
}

impl FollowedMatch {
    fn play(&mut self, news: News, stop: &Stop) -> Option<String> {
        self.machine.set_cancel(stop.cancel().clone());
        let observation = self.learn(news, stop);
        self.find_legal();
        if let Knowledge::Hidden(candidates) = &mut self.knowledge {
            // The player, too, wants some of the time.
            candidates.find_more(&mut *self.machine, &halfway(stop));
        }
        if self.last_legal.is_empty() {
            return None;
        }
        let turn =
            Turn { step: self.step, observation: observation.as_ref(), legal: &self.last_legal };
        let chosen = self.player.play(&turn, stop).ok()?;
        self.answered = Some(chosen);
        Some(self.machine.move_expression(chosen).to_string())
    }

    fn end(&mut self, news: Option<News>, stop: &Stop) {
        self.machine.set_cancel(stop.cancel().clone());
        match news {
            None => self.player.abort(),
            Some(news) => {
                let observation = self.learn(news, stop);
                self.player.stop(observation.as_ref());
            }
        }
    }

    /// The legal moves, and one of them to say if the player says nothing.
    fn find_legal(&mut self) {
        let state = match &self.knowledge {
            Knowledge::Perfect(track) => track.state(),
            Knowledge::Hidden(candidates) => candidates.first(),
        };
        // If the state is lost, the last known legal moves are used.
        let Some(state) = state else { return };
        let mut legal = Vec::new();
        if self.machine.legal_moves(state, self.role, &mut legal).is_ok() && !legal.is_empty() {
            let text = self.machine.move_expression(legal[0]).to_string();
            *lock(&self.fallback) = text;
            self.last_legal = legal;
        }
    }

    /// Follows one step; returns what the player observes of it.
    fn learn(&mut self, news: News, stop: &Stop) -> Option<Observation> {
        let hidden = matches!(self.knowledge, Knowledge::Hidden(_));
        let (own_move, percepts) = match news {
            News::Percepts { turn: 0, .. } => return None,
            News::Percepts { own_move, percepts, .. } if !hidden => {
                let moves = self.moves_perceived(own_move, &percepts)?;
                return self.learn_moves(&moves, stop);
            }
            News::Percepts { own_move, percepts, .. } => (own_move, percepts),
            // The old dialect does not say which move was executed.
            News::List(percepts) if hidden => (None, percepts),
            News::Nothing if hidden && self.answered.is_some() => (None, Vec::new()),
            News::Nothing => {
                // Before the first reply there is no move to report.
                self.answered?;
                let moves = self.moves_perceived(None, &[])?;
                return self.learn_moves(&moves, stop);
            }
            News::List(terms) => {
                // Percepts in the old dialect look like moves.
                let moves = self.moves_perceived(None, &terms).unwrap_or(terms);
                return self.learn_moves(&moves, stop);
            }
        };
        let own_move = own_move.and_then(|own_move| self.machine.find_move(&own_move));
        self.learn_percepts(own_move, percepts, stop)
    }

    /// The joint move that percepts show, in games whose percepts show all of it.
    fn moves_perceived(
        &self,
        own_move: Option<Expression>,
        percepts: &[Expression],
    ) -> Option<Vec<Expression>> {
        let answered = || self.answered.map(|answered| self.machine.move_expression(answered));
        let game = self.machine.game();
        // What the rules let the role see of its own move is what was executed.
        let seen = game.moves_perceived(self.role, None, percepts);
        seen.or_else(|| {
            let own_move = own_move.or_else(answered)?;
            game.moves_perceived(self.role, Some(&own_move), percepts)
        })
    }

    fn learn_moves(&mut self, moves: &[Expression], stop: &Stop) -> Option<Observation> {
        let joint: Option<Vec<MoveId>> =
            moves.iter().map(|one| self.machine.find_move(one)).collect();
        let joint = joint.filter(|joint| joint.len() == self.machine.game().roles().len())?;
        let Knowledge::Perfect(track) = &mut self.knowledge else { return None };
        track.catch_up(&mut *self.machine);
        if let Some(missed) = track.missed(&mut *self.machine, &joint, stop) {
            track.add(missed.clone());
            track.catch_up(&mut *self.machine);
            self.step += 1;
            self.find_legal();
            let turn = Turn {
                step: self.step,
                observation: Some(&Observation::JointMove(missed)),
                legal: &self.last_legal,
            };
            // The player is informed, but not asked.
            let _ = self.player.play(&turn, &Stop::never().at(Instant::now()));
        }
        if let Knowledge::Perfect(track) = &mut self.knowledge {
            track.add(joint.clone());
            track.catch_up(&mut *self.machine);
        }
        self.step += 1;
        Some(Observation::JointMove(joint))
    }

    fn learn_percepts(
        &mut self,
        own_move: Option<MoveId>,
        percepts: Vec<Expression>,
        stop: &Stop,
    ) -> Option<Observation> {
        let Knowledge::Hidden(candidates) = &mut self.knowledge else { return None };
        self.step += 1;
        candidates.add(Heard::new(own_move, self.answered, &percepts));
        candidates.find_one(&mut *self.machine, stop);
        if let Some(found) = candidates.explanation() {
            let (own_move, percepts) = (found.own_move, found.percepts.clone());
            return Some(Observation::Percepts { own_move, percepts });
        }
        Some(Observation::Percepts { own_move: own_move.or(self.answered)?, percepts })
    }
}

/// Due when half of the time that is left is over.
fn halfway(stop: &Stop) -> Stop {
    let now = Instant::now();
    match stop.deadline() {
        Some(deadline) => {
            let half = deadline.saturating_duration_since(now) / 2;
            Stop::never().at(now + half).on(stop.cancel().clone())
        }
        None => stop.clone(),
    }
}
