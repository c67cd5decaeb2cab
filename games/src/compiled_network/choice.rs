//! Uniformly random legal moves for all lanes at once, without a loop over lanes.
//!
//! The legal planes of a role (one block for each move) stand in groups of 16.
//! Adders count each group lane by lane, bit by bit, and sum to the number `n`
//! of legal moves; a random fraction `u` of as many bits as there are random
//! planes gives the rank `r = floor(u n)` of the move, by a shift and an addition
//! for each plane. Then the groups are walked: where `r` is less than a group's
//! count, which is the borrow of their difference, the group is the lane's, else
//! the count is taken off. The planes of each lane's own group are laid over
//! each other, and one descent through a binary tree of their counts makes
//! the rank a move, which goes back to the groups. Groups without any legal move
//! cost a test.
//!
//! With 16 planes no move is more than `n / 2^16` times as likely as another,
//! relatively; more moves than 16 take more planes (see [`n_planes`]).
//!
//! Where two roles never have a choice in the same lane, one draw serves both:
//! the rank among a single move is 0 whatever was drawn. So games in which roles
//! take turns cost one draw a step.

use super::features::Kernel;
use super::lanes::Lanes;
use super::random::Random;
use crate::PlayoutPolicy;

/// Moves in a group.
const GROUP: usize = 16;

/// Bits of the count of a group.
const GROUP_BITS: usize = 5;

/// Bits of the number of a role's moves.
const MAX_BITS: usize = 24;

/// Random planes for numbers below `2^n_bits`.
fn n_planes(n_bits: usize) -> usize {
    (n_bits + 12).max(16)
}

/// The legal moves of all roles, as slots: group by group, one slot after the
/// other, in one row of slots for what is legal and one for what is chosen.
/// Slots that fill up the last group of a role are never legal.
#[derive(Clone, Debug)]
pub(crate) struct Choices {
    /// The slot of the first legal plane.
    legal: usize,
    /// The first slot of chosen moves.
    does: usize,
    /// By role: the group at which its groups end.
    ends: Vec<usize>,
}

impl Choices {
    /// For roles with `n_moves` moves each. Each role takes the number of slots that
    /// [`n_slots`](Choices::n_slots) returns, from `legal` and `does` on.
    pub(crate) fn new(n_moves: &[usize], legal: usize, does: usize) -> Self {
        let mut end = 0;
        let groups = n_moves.iter().map(|&n| {
            assert!(n < 1 << MAX_BITS, "moves fit the bits of a tally");
            end += n.div_ceil(GROUP);
            end
        });
        Self { ends: groups.collect(), legal, does }
    }

    /// The slots in each row of a role with this many moves.
    pub(crate) fn n_slots(n_moves: usize) -> usize {
        n_moves.next_multiple_of(GROUP)
    }

    /// The number of places of moves: one for each slot in a row.
    pub(crate) fn n_places(&self) -> usize {
        self.n_groups() * GROUP
    }

    /// The place of a role's move in each row of slots.
    pub(crate) fn place(&self, role: usize, index: usize) -> usize {
        self.groups(role).start * GROUP + index
    }

    /// Adds the lanes of the moves that were chosen last to those of their places.
    #[inline(always)]
    pub(crate) fn note<L: Lanes>(&self, chooser: &Chooser<L>, slots: &[L], made: &mut [L]) {
        let does = slots[self.does..self.does + made.len()].chunks_exact(GROUP);
        let groups = made.chunks_exact_mut(GROUP).zip(does);
        for ((made, does), _) in groups.zip(&chooser.is_set).filter(|(_, is_set)| **is_set) {
            for (made, &does) in made.iter_mut().zip(does) {
                *made |= does;
            }
        }
    }

    fn n_groups(&self) -> usize {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The legal planes of a group.
    #[inline(always)]
    fn legal<'a, L>(&self, slots: &'a [L], group: usize) -> &'a [L; GROUP] {
        let start = self.legal + group * GROUP;
        slots[start..start + GROUP].first_chunk().expect("as long as a group")
    }

    /// The planes of chosen moves of a group.
    #[inline(always)]
    fn does<'a, L>(&self, slots: &'a mut [L], group: usize) -> &'a mut [L; GROUP] {
        let start = self.does + group * GROUP;
        slots[start..start + GROUP].first_chunk_mut().expect("as long as a group")
    }

    fn groups(&self, role: usize) -> std::ops::Range<usize> {
        let start = if role == 0 { 0 } else { self.ends[role - 1] };
        start..self.ends[role]
    }
}

/// The state and the buffers of choosing.
#[derive(Clone, Debug)]
pub(crate) struct Chooser<L> {
    random: Random<L>,
    /// By group: whether some lane of the `does` slots may be set.
    is_set: Vec<bool>,
    /// By group.
    counts: Vec<[L; GROUP_BITS]>,
    /// Groups with a legal move, roles after each other.
    active: Vec<u32>,
    /// By active group of one role: the lanes that choose in it.
    taken: Vec<L>,
    /// By role.
    tallies: Vec<Tally<L>>,
    /// Bits of the number that is drawn below, and of what was drawn.
    below: [L; MAX_BITS],
    drawn: [L; MAX_BITS],
    /// Bits of the rank that is walked with.
    rank: [L; MAX_BITS],
    /// What choosing has cost so far, in operations on lanes, roughly.
    pub(crate) work: u64,
    /// What is legal in lanes that do not choose may be wrong, and has no influence.
    pub(crate) ignores_others: bool,
    preference: Preference<L>,
}

/// Moves that are preferred.
#[derive(Clone, Debug)]
struct Preference<L> {
    /// By place: every lane if the move is preferred, none if not.
    moves: Vec<L>,
    /// By group: whether some move of it is preferred.
    groups: Vec<bool>,
    /// The probability, as that of [`PlayoutPolicy`].
    parts: u32,
    /// By role: the lanes in which it may make other moves as well.
    free: Vec<L>,
}

impl<L: Lanes> Preference<L> {
    /// Takes the moves that may not be made from the legal planes of a role's group.
    #[inline(always)]
    fn restrict(&self, role: usize, group: usize, planes: &mut [L; GROUP]) {
        let free = self.free[role];
        for (plane, &preferred) in planes.iter_mut().zip(&self.moves[group * GROUP..]) {
            *plane &= preferred | free;
        }
    }
}

/// One role's legal moves, counted.
#[derive(Clone, Copy, Debug)]
struct Tally<L> {
    /// The number, lane by lane.
    n: [L; MAX_BITS],
    /// How many of its bits are set in some lane.
    n_bits: usize,
    /// Where there is more than one legal move.
    several: L,
    /// The role's part of the active groups.
    active: (usize, usize),
}

impl<L: Lanes> Tally<L> {
    /// Forgets what was counted in other lanes.
    #[inline(always)]
    fn keep(&mut self, lanes: L) {
        for bit in &mut self.n[..self.n_bits] {
            *bit &= lanes;
        }
        while self.n_bits > 0 && !self.n[self.n_bits - 1].any() {
            self.n_bits -= 1;
        }
    }
}

impl<L: Lanes> Chooser<L> {
    /// For choices of a batch with this seed.
    pub(crate) fn new(choices: &Choices, seed: u64, proof: L::Proof) -> Self {
        let none = L::none(proof);
        let n_groups = choices.n_groups();
        let empty = Tally { n: [none; MAX_BITS], n_bits: 0, several: none, active: (0, 0) };
        Self {
            random: Random::new(seed, proof),
            is_set: vec![false; n_groups],
            counts: vec![[none; GROUP_BITS]; n_groups],
            active: Vec::with_capacity(n_groups),
            taken: vec![none; n_groups],
            tallies: vec![empty; choices.ends.len()],
            below: [none; MAX_BITS],
            drawn: [none; MAX_BITS],
            rank: [none; MAX_BITS],
            work: 0,
            ignores_others: false,
            preference: Preference {
                moves: vec![none; choices.n_places()],
                groups: vec![false; n_groups],
                parts: 0,
                free: vec![none; choices.ends.len()],
            },
        }
    }

    /// Takes over the moves that a policy prefers, for choices by policy.
    pub(crate) fn prefer(&mut self, choices: &Choices, policy: &PlayoutPolicy, proof: L::Proof) {
        let none = L::none(proof);
        let preference = &mut self.preference;
        preference.parts = policy.parts();
        for role in 0..choices.ends.len() {
            let groups = choices.groups(role);
            let first = groups.start * GROUP;
            for group in groups {
                let mut some = false;
                for place in group * GROUP..(group + 1) * GROUP {
                    let is_preferred = policy.prefers(role, place - first);
                    preference.moves[place] = if is_preferred { none.full() } else { none };
                    some |= is_preferred;
                }
                preference.groups[group] = some;
            }
        }
    }

    /// Begins the random numbers of another seed.
    pub(crate) fn reseed(&mut self, seed: u64, proof: L::Proof) {
        self.random = Random::new(seed, proof);
    }

    /// Must be called after other code wrote `does` slots.
    pub(crate) fn forget(&mut self) {
        self.is_set.fill(true);
    }
}

/// Chooses a move for each role in each of some lanes, and no move in others.
/// Gives the lanes in which each role had one. With `BY_POLICY`, moves
/// are preferred as [`Chooser::prefer`] was told.
pub(crate) struct Choose<'a, L: Lanes, const BY_POLICY: bool> {
    /// Where the planes are.
    pub(crate) choices: &'a Choices,
    /// What is remembered.
    pub(crate) chooser: &'a mut Chooser<L>,
    /// The slots.
    pub(crate) slots: &'a mut [L],
    /// The lanes.
    pub(crate) lanes: L,
}

impl<L: Lanes, const BY_POLICY: bool> Kernel for Choose<'_, L, BY_POLICY> {
    type Output = L;
    type Proof = L::Proof;

    #[inline(always)]
    fn run(mut self) -> L {
        let mut lanes = self.lanes;
        self.chooser.active.clear();
        let by_policy = if BY_POLICY { self.lanes_by_policy() } else { lanes.empty() };
        for role in 0..self.choices.ends.len() {
            if BY_POLICY {
                self.restrict(role, by_policy);
            }
            self.count(role);
            let tally = &mut self.chooser.tallies[role];
            if self.chooser.ignores_others {
                tally.keep(self.lanes);
            }
            tally.several = lanes.empty();
            for &bit in &tally.n[1..tally.n_bits.max(1)] {
                tally.several |= bit;
            }
            let some = if tally.n_bits == 0 { lanes.empty() } else { tally.n[0] };
            lanes &= some | tally.several;
        }
        let n_roles = self.choices.ends.len();
        let mut role = 0;
        while role < n_roles {
            // Roles that never have a choice in the same lane share a draw.
            let Chooser { tallies, below, drawn, random, .. } = &mut *self.chooser;
            let first = role;
            let (mut n_bits, mut choosing) = (0, lanes.empty());
            while role < n_roles {
                let tally = &tallies[role];
                if tally.n_bits > 1 {
                    let several = tally.several & lanes;
                    if (several & choosing).any() {
                        break;
                    }
                    choosing |= several;
                    for (i, &bit) in tally.n[..tally.n_bits].iter().enumerate() {
                        let before = if i < n_bits { below[i] } else { lanes.empty() };
                        below[i] = before | bit & several;
                    }
                    n_bits = n_bits.max(tally.n_bits);
                }
                role += 1;
            }
            draw(&below[..n_bits], &mut drawn[..n_bits], random);
            for role in first..role {
                self.write(role, lanes);
            }
        }
        lanes
    }
}

impl<L: Lanes, const BY_POLICY: bool> Choose<'_, L, BY_POLICY> {
    /// The lanes that make preferred moves where there are some, by chance.
    #[inline(always)]
    fn lanes_by_policy(&mut self) -> L {
        let Chooser { preference, random, .. } = &mut *self.chooser;
        let mut lanes = random.none();
        let parts = preference.parts;
        if parts == PlayoutPolicy::PARTS {
            return lanes.full();
        }
        // A random fraction is less than this one if it is less in the highest bit that differs.
        for bit in 0..PlayoutPolicy::PARTS.trailing_zeros() {
            let plane = random.next();
            lanes = if parts >> bit & 1 == 1 { lanes | !plane } else { lanes & !plane };
        }
        lanes
    }

    /// Works out where a role may make moves that are not preferred.
    #[inline(always)]
    fn restrict(&mut self, role: usize, by_policy: L) {
        let preference = &mut self.chooser.preference;
        let mut some = by_policy.empty();
        for group in self.choices.groups(role).filter(|&group| preference.groups[group]) {
            let legal = self.choices.legal(self.slots, group);
            for (&legal, &preferred) in legal.iter().zip(&preference.moves[group * GROUP..]) {
                some |= legal & preferred;
            }
        }
        preference.free[role] = !(some & by_policy);
    }

    /// Counts a role's legal moves.
    #[inline(always)]
    fn count(&mut self, role: usize) {
        let Chooser { tallies, active, counts, preference, .. } = &mut *self.chooser;
        let tally = &mut tallies[role];
        let n = &mut tally.n;
        let start = active.len();
        let mut n_bits = 0;
        for group in self.choices.groups(role) {
            let mut room = None;
            let planes = legal_planes::<L, BY_POLICY>(
                self.choices,
                self.slots,
                preference,
                (role, group),
                &mut room,
            );
            let mut some = planes[0].empty();
            for &plane in planes {
                some |= plane;
            }
            if !some.any() {
                continue;
            }
            active.push(group as u32);
            let count = count_group(planes);
            counts[group] = count;
            if n_bits == 0 {
                n[..GROUP_BITS].copy_from_slice(&count);
                n_bits = GROUP_BITS;
                continue;
            }
            let mut carry = count[0].empty();
            for i in 0..GROUP_BITS {
                (n[i], carry) = L::add(n[i], count[i], carry);
            }
            for bit in &mut n[GROUP_BITS..n_bits] {
                (*bit, carry) = (*bit ^ carry, *bit & carry);
            }
            if carry.any() {
                n[n_bits] = carry;
                n_bits += 1;
            }
        }
        while n_bits > 0 && !n[n_bits - 1].any() {
            n_bits -= 1;
        }
        tally.n_bits = n_bits;
        tally.active = (start, active.len());
    }

    /// Writes one role's moves by the ranks drawn.
    #[inline(always)]
    fn write(&mut self, role: usize, lanes: L) {
        let (choices, slots) = (self.choices, &mut *self.slots);
        let Chooser {
            tallies, active, counts, is_set, taken, drawn, rank, work, preference, ..
        } = &mut *self.chooser;
        let tally = &tallies[role];
        let active = &active[tally.active.0..tally.active.1];
        let mut next = active.iter().peekable();
        for group in choices.groups(role) {
            if next.next_if(|&&active| active as usize == group).is_some() {
                is_set[group] = true;
            } else if std::mem::take(&mut is_set[group]) {
                *choices.does(slots, group) = [lanes.empty(); GROUP];
            }
        }
        *work += 100 * active.len() as u64;
        if tally.n_bits <= 1 {
            // At most one legal move in each lane.
            for &group in active {
                let (group, mut room) = (group as usize, None);
                let planes = legal_planes::<L, BY_POLICY>(
                    choices,
                    slots,
                    preference,
                    (role, group),
                    &mut room,
                );
                let mut made = [lanes; GROUP];
                for (made, &plane) in made.iter_mut().zip(planes) {
                    *made &= plane;
                }
                *choices.does(slots, group) = made;
            }
            return;
        }
        *work += 150 + if active.len() > 1 { 120 * active.len() as u64 } else { 0 };
        // The draw may have been for larger numbers, of another role.
        let rank = &mut rank[..tally.n_bits];
        for (rank, &drawn) in rank.iter_mut().zip(&*drawn) {
            *rank = drawn & tally.several;
        }
        if let &[group] = active {
            let (group, mut room) = (group as usize, None);
            let mut within = [lanes.empty(); 4];
            for (within, &rank) in within.iter_mut().zip(&*rank) {
                *within = rank;
            }
            let planes =
                legal_planes::<L, BY_POLICY>(choices, slots, preference, (role, group), &mut room);
            *choices.does(slots, group) = descend(planes, within, lanes);
            return;
        }
        let taken = &mut taken[..active.len()];
        let within = walk(counts, active, taken, rank, lanes);
        let mut planes = [lanes.empty(); GROUP];
        for half in [0, GROUP / 2] {
            let mut over = [lanes.empty(); GROUP / 2];
            for (&group, &taken) in active.iter().zip(&*taken) {
                let legal = &choices.legal(slots, group as usize)[half..half + GROUP / 2];
                if BY_POLICY {
                    let moves = &preference.moves[group as usize * GROUP + half..];
                    let free = preference.free[role];
                    for ((over, &legal), &preferred) in over.iter_mut().zip(legal).zip(moves) {
                        *over |= legal & (preferred | free) & taken;
                    }
                } else {
                    for (over, &legal) in over.iter_mut().zip(legal) {
                        *over |= legal & taken;
                    }
                }
            }
            planes[half..half + GROUP / 2].copy_from_slice(&over);
        }
        let chosen = descend(&planes, within, lanes);
        for (&group, &taken) in active.iter().zip(&*taken) {
            let does = choices.does(slots, group as usize);
            for (does, &chosen) in does.iter_mut().zip(&chosen) {
                *does = chosen & taken;
            }
        }
    }
}

/// The legal planes of a role's group, without the moves that may not be made. `room` is used
/// if they are not the slots as they stand.
#[inline(always)]
fn legal_planes<'a, L: Lanes, const BY_POLICY: bool>(
    choices: &Choices,
    slots: &'a [L],
    preference: &Preference<L>,
    (role, group): (usize, usize),
    room: &'a mut Option<[L; GROUP]>,
) -> &'a [L; GROUP] {
    let planes = choices.legal(slots, group);
    if !BY_POLICY {
        return planes;
    }
    let planes = room.insert(*planes);
    preference.restrict(role, group, planes);
    planes
}

/// The rank `floor(u n)` for a random fraction `u`.
#[inline(always)]
fn draw<L: Lanes>(n: &[L], rank: &mut [L], random: &mut Random<L>) {
    match n.len() {
        0 | 1 => rank.fill(random.none()),
        2 => draw_bits::<L, 2>(n, rank, random),
        3 => draw_bits::<L, 3>(n, rank, random),
        4 => draw_bits::<L, 4>(n, rank, random),
        5 => draw_bits::<L, 5>(n, rank, random),
        6 => draw_bits::<L, 6>(n, rank, random),
        7 => draw_bits::<L, 7>(n, rank, random),
        8 => draw_bits::<L, 8>(n, rank, random),
        _ => draw_many(n, rank, random),
    }
}

#[inline(always)]
fn draw_bits<L: Lanes, const N: usize>(n: &[L], rank: &mut [L], random: &mut Random<L>) {
    let mut below = [random.none(); N];
    below.copy_from_slice(n);
    let mut sum = [random.none(); N];
    for _ in 0..n_planes(N) {
        let plane = random.next();
        let mut carry = random.none();
        for i in 0..N {
            let (bit, next) = L::add(sum[i], below[i] & plane, carry);
            carry = next;
            if i > 0 {
                sum[i - 1] = bit;
            }
        }
        sum[N - 1] = carry;
    }
    rank.copy_from_slice(&sum);
}

/// The same for numbers of many bits.
#[inline(always)]
fn draw_many<L: Lanes>(n: &[L], sum: &mut [L], random: &mut Random<L>) {
    sum.fill(random.none());
    for _ in 0..n_planes(n.len()) {
        let plane = random.next();
        let mut carry = random.none();
        for (i, &n) in n.iter().enumerate() {
            let (bit, next) = L::add(sum[i], n & plane, carry);
            carry = next;
            if i > 0 {
                sum[i - 1] = bit;
            }
        }
        sum[n.len() - 1] = carry;
    }
}

/// Finds the group of each lane; the rank within it is what is left.
#[inline(always)]
fn walk<L: Lanes>(
    counts: &[[L; GROUP_BITS]],
    active: &[u32],
    taken: &mut [L],
    rank: &mut [L],
    lanes: L,
) -> [L; 4] {
    let mut within = [lanes.empty(); 4];
    let mut left = lanes;
    for (&group, taken) in active.iter().zip(taken) {
        let count = &counts[group as usize];
        let mut borrow = lanes.empty();
        let mut less = [lanes.empty(); GROUP_BITS];
        let n_low = rank.len().min(GROUP_BITS);
        for i in 0..n_low {
            (less[i], borrow) = L::subtract(rank[i], count[i], borrow);
        }
        // A rank of fewer bits than a count has zeros there.
        for &bit in &count[n_low..] {
            borrow |= bit;
        }
        for bit in rank.iter_mut().skip(GROUP_BITS) {
            (*bit, borrow) = (*bit ^ borrow, borrow & !*bit);
        }
        let here = left & borrow;
        for (within, &rank) in within.iter_mut().zip(&*rank) {
            *within |= rank & here;
        }
        rank[..n_low].copy_from_slice(&less[..n_low]);
        left &= !borrow;
        *taken = here;
    }
    within
}

/// The planes of the lanes' moves, one move in each lane: the one of this rank
/// among those whose plane has the lane.
#[inline(always)]
fn descend<L: Lanes>(planes: &[L; GROUP], rank: [L; 4], lanes: L) -> [L; GROUP] {
    let mut pairs = [[lanes.empty(); 2]; 8];
    for (pair, planes) in pairs.iter_mut().zip(planes.chunks_exact(2)) {
        *pair = [planes[0] ^ planes[1], planes[0] & planes[1]];
    }
    let mut fours = [[lanes.empty(); 3]; 4];
    for (four, pairs) in fours.iter_mut().zip(pairs.chunks_exact(2)) {
        *four = sum(pairs[0], pairs[1]);
    }
    let eight: [L; 4] = sum(fours[0], fours[1]);
    let mut chosen = [lanes.empty(); GROUP];
    let (left, right, rest) = split(rank, eight, lanes);
    for (half, lanes, rank) in [(0, left, rank), (1, right, rest)] {
        let rank = [rank[0], rank[1], rank[2]];
        let (left, right, rest) = split(rank, fours[half * 2], lanes);
        for (quarter, lanes, rank) in [(half * 2, left, rank), (half * 2 + 1, right, rest)] {
            let rank = [rank[0], rank[1]];
            let (left, right, rest) = split(rank, pairs[quarter * 2], lanes);
            for (pair, lanes, rank) in [(quarter * 2, left, rank), (quarter * 2 + 1, right, rest)] {
                let first = lanes & planes[pair * 2] & !rank[0];
                chosen[pair * 2] = first;
                chosen[pair * 2 + 1] = lanes ^ first;
            }
        }
    }
    chosen
}

/// The lanes where the rank lies in the left part, those where it does not, and
/// the rank in the right part.
#[inline(always)]
fn split<L: Lanes, const N: usize>(rank: [L; N], left: [L; N], lanes: L) -> (L, L, [L; N]) {
    let mut borrow = lanes.empty();
    let mut rest = [lanes.empty(); N];
    for i in 0..N {
        (rest[i], borrow) = L::subtract(rank[i], left[i], borrow);
    }
    let in_left = lanes & borrow;
    (in_left, lanes ^ in_left, rest)
}

/// The sum of two numbers of `N` bits, of one bit more.
#[inline(always)]
fn sum<L: Lanes, const N: usize, const M: usize>(a: [L; N], b: [L; N]) -> [L; M] {
    let mut sum = [a[0].empty(); M];
    let mut carry = a[0].empty();
    for i in 0..N {
        (sum[i], carry) = L::add(a[i], b[i], carry);
    }
    sum[N] = carry;
    sum
}

/// The number of planes that have a lane, by carry-save adders.
#[inline(always)]
fn count_group<L: Lanes>(planes: &[L; GROUP]) -> [L; GROUP_BITS] {
    let x = planes;
    let zero = x[0].empty();
    let (s0, c0) = L::add(x[0], x[1], x[2]);
    let (s1, c1) = L::add(x[3], x[4], x[5]);
    let (s2, c2) = L::add(x[6], x[7], x[8]);
    let (s3, c3) = L::add(x[9], x[10], x[11]);
    let (s4, c4) = L::add(x[12], x[13], x[14]);
    let (t0, d0) = L::add(s0, s1, s2);
    let (t1, d1) = L::add(s3, s4, x[15]);
    let (one, d2) = L::add(t0, t1, zero);
    let (u0, e0) = L::add(c0, c1, c2);
    let (u1, e1) = L::add(c3, c4, d0);
    let (u2, e2) = L::add(u0, u1, d1);
    let (two, e3) = L::add(u2, d2, zero);
    let (v, f0) = L::add(e0, e1, e2);
    let (four, f1) = L::add(v, e3, zero);
    [one, two, four, f0 ^ f1, f0 & f1]
}
