//! One match as a served player lives through it: it follows the state by what
//! it is told, and asks the player.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::{Duration, Instant};

use games::{
    Cancel, Case, Expression, Guards, Leniency, MoveId, RoleId, Rulesheet, State, StateMachine,
    state_machine_for, validate,
};
use players::{Kind, Observation, Options, Player, Seat, Stop, Turn};
use tokio::sync::oneshot;

use crate::protocol::News;

/// Most states that a role of a game of hidden information is thought to be in
/// at once, and most joint moves tried to find what fits what it was told.
const MAX_STATES: usize = 500;
const MAX_TRIES: usize = 20_000;

/// What a match's thread is told.
pub(super) enum Order {
    /// The first order.
    Start {
        role: Expression,
        rules: Arc<[Expression]>,
        start_clock: Duration,
        play_clock: Duration,
        deadline: Instant,
    },
    Play {
        news: News,
        deadline: Instant,
        cancel: Cancel,
        reply: oneshot::Sender<String>,
    },
    /// The last order; without news the match was broken off.
    End {
        news: Option<News>,
        done: oneshot::Sender<()>,
    },
}

/// A match to come.
pub(super) struct Follower {
    kind: &'static Kind,
    options: Options,
    fallback: Arc<Mutex<String>>,
    cancel: Cancel,
}

impl Follower {
    pub(super) fn new(
        kind: &'static Kind,
        options: Options,
        fallback: Arc<Mutex<String>>,
        cancel: Cancel,
    ) -> Self {
        Self { kind, options, fallback, cancel }
    }

    /// Lives through the match. `ready` tells whether it can be played.
    pub(super) fn follow(
        self,
        first: Order,
        ready: oneshot::Sender<bool>,
        orders: &mpsc::Receiver<Order>,
    ) {
        let begun = catch_unwind(AssertUnwindSafe(|| self.begin(first))).ok().flatten();
        let _ = ready.send(begun.is_some());
        let Some(mut course) = begun else { return };
        while let Ok(order) = orders.recv() {
            match order {
                Order::Start { .. } => {}
                Order::Play { news, deadline, cancel, reply } => {
                    let stop = Stop::never().at(deadline).on(cancel);
                    let answer = catch_unwind(AssertUnwindSafe(|| course.play(news, &stop)));
                    let answer = answer.ok().flatten();
                    let fallback =
                        || self.fallback.lock().unwrap_or_else(PoisonError::into_inner).clone();
                    let _ = reply.send(answer.unwrap_or_else(fallback));
                }
                Order::End { news, done } => {
                    let _ = catch_unwind(AssertUnwindSafe(|| course.end(news)));
                    let _ = done.send(());
                    return;
                }
            }
        }
    }

    fn begin(&self, first: Order) -> Option<Course> {
        let Order::Start { role, rules, start_clock, play_clock, deadline } = first else {
            return None;
        };
        let mut text = String::new();
        for rule in rules.iter() {
            text.push_str(&rule.to_string());
            text.push('\n');
        }
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
        let mut machine = state_machine_for(game, Guards::default()).ok()?;
        machine.set_cancel(self.cancel.clone());
        let initial = machine.initial_state().ok()?;
        let mut course = Course {
            player: (self.kind.make)(&self.options).ok()?,
            player_machine_cancel: self.cancel.clone(),
            role,
            hidden,
            states: vec![initial],
            step: 0,
            fallback: Arc::clone(&self.fallback),
            last_legal: Vec::new(),
            answered: None,
            machine,
        };
        course.find_legal();
        course.machine.set_cancel(Cancel::new());
        let seat = Seat {
            machine: course.machine.fork(),
            role,
            start_clock: Some(start_clock),
            play_clock: Some(play_clock),
            // Nothing that a Gamemaster tells is secret or repeatable: the
            // player's own option `seed` is what makes it repeat itself.
            seed: 0,
        };
        let stop = Stop::never().at(deadline).on(course.player_machine_cancel.clone());
        course.player.start(seat, &stop).ok()?;
        Some(course)
    }
}

struct Course {
    machine: Box<dyn StateMachine>,
    player: Box<dyn Player>,
    player_machine_cancel: Cancel,
    role: RoleId,
    hidden: bool,
    /// The state, or those that fit what was told.
    states: Vec<State>,
    step: u32,
    fallback: Arc<Mutex<String>>,
    last_legal: Vec<MoveId>,
    /// The player's last answer.
    answered: Option<MoveId>,
}

impl Course {
    fn play(&mut self, news: News, stop: &Stop) -> Option<String> {
        let observation = self.learn(news);
        self.find_legal();
        if self.last_legal.is_empty() {
            return None;
        }
        let turn =
            Turn { step: self.step, observation: observation.as_ref(), legal: &self.last_legal };
        let chosen = self.player.play(&turn, stop).ok()?;
        self.answered = Some(chosen);
        Some(self.machine.move_expression(chosen).to_string())
    }

    fn end(&mut self, news: Option<News>) {
        match news {
            None => self.player.abort(),
            Some(news) => {
                let observation = self.learn(news);
                self.player.stop(observation.as_ref());
            }
        }
    }

    /// The legal moves, and one of them to say if the player says nothing.
    fn find_legal(&mut self) {
        let mut legal = Vec::new();
        let Some(state) = self.states.first() else { return };
        // Whoever lost track goes on with what was legal last.
        if self.machine.legal_moves(state, self.role, &mut legal).is_ok() && !legal.is_empty() {
            let text = self.machine.move_expression(legal[0]).to_string();
            *self.fallback.lock().unwrap_or_else(PoisonError::into_inner) = text;
            self.last_legal = legal;
        }
    }

    /// Follows one step; what the player is told of it.
    fn learn(&mut self, news: News) -> Option<Observation> {
        let (own_move, percepts) = match news {
            News::Percepts { turn: 0, .. } => return None,
            News::Percepts { own_move, percepts, .. } => (own_move, percepts),
            // The old dialect does not tell what was executed.
            News::List(percepts) if self.hidden => (None, percepts),
            News::Nothing if self.hidden && self.answered.is_some() => (None, Vec::new()),
            News::Nothing => return None,
            News::List(moves) => return self.learn_moves(&moves),
        };
        let own_move = match own_move {
            Some(own_move) => self.machine.find_move(&own_move),
            None => self.answered,
        };
        self.learn_percepts(own_move, percepts)
    }

    fn learn_moves(&mut self, moves: &[Expression]) -> Option<Observation> {
        let joint: Option<Vec<MoveId>> =
            moves.iter().map(|one| self.machine.find_move(one)).collect();
        let joint = joint.filter(|joint| joint.len() == self.machine.game().roles().len())?;
        let state = self.states.first()?.clone();
        if !self.is_legal(&state, &joint) {
            // One step may have been lost on the way.
            if let Some((missed, between)) = self.missed_step(&state, &joint) {
                let observation = Observation::JointMove(missed);
                self.step += 1;
                self.states = vec![between];
                self.find_legal();
                let turn = Turn {
                    step: self.step,
                    observation: Some(&observation),
                    legal: &self.last_legal,
                };
                // The player is told, but not asked.
                let _ = self.player.play(&turn, &Stop::never().at(Instant::now()));
            }
        }
        let mut next = State::default();
        let state = self.states.first()?.clone();
        self.machine.next_state(&state, &joint, &mut next).ok()?;
        self.states = vec![next];
        self.step += 1;
        Some(Observation::JointMove(joint))
    }

    fn is_legal(&mut self, state: &State, joint: &[MoveId]) -> bool {
        let mut legal = Vec::new();
        (0..).zip(joint).all(|(role, chosen)| {
            self.machine.legal_moves(state, RoleId(role), &mut legal).is_ok()
                && legal.contains(chosen)
        })
    }

    /// A joint move from `state` after which `joint` is legal.
    fn missed_step(&mut self, state: &State, joint: &[MoveId]) -> Option<(Vec<MoveId>, State)> {
        for missed in self.joint_moves(state, None, 1000) {
            let mut next = State::default();
            if self.machine.next_state(state, &missed, &mut next).is_ok()
                && self.is_legal(&next, joint)
            {
                return Some((missed, next));
            }
        }
        None
    }

    fn learn_percepts(
        &mut self,
        own_move: Option<MoveId>,
        percepts: Vec<Expression>,
    ) -> Option<Observation> {
        let seen: BTreeSet<String> =
            percepts.iter().map(|percept| percept.to_string().to_ascii_lowercase()).collect();
        let mut fitting = BTreeSet::new();
        let mut tries = 0;
        let mut percepts_found = None;
        let mut executed = own_move;
        'all: for state in std::mem::take(&mut self.states) {
            for joint in self.joint_moves(&state, own_move, MAX_TRIES) {
                tries += 1;
                if tries > MAX_TRIES || fitting.len() >= MAX_STATES {
                    break 'all;
                }
                let Ok(found) = self.machine.percepts(&state, &joint, self.role) else { continue };
                let is_seen = found.len() == seen.len()
                    && found.iter().all(|one| seen.contains(&one.to_string().to_ascii_lowercase()));
                let mut next = State::default();
                if is_seen && self.machine.next_state(&state, &joint, &mut next).is_ok() {
                    percepts_found.get_or_insert(found);
                    executed.get_or_insert(joint[usize::from(self.role.0)]);
                    fitting.insert(next);
                }
            }
        }
        self.states = fitting.into_iter().collect();
        self.step += 1;
        // The rulesheet's spelling and order, if anything fits.
        let percepts = percepts_found.unwrap_or(percepts);
        Some(Observation::Percepts { own_move: executed?, percepts })
    }

    /// At most `limit` joint moves from `state`, in which the own role makes
    /// `own_move` if that is known.
    fn joint_moves(
        &mut self,
        state: &State,
        own_move: Option<MoveId>,
        limit: usize,
    ) -> Vec<Vec<MoveId>> {
        let n_roles = self.machine.game().roles().len();
        let mut all = vec![Vec::with_capacity(n_roles)];
        for role in 0..n_roles {
            let role = RoleId(u8::try_from(role).expect("validation admits at most 255 roles"));
            let mut moves = Vec::new();
            match own_move.filter(|_| role == self.role) {
                Some(own_move) => moves.push(own_move),
                None => {
                    let _ = self.machine.legal_moves(state, role, &mut moves);
                }
            }
            let longer = all.iter().flat_map(|joint: &Vec<MoveId>| {
                moves.iter().map(move |&chosen| {
                    let mut joint = joint.clone();
                    joint.push(chosen);
                    joint
                })
            });
            all = longer.take(limit).collect();
        }
        all
    }
}
