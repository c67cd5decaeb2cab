//! The ends of random playouts: one from each of some states, or several from each, added
//! up.

use smallvec::SmallVec;

use crate::state::{GoalReading, MoveId, RoleId};

/// How a playout ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayoutEnd {
    /// Steps since its start.
    pub length: u32,
    /// By role, the goals in the terminal state. Empty if it reached none: it was given
    /// up at the greatest length, or some role had no legal move.
    pub goals: SmallVec<[GoalReading; 2]>,
}

/// The ends of some playouts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayoutEnds {
    /// By playout, in the order of the starts; `None` if it was abandoned.
    pub ends: Vec<Option<PlayoutEnd>>,
    /// States entered, starts not included.
    pub n_states: u64,
}

impl PlayoutEnds {
    /// Resets to `n` pending playouts.
    pub(crate) fn clear(&mut self, n: usize) {
        self.ends.clear();
        self.ends.resize(n, None);
        self.n_states = 0;
    }
}

/// What is played from each of some states for [`PlayoutSums`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlayoutPlan<'a> {
    /// Playouts from each state.
    pub per_start: usize,
    /// Steps after which a playout is given up.
    pub max_length: u32,
    /// All choices follow from it, for machines with the same
    /// [`reasoner`](crate::StateMachine::reasoner).
    pub seed: u64,
    /// The moves to prefer; every legal move is as likely as another if `None`. With a policy,
    /// the rewards are also added up by move ([`PlayoutSums::moves`]). Machines that play one
    /// playout after the other prefer nothing, and add nothing up.
    pub policy: Option<&'a PlayoutPolicy>,
    /// Which moves the roles choose among.
    pub moves: PlayoutMoves,
}

/// Which moves the roles of a playout choose among.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PlayoutMoves {
    /// All legal moves.
    #[default]
    Legal,
    /// Those that win immediately, where a role has some; else those that do not lose immediately
    /// and after which no opponent can win immediately, where it has some; else all legal moves
    /// (Teytaud and Teytaud, "On the huge impact of decisive moves in Monte-Carlo tree search
    /// algorithms", CIG 2010). The role `random` always chooses among all. As
    /// [`Legal`](Self::Legal) where the machine does not find such moves: where roles move at the
    /// same time or win together, and where the network for it would be too large.
    Decisive,
}

/// Moves that playouts prefer: where a role has preferred moves, it makes one of them with
/// some probability, and otherwise any legal move. Of several, each is as likely as another.
///
/// A machine numbers the moves of a role as those of [`PlayoutSums::moves`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayoutPolicy {
    /// By role and move; moves beyond the end are not preferred.
    preferred: Vec<Vec<bool>>,
    /// The numerator of the probability, over [`Self::PARTS`].
    parts: u32,
}

impl PlayoutPolicy {
    /// The denominator of probabilities.
    pub(crate) const PARTS: u32 = 32;

    /// A policy that prefers no move yet. The probability is rounded to a multiple of 1/32.
    ///
    /// # Panics
    /// If `probability` is not between 0 and 1.
    #[must_use]
    pub fn new(probability: f64) -> Self {
        assert!((0.0..=1.0).contains(&probability), "{probability} is no probability");
        let parts = (probability * f64::from(Self::PARTS)).round() as u32;
        Self { preferred: Vec::new(), parts }
    }

    /// Replaces the preferred moves of a role: whether each of its moves is one.
    pub fn prefer(&mut self, role: RoleId, moves: impl IntoIterator<Item = bool>) {
        let role = usize::from(role.0);
        self.preferred.resize_with(self.preferred.len().max(role + 1), Vec::new);
        self.preferred[role].clear();
        self.preferred[role].extend(moves);
    }

    /// Whether a role's move is preferred.
    pub(crate) fn prefers(&self, role: usize, index: usize) -> bool {
        self.preferred.get(role).and_then(|moves| moves.get(index)).copied().unwrap_or(false)
    }

    /// The numerator of the probability, over [`Self::PARTS`].
    pub(crate) fn parts(&self) -> u32 {
        self.parts
    }
}

/// The playouts in which a role made a move, whenever that was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MoveSum {
    /// Those that reached a terminal state.
    pub n: u64,
    /// The sum of the role's rewards in these.
    pub rewards: u64,
}

/// The rewards of several playouts from each of some states, added up by state. The
/// buffers are reused from call to call.
///
/// Where the rules give several goals, the worst counts; 0 where they give none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlayoutSums {
    n_roles: usize,
    /// By start.
    n_scored: Vec<u32>,
    /// By start.
    n_unscored: Vec<u32>,
    /// By start, then by role.
    rewards: Vec<u64>,
    /// By role: the best reward of a playout, and the first such playout.
    best: Vec<Option<(u8, usize)>>,
    /// By role and move; empty if they are not added up.
    moves: Vec<Vec<MoveSum>>,
    /// Steps of the longest playout that reached a terminal state.
    pub longest: u32,
    /// States entered, starts not included.
    pub n_states: u64,
    /// All playouts have ended. If not, those that did are the shorter ones.
    pub is_whole: bool,
}

impl PlayoutSums {
    /// Resets to no playouts from `n` states.
    pub(crate) fn clear(&mut self, n: usize, n_roles: usize) {
        self.n_roles = n_roles;
        for counts in [&mut self.n_scored, &mut self.n_unscored] {
            counts.clear();
            counts.resize(n, 0);
        }
        self.rewards.clear();
        self.rewards.resize(n * n_roles, 0);
        self.best.clear();
        self.best.resize(n_roles, None);
        self.moves.clear();
        (self.longest, self.n_states, self.is_whole) = (0, 0, true);
    }

    /// The playouts from a start that reached a terminal state.
    ///
    /// # Panics
    /// If there is no such start. The same holds for all methods about one start.
    #[must_use]
    pub fn n_scored(&self, start: usize) -> u32 {
        self.n_scored[start]
    }

    /// The playouts from a start that were given up at the greatest length, or where some
    /// role had no legal move.
    #[must_use]
    pub fn n_unscored(&self, start: usize) -> u32 {
        self.n_unscored[start]
    }

    /// The sum of a role's rewards in the terminal states reached from a start.
    #[must_use]
    pub fn rewards(&self, start: usize, role: RoleId) -> u64 {
        assert!(usize::from(role.0) < self.n_roles, "no role {}", role.0);
        self.rewards[start * self.n_roles + usize::from(role.0)]
    }

    /// The best reward of a role in a terminal state, and the first playout that brought
    /// it, counted over all starts; `None` if no terminal state was reached.
    #[must_use]
    pub fn best(&self, role: RoleId) -> Option<(u8, usize)> {
        self.best[usize::from(role.0)]
    }

    /// The playouts from all starts in which a role made a move, by move; empty if the plan
    /// had no [`policy`](PlayoutPlan::policy), or the machine does not add them up. The order
    /// of the moves is the machine's own, and stays the same from call to call.
    #[must_use]
    pub fn moves(&self, role: RoleId) -> &[MoveSum] {
        self.moves.get(usize::from(role.0)).map_or(&[], Vec::as_slice)
    }

    /// Starts summing by move. `n_moves` is the number of moves of each role.
    pub(crate) fn add_up_moves(&mut self, n_moves: impl IntoIterator<Item = usize>) {
        self.moves.extend(n_moves.into_iter().map(|n| vec![MoveSum::default(); n]));
    }

    /// The sums of a role's moves; empty if they are not added up.
    pub(crate) fn moves_mut(&mut self, role: usize) -> &mut [MoveSum] {
        self.moves.get_mut(role).map_or(&mut [], Vec::as_mut_slice)
    }

    /// Counts playouts from a start that reached no terminal state.
    pub(crate) fn count_unscored(&mut self, start: usize, n: u32) {
        self.n_unscored[start] += n;
    }

    /// Counts playouts from a start that reached a terminal state.
    pub(crate) fn count_scored(&mut self, start: usize, n: u32) {
        self.n_scored[start] += n;
    }

    /// Adds a reward of a role, `n` times.
    pub(crate) fn add(&mut self, start: usize, role: usize, reward: u8, n: u32) {
        self.rewards[start * self.n_roles + role] += u64::from(reward) * u64::from(n);
    }

    /// Notes the reward of a playout.
    pub(crate) fn note_best(&mut self, role: usize, reward: u8, playout: usize) {
        let best = &mut self.best[role];
        if best.is_none_or(|(most, _)| reward > most) {
            *best = Some((reward, playout));
        }
    }
}

/// The joint moves of a playout, one after the other, a move of each role.
pub type PlayoutLine = Vec<MoveId>;
