//! Two runs side by side: what changed from the first to the second.
//!
//! A block of one run and one of the other are the same experiment if game,
//! clock, players and lap are the same. A player's difference in such a pair is
//! its mean reward in the second run less that in the first; what seed,
//! opponents and seats do to both cancels, the more so if the seeds are equal.
//! Means, intervals and tests are those of [`stats`](crate::stats) over these
//! pairs.

mod side;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::histogram::Histogram;
use crate::journal::JournalError;
use crate::record::Clock;
use crate::stats::block::{BlockScore, Difference};
use crate::stats::bootstrap::Bootstrap;
use crate::stats::fault_gate::{FaultyMatches, different_faults};
use crate::stats::holm::holm;
use crate::stats::mean::mean_difference;
use crate::stats::scored::Stratum;
use crate::stats::sign_flip::sign_flip;
use side::{Block, BlockKey, Side, Sitting};

/// Assignments of signs drawn where there are too many to try all.
const N_DRAWS: u32 = 10_000;

/// The comparison of two runs. Pairs are of the first run and the second; differences are
/// those of the second less the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// Level of the intervals.
    pub level: f64,
    /// The runs.
    pub runs: [ComparedRun; 2],
    /// Blocks that both played, and which give at least one difference.
    pub n_common_blocks: u64,
    /// Of those, the ones played with the same seed in both runs.
    pub n_same_seed: u64,
    /// Blocks that both began, but not so that they can be compared: matches are
    /// missing or unscored, or seats were taken otherwise.
    pub n_incomplete: u64,
    /// Players of both runs, by name.
    pub players: Vec<PlayerChange>,
    /// The same for each game.
    pub by_game: Vec<GameChange>,
    /// Games of which some player has a single common block under a clock: intervals
    /// treat them as exact.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exact_games: Vec<String>,
    /// Games that were not compared since their rulesheets differ.
    pub changed_games: Vec<String>,
    /// Games that were compared although their clocks differ.
    pub changed_budgets: Vec<ChangedBudget>,
}

/// One of the two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedRun {
    /// Its folder, as named.
    pub folder: String,
    /// Matches that count.
    pub n_matches: u64,
    /// Blocks that the other run did not play.
    pub n_own_blocks: u64,
    /// Players that the other run has not.
    pub own_players: Vec<String>,
    /// Games that the other run has not.
    pub own_games: Vec<String>,
}

/// A game with one budget in the first run and another in the second.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedBudget {
    /// The game.
    pub game: String,
    /// The clocks, in words.
    pub budgets: [String; 2],
}

/// What changed for one player.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayerChange {
    /// The player's id, the same in both runs.
    pub player: String,
    /// Its configuration differs.
    pub changed: bool,
    /// Its rewards over the common blocks.
    pub reward: Change,
    /// How often chance alone gives such a difference (sign-flip test).
    pub p_value: f64,
    /// The same after Holm's correction for all players.
    pub p_holm: f64,
    /// Games with common blocks.
    pub n_games: u64,
    /// Its matches in the common blocks, and those with a fault of its own.
    pub matches: [u64; 2],
    /// See `matches`.
    pub faulty_matches: [u64; 2],
    /// How often chance alone makes faults differ so (Fisher's exact test);
    /// `None` without faults.
    pub faults_p_value: Option<f64>,
    /// Think times of choices at the common games, milliseconds, medians; `None`
    /// if a run's budgets are counted in nodes.
    pub think_ms_p50: Option<[f64; 2]>,
    /// The same, 95th percentiles.
    pub think_ms_p95: Option<[f64; 2]>,
}

/// What changed for one player at one game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GameChange {
    /// The game.
    pub game: String,
    /// The player.
    pub player: String,
    /// Its rewards over the common blocks.
    pub reward: Change,
}

/// A player's mean rewards in both runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// Mean rewards; games weigh the same, clocks the same within a game.
    pub means: [f64; 2],
    /// The second less the first.
    pub difference: f64,
    /// The interval of the difference; `None` if every game has a single block.
    pub interval: Option<[f64; 2]>,
    /// Common blocks.
    pub n_blocks: u64,
    /// Of those, the ones in which the player got the same in both runs.
    pub n_equal: u64,
}

/// Why two runs cannot be compared.
#[derive(Debug, thiserror::Error)]
pub enum ComparisonError {
    /// A journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// There is no match to compare.
    #[error("nothing to compare: the journal of {} holds no match yet", run.display())]
    Empty {
        /// The folder.
        run: PathBuf,
    },
    /// No block was played by both.
    #[error("the runs have no complete block in common: {why}")]
    NothingCommon {
        /// The reason, as text.
        why: String,
    },
}

/// Compares the runs in two folders, by their journals alone.
///
/// # Errors
/// If a journal cannot be read or is empty, or the runs have nothing in common.
pub fn compare(runs: [&Path; 2], bootstrap: &Bootstrap) -> Result<Comparison, ComparisonError> {
    let [first, second] = std::thread::scope(|scope| {
        let readers = runs.map(|run| scope.spawn(|| Side::read(run)));
        readers.map(|reader| reader.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    });
    let mut sides = [first?, second?];
    for (side, run) in sides.iter().zip(runs) {
        if side.n_matches == 0 {
            return Err(ComparisonError::Empty { run: run.to_owned() });
        }
    }
    let changed_budgets = same_clocks(&mut sides);
    let changed_games = changed_games(&sides);
    let pairs = Pairs::of(&sides, &changed_games);
    if pairs.n_common == 0 {
        let why = why_nothing(&sides, &changed_games, pairs.n_incomplete);
        return Err(ComparisonError::NothingCommon { why });
    }
    let mut players: Vec<PlayerChange> = pairs
        .players
        .iter()
        .map(|(player, pairs)| pairs.change(player, &sides, bootstrap))
        .collect();
    let p_values: Vec<f64> = players.iter().map(|player| player.p_value).collect();
    for (player, p_holm) in players.iter_mut().zip(holm(&p_values)) {
        player.p_holm = p_holm;
    }
    let by_game = pairs.players.iter().flat_map(|(player, pairs)| pairs.by_game(player, bootstrap));
    let mut by_game: Vec<GameChange> = by_game.collect();
    by_game.sort_by(|a, b| (&a.game, &a.player).cmp(&(&b.game, &b.player)));
    let run = |at: usize| ComparedRun {
        folder: runs[at].display().to_string(),
        n_matches: sides[at].n_matches,
        n_own_blocks: own(&sides[at].blocks, &sides[1 - at].blocks).count() as u64,
        own_players: own(&sides[at].players, &sides[1 - at].players)
            .map(ToString::to_string)
            .collect(),
        own_games: own(&sides[at].games, &sides[1 - at].games).map(ToString::to_string).collect(),
    };
    Ok(Comparison {
        level: bootstrap.level,
        runs: [run(0), run(1)],
        n_common_blocks: pairs.n_common,
        n_same_seed: pairs.n_same_seed,
        n_incomplete: pairs.n_incomplete,
        players,
        by_game,
        exact_games: pairs.exact_games(),
        changed_games: changed_games.iter().map(ToString::to_string).collect(),
        changed_budgets: changed_budgets
            .into_iter()
            .filter(|changed| by_game_has(&pairs, &changed.game))
            .collect(),
    })
}

fn by_game_has(pairs: &Pairs, game: &str) -> bool {
    pairs.players.values().any(|pairs| pairs.blocks.iter().any(|b| b.score.stratum.game == game))
}

/// The keys of `these` that `those` have not.
fn own<'a, K: Ord, V, W>(
    these: &'a BTreeMap<K, V>,
    those: &'a BTreeMap<K, W>,
) -> impl Iterator<Item = &'a K> {
    these.keys().filter(|key| !those.contains_key(key))
}

/// Gives games that were played under one clock in each run, but not under the
/// same, the clock of the first.
fn same_clocks(sides: &mut [Side; 2]) -> Vec<ChangedBudget> {
    let mut changed = Vec::new();
    let games: Vec<Arc<str>> = sides[0].games.keys().cloned().collect();
    for game in games {
        let clocks = [0, 1].map(|at: usize| sides[at].clocks(&game));
        let single =
            |clocks: &BTreeSet<Clock>| clocks.first().copied().filter(|_| clocks.len() == 1);
        let (Some(first), Some(second)) = (single(&clocks[0]), single(&clocks[1])) else {
            continue;
        };
        if first == second {
            continue;
        }
        let blocks = std::mem::take(&mut sides[1].blocks);
        let renamed = blocks.into_iter().map(|(key, block)| {
            let clock = if key.game == game { first } else { key.clock };
            (BlockKey { clock, ..key }, block)
        });
        sides[1].blocks = renamed.collect();
        let clocks = [first.to_string(), second.to_string()];
        changed.push(ChangedBudget { game: game.to_string(), budgets: clocks });
    }
    changed
}

fn changed_games(sides: &[Side; 2]) -> BTreeSet<Arc<str>> {
    let [first, second] = sides;
    let is_changed = |(game, hashes): &(&Arc<str>, &BTreeSet<String>)| {
        second.games.get(*game).is_some_and(|others| others != *hashes)
    };
    first.games.iter().filter(is_changed).map(|(game, _)| Arc::clone(game)).collect()
}

fn why_nothing(sides: &[Side; 2], changed: &BTreeSet<Arc<str>>, n_incomplete: u64) -> String {
    let [first, second] = sides;
    let games: Vec<&Arc<str>> =
        first.games.keys().filter(|game| second.games.contains_key(*game)).collect();
    let has_common_player = first.players.keys().any(|player| second.players.contains_key(player));
    if games.is_empty() {
        "they share no game".to_owned()
    } else if games.iter().all(|game| changed.contains(*game)) {
        "the rulesheets of the games they share differ".to_owned()
    } else if !has_common_player {
        "they share no player".to_owned()
    } else if n_incomplete > 0 {
        format!("common blocks are incomplete in one of them ({n_incomplete})")
    } else {
        "their common players met different opponents, or had different budgets".to_owned()
    }
}

/// The common blocks.
#[derive(Default)]
struct Pairs {
    n_common: u64,
    n_same_seed: u64,
    n_incomplete: u64,
    players: BTreeMap<Arc<str>, PlayerPairs>,
}

/// Those of one player.
#[derive(Default)]
struct PlayerPairs {
    blocks: Vec<Pair>,
    conduct: [FaultyMatches; 2],
}

/// What a player got in one block of both runs.
struct Pair {
    score: BlockScore,
    means: [f64; 2],
}

impl Pairs {
    fn of(sides: &[Side; 2], changed: &BTreeSet<Arc<str>>) -> Self {
        let mut pairs = Self::default();
        let mut strata: BTreeMap<(&str, Clock), Arc<Stratum>> = BTreeMap::new();
        for (key, first) in &sides[0].blocks {
            let Some(second) = sides[1].blocks.get(key) else { continue };
            if changed.contains(&key.game) {
                continue;
            }
            let stratum =
                strata.entry((&key.game, key.clock)).or_insert_with(|| Arc::new(stratum(key)));
            let mut is_common = false;
            for player in key.players.iter().collect::<BTreeSet<_>>() {
                let Some(pair) = pair(key, stratum, player, [first, second]) else { continue };
                is_common = true;
                let entry = pairs.players.entry(Arc::clone(player)).or_default();
                for (conduct, block) in entry.conduct.iter_mut().zip([first, second]) {
                    for sitting in sittings(block, player) {
                        conduct.all += 1;
                        conduct.faulty += u64::from(sitting.faulty);
                    }
                }
                entry.blocks.push(pair);
            }
            pairs.n_common += u64::from(is_common);
            pairs.n_incomplete += u64::from(!is_common);
            pairs.n_same_seed += u64::from(is_common && first.seed == second.seed);
        }
        pairs
    }

    /// Games with a stratum that gave some player a single pair of blocks.
    fn exact_games(&self) -> Vec<String> {
        let mut single = BTreeSet::new();
        for player in self.players.values() {
            let mut strata: BTreeMap<&Stratum, u64> = BTreeMap::new();
            for pair in &player.blocks {
                *strata.entry(&pair.score.stratum).or_default() += 1;
            }
            let of_one = strata.into_iter().filter(|(_, n_blocks)| *n_blocks == 1);
            single.extend(of_one.map(|(stratum, _)| stratum.game.clone()));
        }
        single.into_iter().collect()
    }
}

fn sittings<'a>(block: &'a Block, player: &'a str) -> impl Iterator<Item = &'a Sitting> {
    block.sittings.iter().filter(move |sitting| &*sitting.player == player)
}

fn stratum(key: &BlockKey) -> Stratum {
    Stratum { game: key.game.to_string(), clock: key.clock }
}

/// `None` unless all matches of the player scored it, in the same seats.
fn pair(key: &BlockKey, stratum: &Arc<Stratum>, player: &str, blocks: [&Block; 2]) -> Option<Pair> {
    let seats = |block: &Block| -> Option<(Vec<u32>, i64)> {
        let mut roles: Vec<u32> = sittings(block, player).map(|sitting| sitting.role).collect();
        roles.sort_unstable();
        let rewards: Option<Vec<u8>> =
            sittings(block, player).map(|sitting| sitting.reward).collect();
        Some((roles, rewards?.into_iter().map(i64::from).sum()))
    };
    let [(roles, first), (others, second)] = [seats(blocks[0])?, seats(blocks[1])?];
    if roles != others || roles.is_empty() {
        return None;
    }
    let n = i64::try_from(roles.len()).expect("a block has few matches");
    let score = BlockScore {
        block: blocks[0].number,
        lap: key.lap,
        stratum: Arc::clone(stratum),
        difference: Difference::new(second - first, n),
        n_matches: blocks[0].n_matches + blocks[1].n_matches,
    };
    Some(Pair { score, means: [first, second].map(|sum| sum as f64 / n as f64) })
}

impl PlayerPairs {
    fn change(&self, player: &str, sides: &[Side; 2], bootstrap: &Bootstrap) -> PlayerChange {
        let scores: Vec<BlockScore> = self.blocks.iter().map(|pair| pair.score.clone()).collect();
        let games: BTreeSet<&str> = scores.iter().map(|score| &*score.stratum.game).collect();
        let p_value = sign_flip(&scores, N_DRAWS, bootstrap.seed).two_sided;
        let [first, second] = self.conduct;
        let think_us = sides.each_ref().map(|side| think_us(side, player, &games));
        let is_timed = sides.iter().all(|side| side.header.timings);
        let quantile = |q: f64| {
            let [first, second] = think_us.each_ref().map(|times| times.quantile(q));
            let both = first.zip(second).filter(|_| is_timed);
            both.map(|(first, second)| [first, second].map(|us| us as f64 / 1000.0))
        };
        PlayerChange {
            player: player.to_owned(),
            changed: sides[0].players.get(player) != sides[1].players.get(player),
            reward: change(&self.blocks.iter().collect::<Vec<_>>(), bootstrap),
            p_value,
            p_holm: p_value,
            n_games: games.len() as u64,
            matches: [first.all, second.all],
            faulty_matches: [first.faulty, second.faulty],
            faults_p_value: (first.faulty + second.faulty > 0)
                .then(|| different_faults(first, second)),
            think_ms_p50: quantile(0.5),
            think_ms_p95: quantile(0.95),
        }
    }

    fn by_game(&self, player: &str, bootstrap: &Bootstrap) -> Vec<GameChange> {
        let mut games: BTreeMap<&str, Vec<&Pair>> = BTreeMap::new();
        for pair in &self.blocks {
            games.entry(&pair.score.stratum.game).or_default().push(pair);
        }
        let row = |(game, pairs): (&str, Vec<&Pair>)| GameChange {
            game: game.to_owned(),
            player: player.to_owned(),
            reward: change(&pairs, bootstrap),
        };
        games.into_iter().map(row).collect()
    }
}

fn think_us(side: &Side, player: &str, games: &BTreeSet<&str>) -> Histogram {
    let mut all = Histogram::default();
    for ((whose, game), times) in &side.think_us {
        if &**whose == player && games.contains(&**game) {
            all.merge(times);
        }
    }
    all
}

fn change(pairs: &[&Pair], bootstrap: &Bootstrap) -> Change {
    let scores: Vec<BlockScore> = pairs.iter().map(|pair| pair.score.clone()).collect();
    let found = mean_difference(&scores, bootstrap.level).expect("there is a pair");
    let weights = crate::stats::laps::weights(&scores);
    let mut strata: BTreeMap<&Stratum, (f64, f64)> = BTreeMap::new();
    for pair in pairs {
        let (sum, n) = strata.entry(&pair.score.stratum).or_default();
        *sum += pair.means[0];
        *n += 1.0;
    }
    let first: f64 = strata.iter().map(|(stratum, (sum, n))| weights[*stratum] * sum / n).sum();
    Change {
        means: [first, first + found.mean],
        difference: found.mean,
        interval: found.interval,
        n_blocks: pairs.len() as u64,
        n_equal: pairs.iter().filter(|pair| pair.score.difference == Difference::whole(0)).count()
            as u64,
    }
}
