//! One level of a search: a state, its legal moves and the joint move tried,
//! kept from visit to visit so that the inner loop allocates nothing.

use games::{
    ChildOutcome, Children, ExpansionRange, Game, GoalReading, MoveId, ReasoningError, RoleId,
    State, StateKey, StateMachine, Successors, Wanted, n_joint_moves,
};
use rustc_hash::FxHashMap;

use super::move_order::Order;
use super::transposition_table::Entry;

/// Who has a choice in a state, chance apart.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Choices {
    /// Number of joint replies of the other roles.
    pub(crate) n_replies: u64,
    /// The only other role that has a choice.
    pub(crate) replier: Option<usize>,
    /// Number of roles that have a choice.
    pub(crate) n_choosing: usize,
}

/// The roles of a game as a search sees them.
#[derive(Clone, Debug)]
pub(crate) struct SearchRoles {
    /// The role that is searched for.
    pub(crate) me: RoleId,
    /// The other roles but chance, in role order.
    pub(crate) others: Vec<usize>,
    /// The role `random`, unless it is me.
    pub(crate) chance: Option<usize>,
    /// Number of roles, chance included.
    pub(crate) n_roles: usize,
}

impl SearchRoles {
    /// The roles of `game` from the point of view of `me`.
    pub(crate) fn new(game: &Game, me: RoleId) -> Self {
        let n_roles = game.roles().len();
        let chance = game.random().filter(|&random| random != me).map(|role| usize::from(role.0));
        let is_other = |&role: &usize| role != usize::from(me.0) && Some(role) != chance;
        Self { me, others: (0..n_roles).filter(is_other).collect(), chance, n_roles }
    }

    /// Whether a value of the role that holds against all others together is its value. Several
    /// others need not join forces, so that against them it is only the least that the role can
    /// be sure of.
    pub(crate) fn guarantee_is_value(&self, score: f64) -> bool {
        self.others.len() <= 1 || score >= 100.0
    }

    /// The index of the role that is searched for.
    pub(crate) fn index(&self) -> usize {
        usize::from(self.me.0)
    }

    /// Number of joint replies of the others, chance apart.
    pub(crate) fn n_replies(&self, frame: &Frame) -> u64 {
        self.choices(frame).n_replies
    }

    /// Whether several roles choose at the same time in the state of a frame, chance apart.
    pub(crate) fn choose_at_once(&self, frame: &Frame) -> bool {
        self.choices(frame).n_choosing > 1
    }

    /// Who has a choice in the state of a frame, of which the moves are listed.
    #[inline]
    pub(crate) fn choices(&self, frame: &Frame) -> Choices {
        let mut n_replies: u64 = 1;
        let mut replier = None;
        let mut n_repliers = 0;
        for &role in &self.others {
            let n_moves = frame.legal[role].len();
            n_replies = n_replies.saturating_mul(n_moves as u64);
            if n_moves > 1 {
                replier = Some(role);
                n_repliers += 1;
            }
        }
        let n_choosing = n_repliers + usize::from(frame.legal[self.index()].len() > 1);
        Choices { n_replies, replier: replier.filter(|_| n_repliers == 1), n_choosing }
    }

    /// Puts the joint reply of this index into the frame's joint move. Replies
    /// are counted like digits, the last role's moves changing fastest, so that
    /// the cross product is never laid out.
    pub(crate) fn set_reply(&self, frame: &mut Frame, mut index: u64) {
        for &role in self.others.iter().rev() {
            let n_moves = frame.legal[role].len() as u64;
            // Mostly only one role has a choice, and divisions are slow.
            let (rest, at) =
                if index < n_moves { (0, index) } else { (index / n_moves, index % n_moves) };
            frame.pick(role, at as usize);
            index = rest;
        }
    }
}

/// The part of all children that the search really enters.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VisitRate {
    n_children: u64,
    /// The children of the last state were worth computing together.
    paid_last: bool,
}

impl VisitRate {
    /// Children before the rate is used.
    const ENOUGH: u64 = 256;

    /// The expected number of visits among `n_children`, after `n_entered` visits of all
    /// children before.
    fn expected(&mut self, n_children: usize, n_entered: u64) -> usize {
        let before = self.n_children;
        self.n_children = before.saturating_add(n_children as u64);
        if before < Self::ENOUGH {
            return n_children;
        }
        (n_children as u64).saturating_mul(n_entered).div_ceil(before) as usize
    }

    /// Whether the children of the next state will probably be computed together.
    pub(crate) fn expects_expansion(&self) -> bool {
        self.paid_last
    }
}

/// What a frame knows of all children of its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Expanded {
    /// Nothing: they are computed one by one.
    Nothing,
    /// Nothing yet: their states and keys follow if the first one does not suffice.
    Later,
    /// The same, and the first one was entered.
    AfterFirst,
    /// Everything that was wanted of them.
    Children,
    /// Their states and keys.
    Successors,
    /// What they are worth.
    Outcomes,
}

/// One level of a search.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    /// The state entered.
    pub(crate) state: State,
    /// Its key, if it is known.
    key: Option<StateKey>,
    /// The legal moves, by role.
    pub(crate) legal: Vec<Vec<MoveId>>,
    /// Who has a choice, in a state with children.
    pub(crate) choices: Choices,
    /// The joint move tried, by role.
    pub(crate) joint: Vec<MoveId>,
    /// The same as indices into the legal moves.
    picked: Vec<usize>,
    /// The children, if the frame was expanded: in the order of joint moves, the last
    /// role's moves changing fastest.
    children: Option<Box<Children>>,
    /// The states of the children, in the same order.
    successors: Successors,
    /// What the children are worth to me, in the same order, if that is known.
    pub(crate) outcomes: Vec<ChildOutcome>,
    /// What is known of the children.
    expanded: Expanded,
    /// The legal moves are listed.
    is_listed: bool,
    /// Levels from the root to this one that count against the depth limit.
    pub(crate) counted: usize,
    /// All moves are forced, and the level below does not count against the depth limit.
    pub(crate) is_extended: bool,
    /// The estimate of the state, where it was needed.
    pub(crate) estimate: Option<f64>,
    /// My moves by index, in the order in which they are tried, where that is not theirs.
    pub(crate) order: Order,
    /// The same of the joint replies.
    pub(crate) reply_order: Order,
    /// Which child of the frame above this is, if that was expanded.
    given: Option<usize>,
    /// Room for the joint moves to all children.
    joint_moves: Vec<MoveId>,
    /// The best of my moves so far, by its index.
    pub(crate) best: Option<usize>,
    /// The joint reply that settled the value of my best move.
    pub(crate) best_reply: u64,
    /// The same of the move being tried.
    pub(crate) reply: u64,
    /// The line that is best from here on, as far as it was searched: each step as the index of
    /// my move and of the joint reply. With a table, only if the value lies within the window.
    pub(crate) line: Vec<(usize, u64)>,
    /// The line below the joint reply in `reply`.
    pub(crate) reply_line: Vec<(usize, u64)>,
}

impl Frame {
    /// An empty frame.
    pub(crate) fn new(n_roles: usize) -> Self {
        Self {
            state: State::default(),
            key: None,
            legal: vec![Vec::new(); n_roles],
            choices: Choices::default(),
            joint: vec![MoveId(0); n_roles],
            picked: vec![0; n_roles],
            children: None,
            successors: Successors::default(),
            outcomes: Vec::new(),
            expanded: Expanded::Nothing,
            is_listed: false,
            counted: 0,
            is_extended: false,
            estimate: None,
            order: Order::default(),
            reply_order: Order::default(),
            given: None,
            joint_moves: Vec::new(),
            best: None,
            best_reply: 0,
            reply: 0,
            line: Vec::new(),
            reply_line: Vec::new(),
        }
    }

    /// Begins with a state that was not reached through a frame.
    pub(crate) fn begin(&mut self, state: &State) {
        self.state.clone_from(state);
        self.key = None;
        self.given = None;
        self.is_listed = false;
        self.counted = 0;
        self.is_extended = false;
        self.estimate = None;
    }

    /// The best line is that after my move of this index.
    pub(crate) fn keep_line(&mut self, index: usize) {
        self.line.clear();
        self.line.push((index, self.reply));
        self.line.extend_from_slice(&self.reply_line);
    }

    /// The best line is what an entry of the table has of it: its first step, if any.
    #[inline]
    pub(crate) fn recall_line(&mut self, entry: Option<Entry>) {
        self.line.clear();
        if let Some(Entry { best: Some(best), best_reply, .. }) = entry {
            self.line.push((best, best_reply));
        }
    }

    /// Makes the legal move of this index the role's.
    pub(crate) fn pick(&mut self, role: usize, index: usize) {
        self.picked[role] = index;
        self.joint[role] = self.legal[role][index];
    }

    /// Puts the successor by the joint move into the frame below.
    pub(crate) fn advance(
        &self,
        machine: &mut dyn StateMachine,
        next: &mut Frame,
    ) -> Result<(), ReasoningError> {
        next.given = None;
        next.is_listed = false;
        next.counted = self.counted + usize::from(!self.is_extended);
        next.is_extended = false;
        next.estimate = None;
        next.key = None;
        match (self.expanded, &self.children) {
            (Expanded::Successors, _) => {
                let child = self.child();
                next.state.set_words(self.successors.words(child));
                next.key = Some(self.successors.key(child));
                Ok(())
            }
            (Expanded::Children, Some(children)) => {
                let child = self.child();
                next.state.clone_from(children.state(child));
                next.given = Some(child);
                Ok(())
            }
            _ => machine.next_state(&self.state, &self.joint, &mut next.state),
        }
    }

    /// The child by the joint move, in the order of all joint moves.
    fn child(&self) -> usize {
        let moves = self.picked.iter().zip(&self.legal);
        moves.fold(0, |child, (&at, moves)| child * moves.len() + at)
    }

    /// What the child by the joint move is worth, if that is known.
    pub(crate) fn outcome(&self) -> Option<ChildOutcome> {
        (self.expanded == Expanded::Outcomes).then(|| self.outcomes[self.child()])
    }

    /// Whether it is known what all children are worth.
    pub(crate) fn knows_outcomes(&self) -> bool {
        self.expanded == Expanded::Outcomes
    }

    /// The key of the state.
    pub(crate) fn key(&mut self, machine: &mut dyn StateMachine) -> StateKey {
        *self.key.get_or_insert_with(|| machine.key(&self.state))
    }

    /// The number of children, if it is in a range and enough of them will be visited.
    fn pays(
        &self,
        range: Option<ExpansionRange>,
        visit_rate: &mut VisitRate,
        n_entered: u64,
    ) -> Option<usize> {
        let range = range?;
        let n_children = n_joint_moves(&self.legal);
        let expected = visit_rate.expected(n_children, n_entered);
        visit_rate.paid_last = n_children <= range.most && expected >= range.least;
        visit_rate.paid_last.then_some(n_children)
    }

    /// Decides whether to compute the states of all children together, by the visit rate so far.
    /// Answers do not depend on it.
    pub(crate) fn plan_successors(
        &mut self,
        machine: &mut dyn StateMachine,
        visit_rate: &mut VisitRate,
        n_entered: u64,
    ) {
        if self.pays(machine.successor_range(), visit_rate, n_entered).is_some() {
            self.expanded = Expanded::Later;
        }
    }

    /// Computes the states of all children, if that was decided. The moves in the frame are all
    /// legal moves in the machine's order.
    pub(crate) fn compute_successors(
        &mut self,
        machine: &mut dyn StateMachine,
    ) -> Result<(), ReasoningError> {
        if matches!(self.expanded, Expanded::Later | Expanded::AfterFirst) {
            machine.successors(&self.state, &mut self.successors)?;
            debug_assert_eq!(self.successors.len(), n_joint_moves(&self.legal));
            self.expanded = Expanded::Successors;
        }
        Ok(())
    }

    /// Whether the states of all children are to be computed before the next one is entered, since
    /// the first one did not suffice. To be asked whenever one is entered.
    pub(crate) fn is_to_be_expanded(&mut self) -> bool {
        let is_next = self.expanded == Expanded::AfterFirst;
        if self.expanded == Expanded::Later {
            self.expanded = Expanded::AfterFirst;
        }
        is_next
    }

    /// The keys of the children, as far as they are known.
    pub(crate) fn child_keys(&self) -> &[StateKey] {
        match self.expanded {
            Expanded::Successors => self.successors.keys(),
            _ => &[],
        }
    }

    /// Computes what all children are worth to a role, if that pays at the visit rate so far. The
    /// moves in the frame are all legal moves in the machine's order.
    pub(crate) fn compute_outcomes(
        &mut self,
        machine: &mut dyn StateMachine,
        role: RoleId,
        visit_rate: &mut VisitRate,
        n_entered: u64,
    ) -> Result<(), ReasoningError> {
        if self.pays(machine.successor_range(), visit_rate, n_entered).is_some() {
            machine.outcomes(&self.state, role, &mut self.outcomes)?;
            debug_assert_eq!(self.outcomes.len(), n_joint_moves(&self.legal));
            self.expanded = Expanded::Outcomes;
        }
        Ok(())
    }

    /// Computes all children by one expansion, if that pays at the visit rate so far.
    /// Answers do not depend on it.
    pub(crate) fn expand(
        &mut self,
        machine: &mut dyn StateMachine,
        wanted: Wanted,
        visit_rate: &mut VisitRate,
        n_entered: u64,
    ) -> Result<(), ReasoningError> {
        let range = machine.expansion_range();
        let Some(n_children) = self.pays(range, visit_rate, n_entered) else { return Ok(()) };
        self.joint_moves.clear();
        for child in 0..n_children {
            let first = self.joint_moves.len();
            let mut index = child;
            for moves in self.legal.iter().rev() {
                self.joint_moves.push(moves[index % moves.len()]);
                index /= moves.len();
            }
            self.joint_moves[first..].reverse();
        }
        let children = self.children.get_or_insert_default();
        machine.expand(&self.state, &self.joint_moves, wanted, children)?;
        self.expanded = Expanded::Children;
        Ok(())
    }

    /// Whether the state is terminal. `above` is the frame it was reached from.
    pub(crate) fn is_terminal(
        &mut self,
        machine: &mut dyn StateMachine,
        above: Option<&Frame>,
    ) -> Result<bool, ReasoningError> {
        self.expanded = Expanded::Nothing;
        match self.as_given(above) {
            Some((children, child)) => Ok(children.is_terminal(child)),
            None => machine.is_terminal(&self.state),
        }
    }

    /// The goal of a role in the state; computed before if the state is terminal
    /// or `above` wanted all goals.
    pub(crate) fn goal(
        &self,
        machine: &mut dyn StateMachine,
        above: Option<&Frame>,
        role: RoleId,
    ) -> Result<GoalReading, ReasoningError> {
        match self.as_given(above) {
            Some((children, child)) => Ok(children.goal(child, role).clone()),
            None => machine.goal(&self.state, role),
        }
    }

    /// The number of legal moves of a role in the state; known before if they are listed or
    /// `above` wanted them.
    pub(crate) fn n_moves(
        &mut self,
        machine: &mut dyn StateMachine,
        above: Option<&Frame>,
        role: RoleId,
    ) -> Result<usize, ReasoningError> {
        if self.is_listed {
            return Ok(self.legal[usize::from(role.0)].len());
        }
        if let Some((children, child)) = self.as_given(above) {
            return Ok(children.legal(child, role).len());
        }
        let moves = &mut self.legal[usize::from(role.0)];
        machine.legal_moves(&self.state, role, moves)?;
        Ok(moves.len())
    }

    /// What the frame above knows of this state.
    fn as_given<'f>(&self, above: Option<&'f Frame>) -> Option<(&'f Children, usize)> {
        Some((above?.children.as_deref()?, self.given?))
    }

    /// Lists the legal moves of all roles, those with a rank first. Returns
    /// whether every role has one. `above` is the frame the state was reached
    /// from.
    pub(crate) fn list_moves(
        &mut self,
        machine: &mut dyn StateMachine,
        above: Option<&Frame>,
        ranks: &FxHashMap<MoveId, usize>,
    ) -> Result<bool, ReasoningError> {
        let given = self.as_given(above);
        for (role, moves) in machine.game().role_ids().zip(&mut self.legal) {
            match given {
                Some((children, child)) => {
                    moves.clear();
                    moves.extend_from_slice(children.legal(child, role));
                }
                None => machine.legal_moves(&self.state, role, moves)?,
            }
        }
        Ok(self.rank_moves(ranks))
    }

    /// The same unless the state is terminal; `None` if it is. `before_successors` says that its
    /// successors or outcomes will probably be computed next.
    pub(crate) fn list_moves_unless_terminal(
        &mut self,
        machine: &mut dyn StateMachine,
        above: Option<&Frame>,
        ranks: &FxHashMap<MoveId, usize>,
        before_successors: bool,
    ) -> Result<Option<bool>, ReasoningError> {
        if self.as_given(above).is_some() {
            let is_terminal = self.is_terminal(machine, above)?;
            return if is_terminal {
                Ok(None)
            } else {
                self.list_moves(machine, above, ranks).map(Some)
            };
        }
        self.expanded = Expanded::Nothing;
        let is_listed = machine.all_legal_moves(&self.state, &mut self.legal, before_successors)?;
        Ok(is_listed.then(|| self.rank_moves(ranks)))
    }

    /// Puts moves with a rank first. Returns whether every role has a move.
    #[inline]
    fn rank_moves(&mut self, ranks: &FxHashMap<MoveId, usize>) -> bool {
        if !ranks.is_empty() {
            for moves in &mut self.legal {
                moves.sort_by_key(|id| ranks.get(id).copied().unwrap_or(usize::MAX));
            }
        }
        self.is_listed = self.legal.iter().all(|moves| !moves.is_empty());
        self.is_listed
    }
}
