//! How a match goes: START, joint moves, STOP or ABORT.
//!
//! One function plays all matches. It blocks its thread where a player has to
//! be waited for, and nowhere else: a match among instant players takes no
//! channel and no other thread.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::{Duration, Instant};

use games::{Expression, MoveId, ReasoningError, State};
use players::{Observation, OwnMachine, Turn};
use rand::Rng;
use results::record::{AbortReason, Budget, Ending, FaultKind, RuleDefect};
use tokio::sync::watch;

use super::remote::first_line;
use super::seat_thread::Question;
use super::seats::{Clock, Reply, Seat};
use super::seeds::{Purpose, below, stream};
use super::stalls::Watch;
use super::waits::Waits;
use super::workspace::{Score, Workspace, broken, role_id};
use super::{Dialect, Enforcement, MatchSetup, PlayerConfig, Substitute, match_id};
use crate::event::{Decision, EventKind, Notice, Readiness};
use crate::explanation::Explanation;
use crate::protocol::{Message, MoveReading, News, Scrambler, read_move};
use crate::schedule::TimeBudget;
use crate::spare_time::SpareTime;

/// Longest submitted text that is kept, in characters.
const MAX_SUBMITTED: usize = 200;

/// Legal moves that are listed when a move is illegal.
const MAX_LEGAL_SHOWN: usize = 5;

/// What a match needs of its worker.
pub(crate) struct Tools<'a> {
    /// Present if the match has to wait for a player.
    pub(crate) waits: Option<&'a Waits>,
    pub(crate) watch: &'a Watch,
    pub(crate) interrupted: &'a mut watch::Receiver<bool>,
}

impl<'a> Tools<'a> {
    /// For seats that have to be waited for.
    fn waits(&self) -> &'a Waits {
        self.waits.expect("a match with slow seats can wait")
    }
}

/// A match being played.
pub(crate) struct Match<'a> {
    setup: &'a MatchSetup,
    workspace: &'a mut Workspace,
    seats: &'a mut Vec<Seat>,
    tools: Tools<'a>,
    /// The id by which remote players know it; empty if there are none.
    id: String,
    scrambler: Option<Scrambler>,
    /// By role.
    times: Vec<SeatTime>,
    step: u32,
    /// The last step as all see it (GDL-I).
    last_step: Option<Observation>,
    /// The last step as each role sees it (GDL-II).
    percepts: Vec<Option<Observation>>,
    /// Time that was a player's.
    waited: Duration,
}

/// The time one role's player has.
#[derive(Clone, Copy)]
struct SeatTime {
    start: Clock,
    play: Clock,
}

impl SeatTime {
    fn new(setup: &MatchSetup, config: Option<&Arc<PlayerConfig>>) -> Self {
        let TimeBudget { clocks, budget } = setup.time(config);
        Self {
            start: clock(clocks.start, clocks.margin, budget, setup.rules.enforcement),
            play: clock(clocks.play, clocks.margin, budget, setup.rules.enforcement),
        }
    }
}

/// How a match ended, and what it brought.
pub(crate) struct MatchEnd {
    pub(crate) ending: Ending,
    pub(crate) score: Score,
    pub(crate) waited: Duration,
}

type Asked<'f> = Pin<Box<dyn Future<Output = (usize, Reply)> + 'f>>;
type Emit<'f> = &'f mut dyn FnMut(EventKind);

impl<'a> Match<'a> {
    pub(crate) fn new(
        setup: &'a MatchSetup,
        workspace: &'a mut Workspace,
        seats: &'a mut Vec<Seat>,
        tools: Tools<'a>,
    ) -> Self {
        let any_remote = seats.iter().any(|seat| matches!(seat, Seat::Remote(_)));
        let scrambler = (setup.rules.scramble && any_remote).then(|| {
            let rng = stream(setup.job.seed, Purpose::Scramble, 0, 0);
            Scrambler::new(
                workspace.prepared.game.forms(),
                workspace.prepared.game.symbols().case(),
                rng,
            )
        });
        let n_roles = workspace.n_roles;
        Self {
            setup,
            workspace,
            seats,
            tools,
            id: if any_remote { match_id(&setup.job) } else { String::new() },
            scrambler,
            times: setup.seats.iter().map(|config| SeatTime::new(setup, config.as_ref())).collect(),
            step: 0,
            last_step: None,
            percepts: vec![None; n_roles],
            waited: Duration::ZERO,
        }
    }

    /// Plays from START to STOP or ABORT.
    pub(crate) fn play(mut self, emit: Emit<'_>) -> MatchEnd {
        let mut ending = match self.start(emit) {
            Ok(()) => self.play_steps(emit),
            Err(ending) => ending,
        };
        let mut score = Score::default();
        if ending == Ending::Terminal {
            let setup = self.setup;
            let is_player = |role: usize| setup.seats[role].is_some();
            match self.workspace.score(setup.rules.goal_conflict, is_player) {
                Ok(found) => score = found,
                Err(other) => ending = other,
            }
        }
        self.end(ending == Ending::Terminal, emit);
        MatchEnd { ending, score, waited: self.waited }
    }

    fn play_steps(&mut self, emit: Emit<'_>) -> Ending {
        match self.workspace.machine.initial_state() {
            Ok(state) => self.workspace.cursor.enter(&state),
            Err(error) => return broken(&error),
        }
        loop {
            if *self.tools.interrupted.borrow() {
                return Ending::interrupted();
            }
            match self.workspace.cursor.is_terminal() {
                Ok(true) => return Ending::Terminal,
                Ok(false) => {}
                Err(error) => return broken(&error),
            }
            if self.step >= self.setup.rules.step_limit {
                return Ending::StepLimit;
            }
            match self.workspace.find_legal_moves() {
                Ok(None) => {}
                Ok(Some(role)) => {
                    let role = self.workspace.role_name(role).to_owned();
                    return Ending::GameError { reason: RuleDefect::NoLegalMove { role } };
                }
                Err(error) => return broken(&error),
            }
            match self.ask_all(emit) {
                Ok(decisions) => {
                    let (job, step) = (self.setup.job.number, self.step);
                    emit(EventKind::MovesPlayed { job, step, decisions });
                }
                Err(ending) => return ending,
            }
            if let Err(error) = self.make_step() {
                return broken(&error);
            }
        }
    }

    fn start(&mut self, emit: Emit<'_>) -> Result<(), Ending> {
        let Self { setup, workspace, seats, tools, scrambler, times, .. } = self;
        let setup = *setup;
        let mut replies: Vec<Reply> = seats.iter().map(|_| Reply::default()).collect();
        // While players think, the reasoner that they share improves itself.
        let longest = times.iter().filter_map(|time| time.start.time).max();
        let thinking_time =
            longest.filter(|_| seats.iter().any(|seat| matches!(seat, Seat::Thread(_))));
        let _spare_time = thinking_time.and_then(|time| {
            // Code is compiled before the start clock, at no player's expense.
            workspace.machine.prepare();
            SpareTime::spend(&*workspace.machine, Instant::now() + time)
        });
        let seat_of = |role: usize, machine: OwnMachine| players::Seat {
            machine,
            role: role_id(role),
            start_clock: times[role].start.time,
            play_clock: times[role].play.time,
            seed: stream(
                setup.job.seed,
                Purpose::Player,
                role as u64,
                u64::from(setup.job.rotation),
            )
            .next_u64(),
        };
        let rules: Option<Arc<[Expression]>> = scrambler.as_ref().map(|scrambler| {
            workspace.prepared.game.forms().iter().map(|rule| scrambler.scramble(rule)).collect()
        });
        let rules = rules.as_ref().unwrap_or(workspace.prepared.game.forms());
        let watch = tools.watch;
        let roles = workspace.prepared.game.roles();
        let symbols = workspace.prepared.game.symbols();
        let mut asked: Vec<Asked<'_>> = Vec::new();
        for (role, seat) in seats.iter_mut().enumerate() {
            let SeatTime { start: clock, play } = times[role];
            match seat {
                Seat::Nature => {}
                Seat::Instant(seat) => {
                    let game = Arc::clone(&workspace.prepared);
                    let machine = OwnMachine::later(move || game.fork());
                    replies[role] = seat.start(seat_of(role, machine), &clock, watch);
                    self.waited += replies[role].wall;
                }
                Seat::Thread(seat) => {
                    let waits = tools.waits();
                    let seat_of_role = seat_of(role, workspace.machine.fork().into());
                    asked.push(boxed(move || async move {
                        (role, seat.start(seat_of_role, clock, waits).await)
                    }));
                }
                Seat::Remote(seat) => {
                    let waits = tools.waits();
                    let name = Expression::atom(symbols.name(roles[role]));
                    let message = Message::Start {
                        id: self.id.clone(),
                        role: scramble(scrambler.as_ref(), &name),
                        rules: Arc::clone(rules),
                        start_clock_s: clock.announced_s,
                        play_clock_s: play.announced_s,
                    };
                    let message = message.to_string();
                    asked.push(boxed(move || async move {
                        (role, seat.start(waits, message, clock).await)
                    }));
                }
            }
        }
        wait_all(tools, asked, &mut replies, &mut self.waited)?;
        self.check_lacking(&replies)?;
        let workspace = &mut *self.workspace;
        let readiness = |reply: &mut Reply| {
            let said = reply.deliberation.take();
            Readiness {
                fault: reply.fault,
                detail: reply.detail.clone().filter(|_| reply.fault.is_some()),
                wall: reply.wall,
                cpu: reply.cpu,
                nodes: said.as_ref().map(|said| said.nodes).filter(|&nodes| nodes > 0),
                explanation: said.and_then(|said| Explanation::of(*said, workspace)),
            }
        };
        let roles = replies.iter_mut().map(readiness).collect();
        emit(EventKind::PlayersReady { job: setup.job.number, roles });
        emit_notices(&mut replies, emit);
        Ok(())
    }

    /// Aborts the match if this machine lacked something, so that a player could not be
    /// asked: that is no player's fault.
    fn check_lacking(&self, replies: &[Reply]) -> Result<(), Ending> {
        let lacking = |(role, reply): (usize, &Reply)| {
            let detail = reply.lacking.clone()?;
            let player = self.setup.seats[role].as_ref().map(|config| config.id.clone());
            Some(Ending::Aborted { reason: AbortReason::MachineLimit { player, detail } })
        };
        replies.iter().enumerate().find_map(lacking).map_or(Ok(()), Err)
    }

    /// Asks all roles for a move; the joint move is then in the workspace.
    fn ask_all(&mut self, emit: Emit<'_>) -> Result<Vec<Decision>, Ending> {
        let mut slow = Vec::new();
        if self.tools.waits.is_some() {
            slow = self.ask_slow()?;
            emit_notices(&mut slow, emit);
        }
        let Self { setup, workspace, seats, step, .. } = self;
        let (job, rules) = (&setup.job, &setup.rules);
        workspace.joint.clear();
        let mut decisions = Vec::with_capacity(workspace.n_roles);
        for (role, seat) in seats.iter_mut().enumerate() {
            let reply = match seat {
                Seat::Nature => {
                    let mut rng = stream(job.seed, Purpose::Nature, role as u64, (*step).into());
                    let legal = &workspace.legal[role];
                    let chosen = Some(legal[below(&mut rng, legal.len())]);
                    Reply { chosen, ..Reply::default() }
                }
                Seat::Instant(seat) => {
                    let observation = if workspace.hidden_information {
                        self.percepts[role].as_ref()
                    } else {
                        self.last_step.as_ref()
                    };
                    let turn = Turn { step: *step, observation, legal: &workspace.legal[role] };
                    let reply = seat.play(&turn, &self.times[role].play, self.tools.watch);
                    self.waited += reply.wall;
                    reply
                }
                Seat::Thread(_) => std::mem::take(&mut slow[role]),
                Seat::Remote(seat) => {
                    let mut reply = std::mem::take(&mut slow[role]);
                    if reply.fault.is_none() {
                        read_reply(
                            &mut reply,
                            workspace,
                            role,
                            seat.reading(),
                            self.scrambler.as_ref(),
                        );
                    }
                    reply
                }
            };
            let (executed, decision) =
                decide(workspace, role, reply, |n_legal| match rules.substitute {
                    Substitute::First => 0,
                    Substitute::Random => {
                        let mut rng =
                            stream(job.seed, Purpose::Substitute, role as u64, (*step).into());
                        below(&mut rng, n_legal)
                    }
                });
            workspace.joint.push(executed);
            decisions.push(decision);
        }
        Ok(decisions)
    }

    /// Asks those that have to be waited for, in parallel.
    fn ask_slow(&mut self) -> Result<Vec<Reply>, Ending> {
        let mut replies: Vec<Reply> = self.seats.iter().map(|_| Reply::default()).collect();
        let news = self.all_news();
        let mut asked: Vec<Asked<'_>> = Vec::new();
        let waits = self.tools.waits();
        for ((role, seat), news) in self.seats.iter_mut().enumerate().zip(news) {
            let clock = self.times[role].play;
            match seat {
                Seat::Nature | Seat::Instant(_) => {}
                Seat::Thread(seat) => {
                    let observation = if self.workspace.hidden_information {
                        self.percepts[role].clone()
                    } else {
                        self.last_step.clone()
                    };
                    let legal = self.workspace.legal[role].clone();
                    let question = Question { step: self.step, observation, legal };
                    asked.push(boxed(move || async move {
                        (role, seat.play(question, clock, waits).await)
                    }));
                }
                Seat::Remote(seat) => {
                    let news = news.expect("there is news for each remote seat");
                    let message = Message::Play { id: self.id.clone(), news }.to_string();
                    asked.push(boxed(move || async move {
                        (role, seat.ask(waits, message, clock).await)
                    }));
                }
            }
        }
        wait_all(&mut self.tools, asked, &mut replies, &mut self.waited)?;
        self.check_lacking(&replies)?;
        Ok(replies)
    }

    /// Makes the joint move in the workspace, and notes what each role perceives.
    fn make_step(&mut self) -> Result<(), ReasoningError> {
        let workspace = &mut *self.workspace;
        if workspace.percepts {
            let mut state = State::default();
            workspace.cursor.copy_state(&mut state);
            for (role, slot) in self.percepts.iter_mut().enumerate() {
                if !matches!(self.seats[role], Seat::Nature) {
                    let percepts =
                        workspace.machine.percepts(&state, &workspace.joint, role_id(role))?;
                    *slot =
                        Some(Observation::Percepts { own_move: workspace.joint[role], percepts });
                }
            }
        }
        match &mut self.last_step {
            Some(Observation::JointMove(moves)) => moves.clone_from(&workspace.joint),
            last_step => *last_step = Some(Observation::JointMove(workspace.joint.clone())),
        }
        workspace.advance()?;
        self.step += 1;
        Ok(())
    }

    /// Sends STOP or ABORT to all players.
    fn end(&mut self, completed: bool, emit: Emit<'_>) {
        let news = if completed { self.all_news() } else { vec![None; self.seats.len()] };
        let mut replies: Vec<Reply> = self.seats.iter().map(|_| Reply::default()).collect();
        let mut asked: Vec<Asked<'_>> = Vec::new();
        for ((role, seat), news) in self.seats.iter_mut().enumerate().zip(news) {
            let observation = if self.workspace.hidden_information {
                self.percepts[role].as_ref()
            } else {
                self.last_step.as_ref()
            };
            match seat {
                Seat::Nature => {}
                Seat::Instant(seat) => seat.end(observation, completed),
                Seat::Thread(seat) => {
                    let waits = self.tools.waits();
                    let observation = observation.cloned();
                    asked.push(boxed(move || async move {
                        (role, seat.end(observation, completed, waits).await)
                    }));
                }
                Seat::Remote(seat) => {
                    let waits = self.tools.waits();
                    let id = self.id.clone();
                    let message = match news {
                        Some(news) => Message::Stop { id, news },
                        None => Message::Abort { id },
                    };
                    let message = message.to_string();
                    asked
                        .push(boxed(move || async move { (role, seat.end(waits, message).await) }));
                }
            }
        }
        if !asked.is_empty() {
            let begun = Instant::now();
            // Everybody gets the message, also when we were interrupted; it has its limit.
            for (role, reply) in self.tools.waits().block_on(join_all(asked)) {
                replies[role] = reply;
            }
            self.waited += begun.elapsed();
        }
        emit_notices(&mut replies, emit);
    }

    /// What each remote player learns of the last step.
    fn all_news(&mut self) -> Vec<Option<News>> {
        let any_remote = self.seats.iter().any(|seat| matches!(seat, Seat::Remote(_)));
        let mut all = vec![None; self.seats.len()];
        if !any_remote {
            return all;
        }
        let joint: Vec<Expression> = match &self.last_step {
            Some(Observation::JointMove(moves)) => moves
                .iter()
                .map(|&id| written(self.workspace, self.scrambler.as_ref(), id))
                .collect(),
            _ => Vec::new(),
        };
        for (role, seat) in self.seats.iter().enumerate() {
            let Seat::Remote(seat) = seat else { continue };
            let percepts = match &self.percepts[role] {
                Some(Observation::Percepts { percepts, .. }) => percepts
                    .iter()
                    .map(|percept| scramble(self.scrambler.as_ref(), percept))
                    .collect(),
                _ => Vec::new(),
            };
            let own_move = joint.get(role).cloned();
            all[role] = Some(match (self.workspace.percepts, seat.dialect()) {
                (true, Dialect::Official) => News::Percepts { turn: self.step, own_move, percepts },
                _ if self.step == 0 => News::Nothing,
                (true, Dialect::OldDresden) => News::List(percepts),
                (false, _) => News::List(joint.clone()),
            });
        }
        all
    }
}

/// The clock as START states it, in whole seconds. Rounded down, so that no player
/// expects more time than it has, but never 0: some players take that for no limit.
fn whole_seconds(clock: Duration) -> u64 {
    clock.as_secs().max(1)
}

fn clock(time: Duration, margin: Duration, budget: Budget, enforcement: Enforcement) -> Clock {
    let announced_s = whole_seconds(time);
    let remote_time = enforcement.remote_time(time);
    let remote_wait = remote_time + margin;
    match budget {
        Budget::Clock => Clock {
            time: Some(time),
            nodes: None,
            wait: time + margin,
            remote_wait,
            remote_time,
            announced_s,
        },
        // Only a guard against hanging: no result may depend on it.
        Budget::Nodes(nodes) => Clock {
            time: None,
            nodes: Some(nodes),
            wait: time * 10 + margin + Duration::from_secs(60),
            remote_wait,
            remote_time,
            announced_s,
        },
    }
}

fn scramble(scrambler: Option<&Scrambler>, expression: &Expression) -> Expression {
    scrambler.map_or_else(|| expression.clone(), |scrambler| scrambler.scramble(expression))
}

fn written(workspace: &mut Workspace, scrambler: Option<&Scrambler>, id: MoveId) -> Expression {
    scramble(scrambler, &workspace.text(id).expression)
}

fn emit_notices(replies: &mut [Reply], emit: Emit<'_>) {
    let stalled = replies.iter().map(|reply| reply.stalled).max().unwrap_or_default();
    if !stalled.is_zero() {
        emit(EventKind::Notice(Notice::Stalled { time: stalled }));
    }
    for reply in replies {
        if let Some(notice) = reply.notice.take() {
            emit(EventKind::Notice(*notice));
        }
    }
}

fn read_reply(
    reply: &mut Reply,
    workspace: &mut Workspace,
    role: usize,
    reading: super::Reading,
    scrambler: Option<&Scrambler>,
) {
    let text = reply.text.as_deref().unwrap_or("");
    let n_legal = workspace.legal[role].len();
    let mut legal = Vec::with_capacity(n_legal);
    for index in 0..n_legal {
        let id = workspace.legal[role][index];
        legal.push(Arc::clone(&workspace.text(id).expression));
    }
    match read_move(text, legal.iter().map(Arc::as_ref), reading, scrambler) {
        MoveReading::Legal(index) => reply.chosen = Some(workspace.legal[role][index]),
        MoveReading::Illegal if is_error(reply) => is_unreadable(reply),
        MoveReading::Illegal => {
            reply.fault = Some(FaultKind::IllegalMove);
            reply.detail = scrambler.map(|_| " (the player sees scrambled names)".to_owned());
            // Records hold the game's own words where they can.
            let plain = scrambler.and_then(|scrambler| {
                let (term, _) = Expression::parse_prefix(text).ok()?;
                scrambler.unscramble(&term)
            });
            reply.text = plain.map(|term| term.to_string()).or_else(|| reply.text.take());
        }
        MoveReading::Unreadable => is_unreadable(reply),
    }
}

/// Whether a web server says that it failed.
fn is_error(reply: &Reply) -> bool {
    reply.status.is_some_and(|status| status >= 400)
}

/// Keeps the HTTP status and the first line of a reply that is not a move.
fn is_unreadable(reply: &mut Reply) {
    reply.fault = Some(FaultKind::Unreadable);
    let line = first_line(reply.text.as_deref().unwrap_or(""));
    let status = reply.status.map_or(String::new(), |status| format!("HTTP {status}: "));
    reply.text = Some(format!("{status}{line}"));
}

/// Lists some of the moves that would have been legal.
fn some_legal(workspace: &mut Workspace, role: usize) -> String {
    let n_legal = workspace.legal[role].len();
    let n_shown = n_legal.min(MAX_LEGAL_SHOWN);
    let shown: Vec<String> = (0..n_shown)
        .map(|index| {
            let id = workspace.legal[role][index];
            workspace.text(id).text.chars().take(MAX_SUBMITTED).collect()
        })
        .collect();
    let shown = shown.join(" ");
    match n_legal - n_shown {
        0 => format!("legal: {shown}"),
        n_more => format!("legal: {shown} and {n_more} more"),
    }
}

/// The executed move, and the record of the decision. `draw` picks the substitute among
/// this number of moves.
fn decide(
    workspace: &mut Workspace,
    role: usize,
    reply: Reply,
    draw: impl FnOnce(usize) -> usize,
) -> (MoveId, Decision) {
    let Reply {
        mut fault,
        chosen,
        mut text,
        mut detail,
        wall,
        cpu,
        connect,
        overrun,
        deliberation,
        ..
    } = reply;
    let nodes = deliberation.as_ref().map(|said| said.nodes);
    let explanation = deliberation.and_then(|said| Explanation::of(*said, workspace));
    let chosen = chosen.filter(|id| {
        let is_legal = workspace.legal[role].contains(id);
        if !is_legal {
            fault = Some(FaultKind::IllegalMove);
            text = Some(format!("move number {}", id.0));
        }
        is_legal
    });
    let legal = &workspace.legal[role];
    let n_legal = u32::try_from(legal.len()).unwrap_or(u32::MAX);
    let executed = chosen.unwrap_or_else(|| legal[draw(legal.len())]);
    let submitted = if chosen.is_some() { None } else { text };
    if fault == Some(FaultKind::IllegalMove) {
        detail = Some(some_legal(workspace, role) + &detail.unwrap_or_default());
    }
    let cut = |text: String| text.chars().take(MAX_SUBMITTED).collect();
    let decision = Decision {
        executed: Arc::clone(&workspace.text(executed).text),
        n_legal,
        fault,
        submitted: submitted.map(cut),
        detail: detail.filter(|_| fault.is_some()),
        wall,
        cpu,
        connect,
        overrun,
        nodes,
        explanation,
    };
    (executed, decision)
}

/// A future is built on the stack before it is boxed. Done here, that space is not part of
/// the frames that stay while a match waits.
#[inline(never)]
fn boxed<'f, F>(make: impl FnOnce() -> F) -> Asked<'f>
where
    F: Future<Output = (usize, Reply)> + 'f,
{
    Box::pin(make())
}

/// Waits for all, or for the request to stop.
fn wait_all(
    tools: &mut Tools<'_>,
    asked: Vec<Asked<'_>>,
    replies: &mut [Reply],
    waited: &mut Duration,
) -> Result<(), Ending> {
    if asked.is_empty() {
        return Ok(());
    }
    let begun = Instant::now();
    let answers = tools.waits().block_on(async {
        tokio::select! {
            biased;
            answers = join_all(asked) => Some(answers),
            _ = tools.interrupted.wait_for(|&interrupted| interrupted) => None,
        }
    });
    *waited += begun.elapsed();
    for (role, reply) in answers.ok_or_else(Ending::interrupted)? {
        replies[role] = reply;
    }
    Ok(())
}

async fn join_all<T>(mut futures: Vec<Pin<Box<dyn Future<Output = T> + '_>>>) -> Vec<T> {
    let mut results: Vec<Option<T>> = futures.iter().map(|_| None).collect();
    poll_fn(|context| {
        let mut all_ready = true;
        for (future, result) in futures.iter_mut().zip(&mut results) {
            if result.is_none() {
                match future.as_mut().poll(context) {
                    Poll::Ready(value) => *result = Some(value),
                    Poll::Pending => all_ready = false,
                }
            }
        }
        if all_ready { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    results.into_iter().map(|result| result.expect("all are ready")).collect()
}
