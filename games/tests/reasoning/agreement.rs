//! All reasoners of a game in lock step: the prover, the network for one position
//! at a time, and batches, interpreted and as machine code. The batches choose at
//! random; everybody else makes the same moves, and everything that can be asked is.

use std::sync::Arc;

use games::compiled_network::{CompiledNetwork, Width};
use games::{
    Batch, ChildOutcome, Cursor, Expression, Guards, MoveId, Network, NetworkMachine, Prover,
    ReasoningError, RoleId, State, StateMachine, Successors,
};

/// What to compare.
#[derive(Clone, Debug)]
pub(crate) struct Effort {
    /// Lanes of the batches that are interpreted and, unless they are 64,
    /// translated. There is always one of 64 lanes beside them.
    pub(crate) width: Width,
    /// Steps of each lane, which starts again where a match ends.
    pub(crate) n_steps: usize,
    /// Of the random moves.
    pub(crate) seed: u64,
    /// Of the prover.
    pub(crate) guards: Guards,
}

/// What was compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Compared {
    /// States for which all reasoners were asked everything.
    pub(crate) n_states: usize,
    /// Whether machine code was among them, which some CPUs cannot run.
    pub(crate) has_machine_code: bool,
}

/// Compares, and panics where the reasoners differ.
///
/// # Errors
/// If the prover reaches its guards.
pub(crate) fn check(network: &Arc<Network>, effort: &Effort) -> Result<Compared, ReasoningError> {
    let mut tiers = Tiers::new(network, effort)?;
    for step in 0..effort.n_steps {
        let expected = tiers.compare_positions(step)?;
        tiers.advance(step, &expected)?;
    }
    let n_states = effort.n_steps * tiers.positions.len();
    Ok(Compared { n_states, has_machine_code: tiers.followers.len() == 2 })
}

/// A position that all reasoners follow.
struct Position {
    /// Its lane among those of the leader, and among 64.
    lane: usize,
    narrow: usize,
    /// As the prover has it, and the network.
    proven: State,
    state: State,
    /// Follows the network's from the initial state, and back there at an end.
    cursor: Box<dyn Cursor>,
}

/// What the prover says of a position.
struct Expected {
    is_terminal: bool,
    /// By role.
    legal: Vec<Vec<MoveId>>,
}

impl Expected {
    fn can_move(&self) -> bool {
        !self.is_terminal && self.legal.iter().all(|moves| !moves.is_empty())
    }
}

/// A batch, and whether its lanes are those of the leader.
struct Follower {
    batch: Batch,
    is_narrow: bool,
}

struct Tiers {
    network: Arc<Network>,
    prover: Prover,
    machine: NetworkMachine,
    /// Interpreted; it chooses.
    leader: Batch,
    followers: Vec<Follower>,
    positions: Vec<Position>,
}

fn has(words: &[u64], lane: usize) -> bool {
    words[lane / 64] >> (lane % 64) & 1 == 1
}

impl Tiers {
    fn new(network: &Arc<Network>, effort: &Effort) -> Result<Self, ReasoningError> {
        let mut prover = Prover::new(Arc::clone(&network.game), effort.guards.clone())?;
        let mut machine = NetworkMachine::new(Arc::clone(network), prover.clone());
        let program = Arc::new(CompiledNetwork::new(Arc::clone(network)));
        let leader = Batch::new(&program, effort.width, effort.seed);
        let narrow = Batch::new(&program, Width::Lanes64, effort.seed);
        let mut followers = vec![Follower { batch: narrow, is_narrow: true }];
        let translated = Arc::new(CompiledNetwork::new(Arc::clone(network)));
        if translated.translate(effort.width).is_ok() {
            let batch = Batch::new(&translated, effort.width, effort.seed);
            followers.push(Follower { batch, is_narrow: false });
        }
        let proven = prover.initial_state()?;
        let state = machine.initial_state().expect("the network has an initial state");
        let positions = [(0, 0), (31, 31), (leader.n_lanes() - 1, 63)]
            .map(|(lane, narrow)| Position {
                lane,
                narrow,
                proven: proven.clone(),
                state: state.clone(),
                cursor: machine.cursor(&state),
            })
            .into();
        let network = Arc::clone(network);
        Ok(Self { network, prover, machine, leader, followers, positions })
    }

    fn place(&self, step: usize, position: &Position) -> String {
        format!("{}, step {step}, lane {}", self.network.game.name(), position.lane)
    }

    fn roles(&self) -> impl Iterator<Item = RoleId> + use<> {
        self.network.role_ids()
    }

    /// Facts, ends, legal moves and goals, by all reasoners.
    fn compare_positions(&mut self, step: usize) -> Result<Vec<Expected>, ReasoningError> {
        self.leader.evaluate();
        for follower in &mut self.followers {
            follower.batch.evaluate();
        }
        self.compare_lanes(step);
        let mut positions = std::mem::take(&mut self.positions);
        let mut all = Vec::new();
        for position in &mut positions {
            let place = self.place(step, position);
            all.push(self.compare_machine(position, &place)?);
            self.compare_cursor(position, &place)?;
            let expected = all.last().expect("just put there");
            let facts = self.prover.facts(&position.proven);
            let mut goals = Vec::new();
            for role in self.roles() {
                let mut goal = self.prover.goal(&position.proven, role)?;
                goal.values.sort_unstable();
                goals.push(goal);
            }
            let roles: Vec<RoleId> = self.roles().collect();
            let narrow = self.followers.iter_mut().filter(|follower| follower.is_narrow);
            let batches = narrow.map(|follower| (&mut follower.batch, position.narrow));
            for (batch, lane) in batches.chain([(&mut self.leader, position.lane)]) {
                let found = batch.state(lane);
                let holds =
                    (0..self.network.n_facts()).filter(|&fact| self.network.holds(&found, fact));
                let found: Vec<_> = holds.map(|fact| self.network.facts[fact].clone()).collect();
                assert_eq!(found, facts, "facts, {place}");
                assert_eq!(has(batch.terminal(), lane), expected.is_terminal, "end, {place}");
                let mut found = batch.goals(&[lane]).remove(0);
                found.iter_mut().for_each(|goal| goal.values.sort_unstable());
                assert_eq!(found, goals, "goals, {place}");
                let mut moves = Vec::new();
                for (&role, known) in roles.iter().zip(&expected.legal) {
                    batch.legal_moves(lane, role, &mut moves);
                    let outputs = &self.network.roles[usize::from(role.0)].moves;
                    let found: Vec<_> = moves.iter().map(|&i| outputs[i].clone()).collect();
                    let known: Vec<_> =
                        known.iter().map(|&id| self.prover.move_expression(id)).collect();
                    assert_eq!(found, known, "legal moves of {role:?}, {place}");
                }
            }
        }
        self.positions = positions;
        Ok(all)
    }

    /// The network against the prover.
    fn compare_machine(
        &mut self,
        position: &Position,
        place: &str,
    ) -> Result<Expected, ReasoningError> {
        let Position { proven, state, .. } = position;
        let (prover, machine) = (&mut self.prover, &mut self.machine);
        let right = "the network answers";
        assert_eq!(machine.facts(state), prover.facts(proven), "facts, {place}");
        let is_terminal = prover.is_terminal(proven)?;
        assert_eq!(machine.is_terminal(state).expect(right), is_terminal, "end, {place}");
        let mut legal = Vec::new();
        for role in self.network.role_ids() {
            let (mut known, mut found) = (Vec::new(), Vec::new());
            prover.legal_moves(proven, role, &mut known)?;
            machine.legal_moves(state, role, &mut found).expect(right);
            let known_moves: Vec<_> = known.iter().map(|&id| prover.move_expression(id)).collect();
            let found: Vec<_> = found.iter().map(|&id| machine.move_expression(id)).collect();
            assert_eq!(found, known_moves, "legal moves of {role:?} by the network, {place}");
            let goal = prover.goal(proven, role)?;
            let found = machine.goal(state, role).expect(right);
            assert_eq!(found, goal, "goal of {role:?} by the network, {place}");
            legal.push(known);
        }
        let expected = Expected { is_terminal, legal };
        if expected.can_move() {
            self.compare_successors(position, &expected.legal, place)?;
        }
        Ok(expected)
    }

    /// The cursor against the prover, also after a move that is taken back.
    fn compare_cursor(
        &mut self,
        position: &mut Position,
        place: &str,
    ) -> Result<(), ReasoningError> {
        let Position { proven, state, cursor, .. } = position;
        let (prover, machine) = (&mut self.prover, &mut self.machine);
        let right = "the cursor answers";
        for is_taken_back in [false, true] {
            let place = format!("cursor, taken back: {is_taken_back}, {place}");
            let is_terminal = prover.is_terminal(proven)?;
            assert_eq!(cursor.is_terminal().expect(right), is_terminal, "end, {place}");
            let mut some = Vec::new();
            for role in self.network.role_ids() {
                let mut known = Vec::new();
                prover.legal_moves(proven, role, &mut known)?;
                let known: Vec<_> = known.iter().map(|&id| prover.move_expression(id)).collect();
                let found = cursor.legal_moves(role).expect(right);
                let listed: Vec<MoveId> = found.iter().collect();
                assert_eq!((found.len(), found.is_empty()), (listed.len(), listed.is_empty()));
                let one_by_one: Vec<MoveId> = (0..).map_while(|at| found.get(at)).collect();
                assert_eq!(one_by_one, listed, "{place}");
                let found: Vec<_> = listed.iter().map(|&id| machine.move_expression(id)).collect();
                assert_eq!(found, known, "legal moves of {role:?}, {place}");
                let goal = prover.goal(proven, role)?;
                assert_eq!(cursor.goal(role).expect(right), goal, "goal of {role:?}, {place}");
                some.extend(listed.last());
            }
            let mut found = State::default();
            cursor.copy_state(&mut found);
            assert_eq!(found, *state, "{place}");
            assert_eq!(cursor.key(), prover.key(proven), "key, {place}");
            if is_terminal || some.len() < self.network.roles.len() {
                break;
            }
            if !is_taken_back {
                cursor.play(&some).expect(right);
                let mut next = State::default();
                machine.next_state(state, &some, &mut next).expect(right);
                cursor.copy_state(&mut found);
                assert_eq!((found, cursor.key()), (next.clone(), machine.key(&next)), "{place}");
                assert!(cursor.take_back(), "{place}");
            }
        }
        Ok(())
    }

    /// The states that follow by [`some_joint_moves`], computed by the network with all others,
    /// against the prover; in states with at most [`MOST_SUCCESSORS`].
    fn compare_successors(
        &mut self,
        position: &Position,
        legal: &[Vec<MoveId>],
        place: &str,
    ) -> Result<(), ReasoningError> {
        let n_successors: usize = legal.iter().map(Vec::len).product();
        if n_successors > MOST_SUCCESSORS {
            return Ok(());
        }
        let Self { prover, machine, network, .. } = self;
        let right = "the network answers";
        let mut found = Successors::default();
        machine.successors(&position.state, &mut found).expect(right);
        assert_eq!(found.len(), n_successors, "successors, {place}");
        let mut outcomes = Vec::new();
        for role in network.role_ids() {
            let mut found = Vec::new();
            machine.outcomes(&position.state, role, &mut found).expect(right);
            assert_eq!(found.len(), n_successors, "outcomes for {role:?}, {place}");
            outcomes.push(found);
        }
        let (mut next, mut after) = (State::default(), State::default());
        for indices in some_joint_moves(legal) {
            let moves = || indices.iter().zip(legal);
            let joint_move: Vec<MoveId> = moves().map(|(&at, moves)| moves[at]).collect();
            let at = moves().fold(0, |at, (&index, moves)| at * moves.len() + index);
            prover.next_state(&position.proven, &joint_move, &mut next)?;
            after.set_words(found.words(at));
            assert_eq!(machine.facts(&after), prover.facts(&next), "successor {at}, {place}");
            assert_eq!(found.key(at), prover.key(&next), "key of successor {at}, {place}");
            let is_terminal = prover.is_terminal(&next)?;
            for (role, outcomes) in network.role_ids().zip(&outcomes) {
                let known = ChildOutcome::new(is_terminal, &prover.goal(&next, role)?);
                assert_eq!(outcomes[at], known, "outcome {at} for {role:?}, {place}");
            }
        }
        Ok(())
    }

    /// The leader against its equals, in all lanes.
    fn compare_lanes(&self, step: usize) {
        let place = format!("{}, step {step}", self.network.game.name());
        let leader = &self.leader;
        for Follower { batch, .. } in self.followers.iter().filter(|follower| !follower.is_narrow) {
            for fact in 0..self.network.n_facts() {
                assert_eq!(batch.fact(fact), leader.fact(fact), "fact {fact}, {place}");
            }
            assert_eq!(batch.terminal(), leader.terminal(), "{place}");
            for (role, outputs) in (0..).map(RoleId).zip(&self.network.roles) {
                for index in 0..outputs.moves.len() {
                    let found = batch.legal(role, index);
                    assert_eq!(found, leader.legal(role, index), "{role:?}, {place}");
                }
            }
        }
    }

    /// Everybody makes the moves that the leader chooses, and sees what they show.
    fn advance(&mut self, step: usize, expected: &[Expected]) -> Result<(), ReasoningError> {
        let moving = self.leader.choose_at_random().to_vec();
        for follower in self.followers.iter_mut().filter(|follower| !follower.is_narrow) {
            assert_eq!(follower.batch.choose_at_random(), moving, "who moves, step {step}");
        }
        let mut positions = std::mem::take(&mut self.positions);
        for (position, expected) in positions.iter_mut().zip(expected) {
            let place = self.place(step, position);
            let is_moving = has(&moving, position.lane);
            assert_eq!(is_moving, expected.can_move(), "whether it moves, {place}");
            if is_moving {
                let made = self.made(position.lane, &place);
                for follower in self.followers.iter_mut().filter(|follower| follower.is_narrow) {
                    follower.batch.choose(position.narrow, &made);
                }
                self.compare_percepts(position, &made, &place)?;
                self.make(position, &made)?;
            }
        }
        self.leader.advance();
        self.followers.iter_mut().for_each(|follower| follower.batch.advance());
        self.start_again(&moving, &mut positions)?;
        self.positions = positions;
        Ok(())
    }

    /// Which move of each role the leader chose in a lane.
    fn made(&self, lane: usize, place: &str) -> Vec<usize> {
        let of_role = |(role, outputs): (RoleId, &games::network::RoleOutputs)| {
            let is_made = |&i: &usize| has(self.leader.chosen(role, i), lane);
            let made: Vec<usize> = (0..outputs.moves.len()).filter(is_made).collect();
            assert_eq!(made.len(), 1, "moves of {role:?}, {place}");
            made[0]
        };
        (0..).map(RoleId).zip(&self.network.roles).map(of_role).collect()
    }

    /// The chosen moves as the prover and as the network know them.
    fn joint_moves(&mut self, made: &[usize]) -> (Vec<MoveId>, Vec<MoveId>) {
        let terms: Vec<&Expression> =
            self.network.roles.iter().zip(made).map(|(role, &i)| &role.moves[i]).collect();
        let known = "a move of the network is one of the game";
        let proven = terms.iter().map(|term| self.prover.find_move(term).expect(known)).collect();
        let played = terms.iter().map(|term| self.machine.find_move(term).expect(known)).collect();
        (proven, played)
    }

    fn compare_percepts(
        &mut self,
        position: &Position,
        made: &[usize],
        place: &str,
    ) -> Result<(), ReasoningError> {
        let (proven, played) = self.joint_moves(made);
        for role in self.roles() {
            let known = self.prover.percepts(&position.proven, &proven, role)?;
            let found = self.machine.percepts(&position.state, &played, role);
            assert_eq!(found.as_ref(), Ok(&known), "percepts by the network, {place}");
            let sees = &self.network.roles[usize::from(role.0)].percepts;
            let followers = self.followers.iter_mut().map(|follower| {
                let Follower { batch, is_narrow } = follower;
                (batch, if *is_narrow { position.narrow } else { position.lane })
            });
            for (batch, lane) in followers.chain([(&mut self.leader, position.lane)]) {
                let found = batch.percepts(role, &[lane]).remove(0);
                let found: Vec<_> = found.iter().map(|&i| sees[i].0.clone()).collect();
                assert_eq!(found, known, "percepts of {role:?}, {place}");
            }
        }
        Ok(())
    }

    fn make(&mut self, position: &mut Position, made: &[usize]) -> Result<(), ReasoningError> {
        let (proven, played) = self.joint_moves(made);
        let mut next = State::default();
        self.prover.next_state(&position.proven, &proven, &mut next)?;
        position.proven = next;
        let mut next = State::default();
        self.machine.next_state(&position.state, &played, &mut next).expect("the network answers");
        position.state = next;
        position.cursor.play(&played).expect("the cursor answers");
        Ok(())
    }

    /// Lanes at their end, those that we follow and others.
    fn start_again(
        &mut self,
        moving: &[u64],
        positions: &mut [Position],
    ) -> Result<(), ReasoningError> {
        let initial = [self.network.initial_state()];
        for lane in (0..self.leader.n_lanes()).filter(|&lane| !has(moving, lane)) {
            self.leader.load(lane, &initial);
            for follower in self.followers.iter_mut().filter(|follower| !follower.is_narrow) {
                follower.batch.load(lane, &initial);
            }
        }
        for position in positions.iter_mut().filter(|position| !has(moving, position.lane)) {
            for follower in self.followers.iter_mut().filter(|follower| follower.is_narrow) {
                follower.batch.load(position.narrow, &initial);
            }
            position.proven = self.prover.initial_state()?;
            position.state = self.machine.initial_state().expect("the network has one");
            while position.cursor.take_back() {}
        }
        Ok(())
    }
}

/// Maximum number of successors of a state that are computed to be compared: more than a machine
/// computes at once, so that the way around it is compared, too.
const MOST_SUCCESSORS: usize = 1000;

/// Joint moves as indices into the legal moves of each role: with the first and the last move of
/// the first two roles that have a choice, and the last move of each other.
fn some_joint_moves(legal: &[Vec<MoveId>]) -> Vec<Vec<usize>> {
    let mut joint_moves = vec![Vec::new()];
    let mut n_choosing = 0;
    for moves in legal {
        n_choosing += usize::from(moves.len() > 1);
        let last = moves.len() - 1;
        let some = if moves.len() > 1 && n_choosing <= 2 { vec![0, last] } else { vec![last] };
        let with = |joint_move: &Vec<usize>| {
            some.iter().map(|&at| [&joint_move[..], &[at]].concat()).collect::<Vec<_>>()
        };
        joint_moves = joint_moves.iter().flat_map(with).collect();
    }
    joint_moves
}
