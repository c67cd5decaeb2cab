//! The values of the states of a block from those of their successors.

use super::blocks::Block;
use super::choice::{NoValue, is_better, resolve};
use super::expand::{GROUP, JOINT, Mask, TERMINAL};
use super::store::{Code, N_SHARDS};

/// Outcomes as values, and what a play that never ends is worth.
#[derive(Clone, Debug)]
pub(super) struct Outcomes {
    /// By code: the reward of each role, 0 for `random`. The last one is of a play that
    /// never ends.
    pub(super) values: Vec<Vec<f64>>,
    /// By role, then by code: its place among all outcomes in the order of preference.
    ranks: Vec<Vec<Code>>,
    /// By role, then by place: the code.
    codes: Vec<Vec<Code>>,
}

impl Outcomes {
    /// The outcomes of all terminal states. A play that never ends gives each role an
    /// equal share of the sum of the rewards if that is the same in all of them, and
    /// else 0.
    pub(super) fn new(
        outcomes: &[super::expand::Outcome],
        n_roles: usize,
        chance: Option<usize>,
    ) -> Self {
        let value = |outcome: &super::expand::Outcome| {
            let rewards = outcome.iter().enumerate();
            let reward = |(role, &reward): (usize, &u8)| match Some(role) == chance {
                true => 0.0,
                false => f64::from(reward),
            };
            rewards.map(reward).collect::<Vec<f64>>()
        };
        let mut values: Vec<Vec<f64>> = outcomes.iter().map(value).collect();
        let players: Vec<usize> = (0..n_roles).filter(|&role| Some(role) != chance).collect();
        let sum = |value: &Vec<f64>| value.iter().sum::<f64>();
        let is_constant = values.windows(2).all(|pair| sum(&pair[0]) == sum(&pair[1]));
        let mut endless = vec![0.0; n_roles];
        if is_constant && players.len() > 1 {
            let share = values.first().map_or(0.0, sum) / players.len() as f64;
            players.iter().for_each(|&role| endless[role] = share);
        }
        values.push(endless);
        let mut outcomes = Self { values, ranks: Vec::new(), codes: Vec::new() };
        for role in 0..n_roles {
            let mut codes: Vec<Code> = (0..outcomes.values.len() as Code).collect();
            codes.sort_by(|&one, &other| {
                let [one, other] = [one, other].map(|code| &outcomes.values[usize::from(code)]);
                match (is_better(one, other, role), is_better(other, one, role)) {
                    (true, _) => std::cmp::Ordering::Greater,
                    (_, true) => std::cmp::Ordering::Less,
                    _ => std::cmp::Ordering::Equal,
                }
            });
            let mut ranks = vec![0; codes.len()];
            for (rank, &code) in codes.iter().enumerate() {
                ranks[usize::from(code)] = rank as Code;
            }
            outcomes.ranks.push(ranks);
            outcomes.codes.push(codes);
        }
        outcomes
    }

    /// The code of a play that never ends.
    pub(super) fn endless(&self) -> Code {
        (self.values.len() - 1) as Code
    }
}

/// The successors of a block in order, with the group and the lane that each belongs to.
fn each_group<const N: usize>(
    block: &Block<N>,
    mut visit: impl FnMut(usize, &[Mask], &mut dyn FnMut() -> (usize, usize)),
) {
    let mut places = block.starts.clone();
    let mut shards = block.shards.iter();
    let mut next = || {
        let shard = usize::from(*shards.next().expect("as many as the passes have lanes"));
        let place = &mut places[shard];
        *place += 1;
        (shard, block.bases[shard] as usize + block.numbers.get(*place as usize - 1))
    };
    let mut passes = block.passes.as_slice();
    for (at, &n_passes) in block.n_passes.iter().enumerate() {
        let (here, rest) = passes.split_at(n_passes as usize);
        passes = rest;
        visit(at * GROUP, here, &mut next);
    }
}

/// Lanes of a mask, in order.
fn lanes(mask: &Mask) -> impl Iterator<Item = usize> + '_ {
    mask.iter().enumerate().flat_map(|(word, &lanes)| {
        let mut left = lanes;
        std::iter::from_fn(move || {
            let lane = (left != 0).then(|| word * 64 + left.trailing_zeros() as usize);
            left &= left.wrapping_sub(1);
            lane
        })
    })
}

/// Puts the codes of a block's states in a game without chance in which one role chooses at a
/// time, from those of its successors in the order of its numbers, into `codes`; terminal
/// states get 0.
pub(super) fn codes<const N: usize>(
    block: &Block<N>,
    successors: &[Code],
    outcomes: &Outcomes,
    codes: &mut Vec<Code>,
) {
    codes.clear();
    codes.reserve_exact(block.len());
    let mut places: [u32; N_SHARDS] = std::array::from_fn(|shard| block.starts[shard]);
    let mut passes = block.passes.as_slice();
    let mut shards = block.shards.as_slice();
    for (at, &n_passes) in block.n_passes.iter().enumerate() {
        let first = at * GROUP;
        let until = block.len().min(first + GROUP);
        let (here, rest) = passes.split_at(n_passes as usize);
        passes = rest;
        let movers = &block.movers[first..until];
        let mut values: [Code; GROUP] = [0; GROUP];
        // Mostly all states of a level have the same mover.
        let mover = movers.iter().copied().find(|&mover| mover != TERMINAL);
        let is_one = |&other: &u8| other == TERMINAL || Some(other) == mover;
        let only = mover.filter(|_| movers.iter().all(is_one));
        if let Some(only) = only {
            let ranks = outcomes.ranks[usize::from(only)].as_slice();
            each_edge(here, &mut shards, &mut places, |lane, place| {
                values[lane] = values[lane].max(ranks[usize::from(successors[place])]);
            });
        } else {
            each_edge(here, &mut shards, &mut places, |lane, place| {
                let ranks = &outcomes.ranks[usize::from(movers[lane])];
                values[lane] = values[lane].max(ranks[usize::from(successors[place])]);
            });
        }
        codes.extend(values.iter().zip(movers).map(|(&rank, &mover)| match mover {
            TERMINAL => 0,
            _ => outcomes.codes[usize::from(mover)][usize::from(rank)],
        }));
    }
}

/// Visits the successors of a group, in order of its passes, with the lane and the place
/// of each among the numbers of the block.
#[inline(always)]
fn each_edge(
    passes: &[Mask],
    shards: &mut &[u8],
    places: &mut [u32; N_SHARDS],
    mut visit: impl FnMut(usize, usize),
) {
    for mask in passes {
        for (word, &lanes) in mask.iter().enumerate() {
            let (here, rest) = shards.split_at(lanes.count_ones() as usize);
            *shards = rest;
            let mut left = lanes;
            for &shard in here {
                let lane = word * 64 + left.trailing_zeros() as usize;
                left &= left.wrapping_sub(1);
                let place = &mut places[usize::from(shard)];
                visit(lane % GROUP, *place as usize);
                *place += 1;
            }
        }
    }
}

/// The values of a block's states in any game, one number for each role; terminal states
/// get nothing but zeros. An error has the place of the state in the block.
pub(super) fn numbers<const N: usize>(
    block: &Block<N>,
    reals: &[Vec<f64>],
    n_roles: usize,
    chance: Option<usize>,
) -> Result<Vec<f64>, (usize, NoValue)> {
    let mut values = vec![0.0; block.len() * n_roles];
    let mut joint_counts = block.counts.chunks(n_roles);
    let mut failed = None;
    let mut successors: Vec<Vec<&[f64]>> = vec![Vec::new(); GROUP];
    each_group(block, |first, passes, next| {
        let until = block.len().min(first + GROUP);
        successors.iter_mut().for_each(Vec::clear);
        for mask in passes {
            for lane in lanes(mask) {
                let (shard, number) = next();
                successors[lane].push(&reals[shard][number * n_roles..][..n_roles]);
            }
        }
        for at in first..until {
            let mover = block.movers[at];
            if mover == TERMINAL {
                continue;
            }
            let successors = &successors[at - first];
            let mut counts = vec![1; n_roles];
            if mover == JOINT {
                let found = joint_counts.next().expect("as many as states of several movers");
                counts = found.iter().map(|&count| count as usize).collect();
            } else {
                counts[usize::from(mover)] = successors.len();
            }
            match resolve(&counts, chance, &mut |at| successors[at]) {
                Ok(best) => values[at * n_roles..][..n_roles].copy_from_slice(&best.value),
                Err(error) => {
                    failed.get_or_insert((at, error));
                }
            }
        }
    });
    failed.map_or(Ok(values), Err)
}

/// The successors of the one state of a block: shard and number of each.
pub(super) fn of_one<const N: usize>(block: &Block<N>) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    each_group(block, |_, passes, next| {
        for mask in passes {
            lanes(mask).for_each(|_| found.push(next()));
        }
    });
    found
}
