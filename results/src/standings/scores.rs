//! Blocks in a compact form from which players can be rated again and again.
//!
//! Of each block are kept what each player won and what each pair of players
//! won from each other. More blocks of a stratum than [`MAX_GROUPS`] are first
//! merged at random into that many groups, as for the intervals of
//! [`bootstrap`](crate::stats::bootstrap), so that a resample costs the same however
//! long the run was.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::stats::bootstrap::{Bootstrap, random_groups};
use crate::stats::bradley_terry::Comparison;
use crate::stats::scored::{ScoredMatch, Stratum};
use crate::stats::vase::Vote;

/// Maximum number of groups of blocks of one stratum.
pub(crate) const MAX_GROUPS: usize = 500;

/// A block, or several that are drawn as one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Group {
    stratum: u32,
    /// By player, ascending: sum of rewards, and their number.
    won: Vec<(u32, [f64; 2])>,
    /// By pair, ascending.
    met: Vec<(u32, Met)>,
}

/// What the first player of a pair made of its matches with the second.
#[derive(Clone, Copy, Debug, Default)]
struct Met {
    n: f64,
    /// A win is 1, a draw one half.
    wins: f64,
    /// Rewards of the first less those of the second.
    margin: f64,
}

impl Met {
    fn add(&mut self, other: Self) {
        self.n += other.n;
        self.wins += other.wins;
        self.margin += other.margin;
    }
}

/// The blocks of a run, by stratum.
#[derive(Clone, Debug)]
pub(crate) struct Scores {
    pub(crate) n_players: usize,
    /// By stratum: which game it is of.
    game_of: Vec<usize>,
    n_games: usize,
    /// By stratum: what is drawn from.
    pub(crate) groups: Vec<Vec<Group>>,
}

/// The number of the pair of players `first < second`.
fn pair(first: usize, second: usize) -> u32 {
    (second * (second - 1) / 2 + first) as u32
}

impl Scores {
    /// Takes in the matches that were scored, and how many each stands for. Pairs are
    /// left out unless `pairs`.
    pub(crate) fn of(matches: &[(ScoredMatch, u32)], players: &[Arc<str>], pairs: bool) -> Self {
        let index: BTreeMap<&str, usize> =
            players.iter().enumerate().map(|(at, name)| (&**name, at)).collect();
        let strata = Strata::of(matches);
        let mut blocks: BTreeMap<(usize, u64), Block> = BTreeMap::new();
        for (played, n) in matches {
            let seats: Vec<(usize, f64)> = (played.seats.iter())
                .filter_map(|seat| Some((*index.get(&*seat.player)?, f64::from(seat.reward?))))
                .collect();
            if !seats.is_empty() {
                let key = (strata.number(&played.stratum), played.block);
                blocks.entry(key).or_default().add(&seats, f64::from(*n), pairs);
            }
        }
        let mut groups = vec![vec![]; strata.game_of.len()];
        for ((stratum, _), block) in blocks {
            groups[stratum].push(block.group(stratum as u32));
        }
        let groups = groups.into_iter().map(merged).collect();
        Self { n_players: players.len(), game_of: strata.game_of, n_games: strata.n_games, groups }
    }

    /// Sums over groups, each as often as it is named.
    pub(crate) fn sums<'a>(&self, groups: impl IntoIterator<Item = &'a Group>) -> Sums<'_> {
        let n_pairs = self.n_players * self.n_players.saturating_sub(1) / 2;
        let n_strata = self.groups.len();
        let mut sums = Sums {
            scores: self,
            n_pairs,
            won: vec![[0.0; 2]; n_strata * self.n_players],
            met: vec![Met::default(); n_strata * n_pairs],
        };
        for group in groups {
            let stratum = group.stratum as usize;
            for &(player, [sum, n]) in &group.won {
                let won = &mut sums.won[stratum * self.n_players + player as usize];
                won[0] += sum;
                won[1] += n;
            }
            for &(pair, met) in &group.met {
                sums.met[stratum * n_pairs + pair as usize].add(met);
            }
        }
        sums
    }

    /// Sums over all.
    pub(crate) fn totals(&self) -> Sums<'_> {
        self.sums(self.groups.iter().flatten())
    }

    /// All comparisons, those of a block or group as one cluster.
    pub(crate) fn comparisons(&self) -> Vec<Comparison> {
        let groups = self.groups.iter().flatten().zip(0..);
        let of_group = |(group, cluster): (&Group, u64)| {
            let met = group.met.clone().into_iter();
            met.map(move |(pair, met)| comparison(pair, met, cluster)).collect::<Vec<_>>()
        };
        groups.flat_map(of_group).collect()
    }
}

/// Scores of several matches as one of that weight, which fits the same.
fn comparison(pair: u32, met: Met, cluster: u64) -> Comparison {
    let mut second = 1;
    while second * (second + 1) / 2 <= pair as usize {
        second += 1;
    }
    let first = pair as usize - second * (second - 1) / 2;
    Comparison { first, second, score: met.wins / met.n, weight: met.n, cluster }
}

/// What players won in some blocks.
pub(crate) struct Sums<'a> {
    scores: &'a Scores,
    n_pairs: usize,
    /// By stratum, then player.
    won: Vec<[f64; 2]>,
    /// By stratum, then pair.
    met: Vec<Met>,
}

impl Sums<'_> {
    /// Mean rewards by stratum, then player.
    pub(crate) fn votes(&self) -> Vec<Vote> {
        let mean = |&[sum, n]: &[f64; 2]| (n > 0.0).then(|| rounded(sum / n));
        self.won.chunks(self.scores.n_players).map(|row| row.iter().map(mean).collect()).collect()
    }

    /// By player the mean over its games of the means over their clocks, as in
    /// the standings; `None` for who has no match.
    pub(crate) fn means(&self) -> Vec<Option<f64>> {
        let n_players = self.scores.n_players;
        let mut games = vec![[0.0; 2]; self.scores.n_games * n_players];
        for (votes, &game) in self.votes().iter().zip(&self.scores.game_of) {
            for (player, mean) in votes.iter().enumerate() {
                if let Some(mean) = mean {
                    games[game * n_players + player][0] += mean;
                    games[game * n_players + player][1] += 1.0;
                }
            }
        }
        let of_player = |player: usize| {
            let games = games.iter().skip(player).step_by(n_players).filter(|[_, n]| *n > 0.0);
            let (sum, n) = games.fold((0.0, 0.0), |(sum, n), [s, m]| (sum + s / m, n + 1.0));
            (n > 0.0).then(|| rounded(sum / n))
        };
        (0..n_players).map(of_player).collect()
    }

    /// What each player won from each other on average, each stratum in which
    /// they met weighing the same; 0 where they never met.
    pub(crate) fn payoffs(&self) -> Vec<Vec<f64>> {
        let n_players = self.scores.n_players;
        let mut payoffs = vec![vec![0.0; n_players]; n_players];
        let pairs = (0..n_players).flat_map(|second| (0..second).map(move |first| (first, second)));
        for (first, second) in pairs {
            let of_pair = self.met.iter().skip(pair(first, second) as usize);
            let met = of_pair.step_by(self.n_pairs).filter(|met| met.n > 0.0);
            let (sum, n) =
                met.fold((0.0, 0.0), |(sum, n), met| (sum + met.margin / met.n, n + 1.0));
            if n > 0.0 {
                payoffs[first][second] = rounded(sum / n);
                payoffs[second][first] = -rounded(sum / n);
            }
        }
        payoffs
    }

    /// One comparison for each pair that met, over all strata.
    pub(crate) fn comparisons(&self) -> Vec<Comparison> {
        let mut pairs = vec![Met::default(); self.n_pairs];
        for stratum in self.met.chunks(self.n_pairs.max(1)) {
            pairs.iter_mut().zip(stratum).for_each(|(sum, met)| sum.add(*met));
        }
        let met = pairs.into_iter().zip(0..).filter(|(met, _)| met.n > 0.0);
        met.map(|(met, pair)| comparison(pair, met, pair.into())).collect()
    }
}

/// Sums in another order differ in their last digits; players that are level
/// must stay so.
fn rounded(value: f64) -> f64 {
    (value * 1e9).round() / 1e9 + 0.0
}

/// Strata in order, and the games they are of.
struct Strata {
    numbers: BTreeMap<Arc<Stratum>, usize>,
    game_of: Vec<usize>,
    n_games: usize,
}

impl Strata {
    fn of(matches: &[(ScoredMatch, u32)]) -> Self {
        let mut numbers: BTreeMap<Arc<Stratum>, usize> = BTreeMap::new();
        for (played, _) in matches {
            if !numbers.contains_key(&played.stratum) {
                numbers.insert(played.stratum.clone(), 0);
            }
        }
        let mut games: Vec<&str> = numbers.keys().map(|stratum| &*stratum.game).collect();
        games.dedup();
        let place = |game: &str| games.binary_search(&game).expect("it is one of them");
        let game_of = numbers.keys().map(|stratum| place(&stratum.game)).collect();
        let n_games = games.len();
        numbers.values_mut().zip(0..).for_each(|(number, place)| *number = place);
        Self { numbers, game_of, n_games }
    }

    fn number(&self, stratum: &Arc<Stratum>) -> usize {
        self.numbers[stratum]
    }
}

/// A block on its way in.
#[derive(Default)]
struct Block {
    won: BTreeMap<u32, [f64; 2]>,
    met: BTreeMap<u32, Met>,
}

impl Block {
    /// Adds a match that was played `n` times.
    fn add(&mut self, seats: &[(usize, f64)], n: f64, pairs: bool) {
        for (at, &(player, reward)) in seats.iter().enumerate() {
            let won = self.won.entry(player as u32).or_default();
            won[0] += n * reward;
            won[1] += n;
            for &(other, others) in &seats[at + 1..] {
                if !pairs || other == player {
                    continue;
                }
                let margin = if player < other { reward - others } else { others - reward };
                let wins = (margin.partial_cmp(&0.0)).map_or(0.5, |order| match order {
                    std::cmp::Ordering::Greater => 1.0,
                    std::cmp::Ordering::Equal => 0.5,
                    std::cmp::Ordering::Less => 0.0,
                });
                let pair = pair(player.min(other), player.max(other));
                self.met.entry(pair).or_default().add(Met {
                    n,
                    wins: n * wins,
                    margin: n * margin,
                });
            }
        }
    }

    fn group(self, stratum: u32) -> Group {
        Group { stratum, won: self.won.into_iter().collect(), met: self.met.into_iter().collect() }
    }
}

/// At most [`MAX_GROUPS`] groups of the blocks of a stratum.
fn merged(blocks: Vec<Group>) -> Vec<Group> {
    if blocks.len() <= MAX_GROUPS {
        return blocks;
    }
    let stratum = blocks[0].stratum;
    let places = random_groups(blocks.len(), MAX_GROUPS, &mut Bootstrap::default().rng());
    let mut groups: Vec<Block> = (0..MAX_GROUPS).map(|_| Block::default()).collect();
    for (place, block) in places.into_iter().zip(blocks) {
        let group = &mut groups[place];
        for (player, [sum, n]) in block.won {
            let won = group.won.entry(player).or_default();
            won[0] += sum;
            won[1] += n;
        }
        for (pair, met) in block.met {
            group.met.entry(pair).or_default().add(met);
        }
    }
    groups.into_iter().map(|group| group.group(stratum)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use crate::stats::bradley_terry::BradleyTerry;
    use crate::stats::by_match::{Scoring, comparisons, mean_rewards, payoffs};

    const NAMES: [&str; 3] = ["alpha", "beta", "gamma"];

    fn matches() -> Vec<ScoredMatch> {
        sample::records().iter().map(ScoredMatch::from).collect()
    }

    fn scores(matches: &[ScoredMatch]) -> Scores {
        let matches: Vec<_> = matches.iter().map(|played| (played.clone(), 1)).collect();
        Scores::of(&matches, &NAMES.map(Arc::from), true)
    }

    #[test]
    fn sums_say_the_same_as_matches() {
        let matches = matches();
        let scores = scores(&matches);
        let totals = scores.totals();
        let close = |a: &[Vec<f64>], b: &[Vec<f64>]| {
            let pairs = a.iter().flatten().zip(b.iter().flatten());
            pairs.for_each(|(a, b)| assert!((a - b).abs() < 1e-8, "{a} {b}"));
        };
        let plain = |votes: Vec<Vote>| -> Vec<Vec<f64>> {
            votes.into_iter().map(|vote| vote.into_iter().map(Option::unwrap).collect()).collect()
        };
        close(&plain(totals.votes()), &plain(mean_rewards(&matches, &NAMES)));
        close(&totals.payoffs(), &payoffs(&matches, &NAMES));
        let fit = BradleyTerry::default();
        let expected = fit.rate(3, &comparisons(&matches, &NAMES, Scoring::Order)).unwrap();
        let ratings = fit.rate(3, &scores.comparisons()).unwrap();
        close(&[ratings.elo, ratings.errors], &[expected.elo.clone(), expected.errors]);
        let of_sums = fit.rate(3, &totals.comparisons()).unwrap();
        close(&[of_sums.elo], &[expected.elo]);
    }

    #[test]
    fn many_blocks_are_merged_without_loss() {
        let mut many = vec![];
        for copy in 0..200 {
            many.extend(
                matches()
                    .into_iter()
                    .map(|played| ScoredMatch { block: played.block + 1000 * copy, ..played }),
            );
        }
        let scores = scores(&many);
        assert!(scores.groups.iter().all(|groups| groups.len() == MAX_GROUPS));
        assert_eq!(scores.totals().means(), super::tests::scores(&matches()).totals().means());
    }

    #[test]
    fn pairs_are_numbered() {
        let mut numbers = vec![];
        for second in 1..7 {
            for first in 0..second {
                let found = comparison(pair(first, second), Met { n: 1.0, ..Met::default() }, 0);
                assert_eq!((found.first, found.second), (first, second));
                numbers.push(pair(first, second));
            }
        }
        assert_eq!(numbers, (0..21).collect::<Vec<u32>>());
    }
}
