//! Who is stronger, by how much, and how sure one may be.
//!
//! A player's mean is the mean over the games it played, each game weighing the
//! same however many matches it had; a game's mean is likewise the mean over its
//! clocks. Matches that scored nobody are listed apart. Intervals are explained
//! in [`bootstrap`](crate::bootstrap).

use std::fmt;
use std::path::Path;

use polars::prelude::{
    DataFrame, IntoLazy, JoinArgs, JoinType, PolarsError, SortMultipleOptions, col, df, len,
};
use serde::Serialize;

use crate::bootstrap::{Bootstrap, Clusters, Total, percentile_interval};
use crate::evidence::{Clock, Evidence};
use crate::files;
use crate::journal::JournalError;
use crate::record::{FaultKind, GoalFlag, Header};

/// Blocks below which an interval is said to be rough.
pub const FEW_BLOCKS: u64 = 10;

/// Why there are no standings. Messages fit after "failed to".
#[derive(Debug, thiserror::Error)]
pub enum StandingsError {
    /// The journal cannot be read.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A query failed: a fault of ours, or too little memory.
    #[error("compute the standings")]
    Query(#[from] PolarsError),
}

/// What a run shows. No number in it is infinite or undefined.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Standings {
    /// What the journal is of.
    #[serde(skip)]
    pub header: Header,
    /// Version of the program that began the run.
    pub gamemaster_version: String,
    /// Hash of the completed spec.
    pub spec_hash: String,
    /// What the program that played it says about how the run was set up.
    pub notes: Vec<String>,
    /// Matches that count.
    pub n_matches: u64,
    /// Those that were scored.
    pub n_scored: u64,
    /// Blocks with a scored match.
    pub n_blocks: u64,
    /// Blocks with fewer scored matches than others of the same game.
    pub n_incomplete_blocks: u64,
    /// Bytes of a half-written last line, which does not count.
    pub half_written_bytes: u64,
    /// Number of resamples of each interval.
    pub n_resamples: usize,
    /// Share of resamples within each interval.
    pub level: f64,
    /// The games, by name.
    pub games: Vec<String>,
    /// What bounded thinking, in words.
    pub clocks: Vec<String>,
    /// All players, the best first.
    pub players: Vec<PlayerStanding>,
    /// By game, then player in the order of `players`, over all clocks.
    pub by_game: Vec<GameStanding>,
    /// By game, role, then player, over all clocks.
    pub by_role: Vec<RoleStanding>,
    /// By clock, then player, over all games.
    pub by_clock: Vec<ClockStanding>,
    /// By player, then opponent.
    pub cross_table: Vec<Encounter>,
    /// By game, then role: the mean reward whoever played it.
    pub balance: Vec<RoleBalance>,
    /// By player, then kind; only faults that occurred.
    pub faults: Vec<FaultCount>,
    /// By player; empty if times are no part of the run's results.
    pub timing: Vec<Timing>,
    /// Matches that scored nobody.
    pub unscored: Vec<Unscored>,
    /// Odd goals, by game.
    pub goal_flags: Vec<GoalFlagCount>,
}

/// A mean reward and how sure it is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Estimate {
    /// Points; `None` without matches.
    pub mean: Option<f64>,
    /// The bootstrap interval; `None` if some game has fewer than two blocks.
    pub interval: Option<[f64; 2]>,
    /// Scored matches.
    pub n_matches: u64,
    /// Blocks they belong to.
    pub n_blocks: u64,
}

/// How a player did overall.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PlayerStanding {
    /// The player.
    pub player: String,
    /// Games it was scored in.
    pub n_games: u64,
    /// Mean over these games.
    #[serde(flatten)]
    pub reward: Estimate,
    /// The leader's mean less this player's; `None` for the leader, and for who
    /// played none of its games.
    pub behind: Option<Difference>,
    /// Faults, of all kinds.
    pub n_faults: u64,
}

/// How far the leader is ahead, over the games that both played.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Difference {
    /// Points.
    pub mean: f64,
    /// The bootstrap interval; `None` if some game has fewer than two blocks.
    /// Blocks in which both played are drawn as one.
    pub interval: Option<[f64; 2]>,
    /// Games that both played.
    pub n_games: u64,
    /// Blocks in which either played.
    pub n_blocks: u64,
}

/// How a player did at one game.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GameStanding {
    /// The game.
    pub game: String,
    /// The player.
    pub player: String,
    /// Mean over its clocks.
    #[serde(flatten)]
    pub reward: Estimate,
}

/// How a player did in one role.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoleStanding {
    /// The game.
    pub game: String,
    /// The role.
    pub role: String,
    /// The player.
    pub player: String,
    /// Mean over its clocks.
    #[serde(flatten)]
    pub reward: Estimate,
}

/// How a player did under one clock.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ClockStanding {
    /// The clock, in words.
    pub clock: String,
    /// The player.
    pub player: String,
    /// Mean over its games.
    #[serde(flatten)]
    pub reward: Estimate,
}

/// How a player did in the matches with another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Encounter {
    /// The player.
    pub player: String,
    /// The other.
    pub opponent: String,
    /// Mean reward of `player`, each match weighing the same.
    pub mean: f64,
    /// Matches in which both played.
    pub n_matches: u64,
}

/// What a role is worth.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RoleBalance {
    /// The game.
    pub game: String,
    /// The role.
    pub role: String,
    /// Mean reward of whoever played it.
    pub mean: f64,
    /// Scored matches.
    pub n_matches: u64,
}

/// How often a player committed a fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultCount {
    /// The player.
    pub player: String,
    /// The kind.
    pub kind: FaultKind,
    /// How often, in all matches, scored or not.
    pub n: u64,
}

/// How long a player thought, milliseconds, in all matches, over moves with a
/// choice. Quantiles are within 0.4 %.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timing {
    /// The player.
    pub player: String,
    /// Moves with a choice.
    pub n_choices: u64,
    /// Median.
    pub think_ms_p50: Option<f64>,
    /// 95 % took no longer.
    pub think_ms_p95: Option<f64>,
    /// 99 % took no longer.
    pub think_ms_p99: Option<f64>,
    /// The longest.
    pub think_ms_max: Option<f64>,
    /// Moves, with a choice or not, that took longer than the play clock.
    pub n_overruns: u64,
    /// The longest time beyond the play clock.
    pub overrun_ms_max: f64,
}

/// Matches of a game that scored nobody.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unscored {
    /// The game.
    pub game: String,
    /// How they ended: `step_limit`, `aborted` or `game_error`.
    pub ending: String,
    /// Why, in words.
    pub reason: String,
    /// How many.
    pub n: u64,
}

/// Odd goals of a game.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct GoalFlagCount {
    /// The game.
    pub game: String,
    /// What was odd.
    pub flag: GoalFlag,
    /// How often, counting each role.
    pub n: u64,
}

/// Computes the standings of the run in folder `run` from its journal.
///
/// # Errors
/// If the journal cannot be read or is damaged.
pub fn standings(run: &Path, bootstrap: &Bootstrap) -> Result<Standings, StandingsError> {
    let evidence = Evidence::read(&run.join(files::JOURNAL))?;
    Ok(compute(evidence, bootstrap)?)
}

fn compute(mut evidence: Evidence, bootstrap: &Bootstrap) -> Result<Standings, PolarsError> {
    let frame = frame(&mut evidence)?;
    let cells = cells(&frame)?;
    let (n_blocks, n_incomplete_blocks) = count_blocks(&frame)?;
    let records = strata(&cells, &evidence);
    let sampled: Vec<Vec<Sampled>> =
        records.iter().map(|strata| sample(strata, bootstrap)).collect();
    let order = order(&evidence, &sampled);
    Ok(Standings {
        gamemaster_version: evidence.header.gamemaster_version.clone(),
        spec_hash: evidence.header.spec_hash.clone(),
        notes: evidence.header.notes.clone(),
        n_matches: evidence.n_matches,
        n_scored: evidence.n_scored,
        n_blocks,
        n_incomplete_blocks,
        half_written_bytes: evidence.half_written,
        n_resamples: bootstrap.n_resamples,
        level: bootstrap.level,
        games: evidence.games.clone(),
        clocks: evidence.clocks.iter().map(Clock::to_string).collect(),
        players: players(&evidence, &records, &sampled, &order, bootstrap),
        by_game: by_game(&evidence, &sampled, &order, bootstrap),
        by_role: by_role(&evidence, &sampled, &order, bootstrap),
        by_clock: by_clock(&evidence, &sampled, &order, bootstrap),
        cross_table: cross_table(&frame, &evidence, &order)?,
        balance: balance(&frame, &evidence)?,
        faults: faults(&evidence, &order),
        timing: timing(&evidence, &order),
        unscored: unscored(&evidence),
        goal_flags: goal_flags(&evidence),
        header: evidence.header,
    })
}

/// The scored seats as a frame.
fn frame(evidence: &mut Evidence) -> Result<DataFrame, PolarsError> {
    let seats = std::mem::take(&mut evidence.seats);
    df!(
        "game" => seats.game,
        "clock" => seats.clock,
        "player" => seats.player,
        "block" => seats.block,
        "role" => seats.role,
        "reward" => seats.reward,
        "match" => seats.match_number,
    )
}

/// Blocks, and how many of them have fewer matches than others of their game.
/// Seats are counted instead, of which all matches of a game have as many.
fn count_blocks(frame: &DataFrame) -> Result<(u64, u64), PolarsError> {
    let keys = [col("game"), col("block")];
    let blocks = frame.clone().lazy().group_by(keys).agg([len().alias("n")]).collect()?;
    let most = col("n").max().over([col("game")])?;
    let incomplete = blocks.clone().lazy().filter(col("n").lt(most)).collect()?;
    Ok((blocks.height() as u64, incomplete.height() as u64))
}

/// The rewards of a player in one role in the matches of a block.
#[derive(Clone, Copy, Debug)]
struct Cell {
    player: u32,
    game: u32,
    clock: u32,
    block: u64,
    role: u32,
    total: Total,
}

/// Sums of rewards, ordered by player, game, clock, block and role.
fn cells(frame: &DataFrame) -> Result<Vec<Cell>, PolarsError> {
    let keys = ["player", "game", "clock", "block", "role"].map(col);
    let sums = frame
        .clone()
        .lazy()
        .group_by(keys)
        .agg([col("reward").sum().alias("sum"), len().alias("n")])
        .collect()?;
    let [player, game, clock, role, sum, n] =
        ["player", "game", "clock", "role", "sum", "n"].map(|name| integers(&sums, name));
    let block = sums.column("block")?.u64()?;
    let mut cells: Vec<Cell> = (player?.iter())
        .zip(game?.iter())
        .zip(clock?.iter())
        .zip(role?.iter())
        .zip(sum?.iter())
        .zip(n?.iter())
        .zip(block.into_no_null_iter())
        .map(|((((((&player, &game), &clock), &role), &sum), &n), block)| {
            let total = Total { sum: f64::from(sum), n: f64::from(n) };
            Cell { player, game, clock, block, role, total }
        })
        .collect();
    let key = |cell: &Cell| (cell.player, cell.game, cell.clock, cell.block, cell.role);
    cells.sort_unstable_by_key(key);
    Ok(cells)
}

fn integers(frame: &DataFrame, name: &str) -> Result<Vec<u32>, PolarsError> {
    Ok(frame.column(name)?.u32()?.into_no_null_iter().collect())
}

/// What one player did at one game under one clock.
#[derive(Clone, Debug)]
struct Stratum {
    game: u32,
    clock: u32,
    /// The player's cells, by block, then role.
    cells: Vec<Cell>,
}

/// The strata of each player, by game, then clock.
fn strata(cells: &[Cell], evidence: &Evidence) -> Vec<Vec<Stratum>> {
    let mut strata = vec![vec![]; evidence.players.len()];
    for cells in cells.chunk_by(|a, b| (a.player, a.game, a.clock) == (b.player, b.game, b.clock)) {
        let Cell { player, game, clock, .. } = cells[0];
        strata[player as usize].push(Stratum { game, clock, cells: cells.to_vec() });
    }
    strata
}

impl Stratum {
    /// Rewards by block, of the cells that `wanted` accepts.
    fn clusters(&self, wanted: impl Fn(&Cell) -> bool) -> Clusters {
        let mut clusters = Clusters::new(1);
        for cells in self.cells.chunk_by(|a, b| a.block == b.block) {
            let mut wanted = cells.iter().filter(|cell| wanted(cell)).peekable();
            if wanted.peek().is_some() {
                let block = &mut clusters.push()[0];
                wanted.for_each(|cell| block.add(cell.total));
            }
        }
        clusters
    }

    /// Rewards by block of this and another player's cells in the same stratum.
    fn clusters_with(&self, other: &Self) -> Clusters {
        let mut clusters = Clusters::new(2);
        let mut cells: Vec<(u64, usize, Total)> = vec![];
        cells.extend(self.cells.iter().map(|cell| (cell.block, 0, cell.total)));
        cells.extend(other.cells.iter().map(|cell| (cell.block, 1, cell.total)));
        cells.sort_by_key(|(block, ..)| *block);
        for cells in cells.chunk_by(|a, b| a.0 == b.0) {
            let block = clusters.push();
            cells.iter().for_each(|(_, column, total)| block[*column].add(*total));
        }
        clusters
    }

    fn n_blocks(&self) -> usize {
        self.cells.chunk_by(|a, b| a.block == b.block).count()
    }
}

/// A mean and its resamples, before it is summed up in an [`Estimate`].
#[derive(Clone, Debug)]
struct Sample {
    mean: f64,
    /// `None` if the mean's uncertainty is unknown.
    resamples: Option<Vec<f64>>,
    n_matches: u64,
    n_blocks: u64,
}

/// A [`Stratum`]'s samples.
#[derive(Clone, Debug)]
struct Sampled {
    game: u32,
    clock: u32,
    overall: Sample,
    /// By role, of those the player had.
    roles: Vec<(u32, Sample)>,
}

fn sample(strata: &[Stratum], bootstrap: &Bootstrap) -> Vec<Sampled> {
    let mut rng = bootstrap.rng();
    let mut of = |clusters: &Clusters| {
        let total = clusters.totals()[0];
        let mut means = Vec::with_capacity(bootstrap.n_resamples);
        let defined = clusters.resample(bootstrap, &mut rng, |totals| {
            means.extend(totals[0].mean());
            true
        });
        Sample {
            mean: total.mean().expect("a stratum has matches"),
            resamples: defined.then_some(means),
            n_matches: total.n as u64,
            n_blocks: clusters.n_blocks() as u64,
        }
    };
    let sampled = strata.iter().map(|stratum| {
        let mut roles: Vec<u32> = stratum.cells.iter().map(|cell| cell.role).collect();
        roles.sort_unstable();
        roles.dedup();
        Sampled {
            game: stratum.game,
            clock: stratum.clock,
            overall: of(&stratum.clusters(|_| true)),
            roles: (roles.into_iter())
                .map(|role| (role, of(&stratum.clusters(|cell| cell.role == role))))
                .collect(),
        }
    });
    sampled.collect()
}

/// The mean of means, each weighing the same. Samples of different strata are
/// independent, so that their resamples may be combined one by one.
fn average<'a>(samples: impl IntoIterator<Item = &'a Sample>) -> Option<Sample> {
    let mut samples = samples.into_iter();
    let mut average = samples.next()?.clone();
    let mut n = 1.0;
    for sample in samples {
        n += 1.0;
        average.mean += sample.mean;
        average.n_matches += sample.n_matches;
        average.n_blocks += sample.n_blocks;
        average.resamples =
            average.resamples.zip(sample.resamples.as_ref()).map(|(mut sums, b)| {
                sums.iter_mut().zip(b).for_each(|(sum, value)| *sum += value);
                sums
            });
    }
    average.mean /= n;
    average.resamples.iter_mut().flatten().for_each(|value| *value /= n);
    Some(average)
}

/// The mean over games of the means over clocks.
fn average_over_games(sampled: &[&Sampled]) -> Option<Sample> {
    let games: Vec<Sample> = sampled
        .chunk_by(|a, b| a.game == b.game)
        .filter_map(|strata| average(strata.iter().map(|stratum| &stratum.overall)))
        .collect();
    average(&games)
}

impl Sample {
    fn interval(&self, bootstrap: &Bootstrap) -> Option<[f64; 2]> {
        let interval = percentile_interval(self.resamples.as_ref()?, bootstrap.level)?;
        Some(interval.map(rounded))
    }
}

fn estimate(sample: Option<&Sample>, bootstrap: &Bootstrap) -> Estimate {
    sample.map_or_else(Estimate::default, |sample| Estimate {
        mean: Some(rounded(sample.mean)),
        interval: sample.interval(bootstrap),
        n_matches: sample.n_matches,
        n_blocks: sample.n_blocks,
    })
}

/// Four decimals, without the minus of a zero.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4 + 0.0
}

/// Players, the best first; those without a scored match last.
fn order(evidence: &Evidence, sampled: &[Vec<Sampled>]) -> Vec<usize> {
    let mean = |player: usize| {
        let strata: Vec<&Sampled> = sampled[player].iter().collect();
        average_over_games(&strata).map_or(f64::NEG_INFINITY, |sample| rounded(sample.mean))
    };
    let means: Vec<f64> = (0..evidence.players.len()).map(mean).collect();
    let mut order: Vec<usize> = (0..means.len()).collect();
    // The sort is stable and players are in the order of their names.
    order.sort_by(|&a, &b| means[b].total_cmp(&means[a]));
    order
}

fn players(
    evidence: &Evidence,
    records: &[Vec<Stratum>],
    sampled: &[Vec<Sampled>],
    order: &[usize],
    bootstrap: &Bootstrap,
) -> Vec<PlayerStanding> {
    let standing = |&player: &usize| {
        let strata: Vec<&Sampled> = sampled[player].iter().collect();
        let leader = order[0];
        PlayerStanding {
            player: evidence.players[player].clone(),
            n_games: strata.chunk_by(|a, b| a.game == b.game).count() as u64,
            reward: estimate(average_over_games(&strata).as_ref(), bootstrap),
            behind: (player != leader)
                .then(|| difference(&records[leader], &records[player], bootstrap))
                .flatten(),
            n_faults: evidence.conduct[player].faults.iter().sum(),
        }
    };
    order.iter().map(standing).collect()
}

/// The mean of `a` less that of `b`, over the games and clocks of both.
fn difference(a: &[Stratum], b: &[Stratum], bootstrap: &Bootstrap) -> Option<Difference> {
    let mut rng = bootstrap.rng();
    let sampled: Vec<Sampled> = a
        .iter()
        .filter_map(|a| {
            let b = b.iter().find(|b| (b.game, b.clock) == (a.game, a.clock))?;
            let clusters = a.clusters_with(b);
            let mut differences = Vec::with_capacity(bootstrap.n_resamples);
            let known = a.n_blocks() > 1 && b.n_blocks() > 1;
            let defined = known
                && clusters.resample(bootstrap, &mut rng, |totals| {
                    let difference = less(totals);
                    differences.extend(difference);
                    difference.is_some()
                });
            let overall = Sample {
                mean: less(&clusters.totals())?,
                resamples: defined.then_some(differences),
                n_matches: 0,
                n_blocks: clusters.n_blocks() as u64,
            };
            Some(Sampled { game: a.game, clock: a.clock, overall, roles: vec![] })
        })
        .collect();
    let strata: Vec<&Sampled> = sampled.iter().collect();
    let sample = average_over_games(&strata)?;
    Some(Difference {
        mean: rounded(sample.mean),
        interval: sample.interval(bootstrap),
        n_games: strata.chunk_by(|a, b| a.game == b.game).count() as u64,
        n_blocks: sample.n_blocks,
    })
}

fn less(totals: &[Total]) -> Option<f64> {
    Some(totals[0].mean()? - totals[1].mean()?)
}

fn by_game(
    evidence: &Evidence,
    sampled: &[Vec<Sampled>],
    order: &[usize],
    bootstrap: &Bootstrap,
) -> Vec<GameStanding> {
    let mut standings = vec![];
    for (game, name) in evidence.games.iter().enumerate() {
        for &player in order {
            let strata = sampled[player].iter().filter(|stratum| stratum.game as usize == game);
            if let Some(sample) = average(strata.map(|stratum| &stratum.overall)) {
                standings.push(GameStanding {
                    game: name.clone(),
                    player: evidence.players[player].clone(),
                    reward: estimate(Some(&sample), bootstrap),
                });
            }
        }
    }
    standings
}

fn by_role(
    evidence: &Evidence,
    sampled: &[Vec<Sampled>],
    order: &[usize],
    bootstrap: &Bootstrap,
) -> Vec<RoleStanding> {
    let mut standings = vec![];
    for (game, name) in evidence.games.iter().enumerate() {
        for (role, role_name) in evidence.roles[game].iter().enumerate() {
            for &player in order {
                let strata = sampled[player].iter().filter(|stratum| stratum.game as usize == game);
                let roles = strata.flat_map(|stratum| &stratum.roles);
                let samples = roles.filter(|(index, _)| *index as usize == role);
                if let Some(sample) = average(samples.map(|(_, sample)| sample)) {
                    standings.push(RoleStanding {
                        game: name.clone(),
                        role: role_name.clone(),
                        player: evidence.players[player].clone(),
                        reward: estimate(Some(&sample), bootstrap),
                    });
                }
            }
        }
    }
    standings
}

fn by_clock(
    evidence: &Evidence,
    sampled: &[Vec<Sampled>],
    order: &[usize],
    bootstrap: &Bootstrap,
) -> Vec<ClockStanding> {
    let mut standings = vec![];
    for (clock, words) in evidence.clocks.iter().enumerate() {
        for &player in order {
            let strata = sampled[player].iter().filter(|stratum| stratum.clock as usize == clock);
            if let Some(sample) = average(strata.map(|stratum| &stratum.overall)) {
                standings.push(ClockStanding {
                    clock: words.to_string(),
                    player: evidence.players[player].clone(),
                    reward: estimate(Some(&sample), bootstrap),
                });
            }
        }
    }
    standings
}

/// Every pair of different players in every match, in both directions.
fn cross_table(
    frame: &DataFrame,
    evidence: &Evidence,
    order: &[usize],
) -> Result<Vec<Encounter>, PolarsError> {
    let seats = frame.clone().lazy().select([col("match"), col("player"), col("reward")]);
    let opponents = frame.clone().lazy().select([col("match"), col("player").alias("opponent")]);
    let encounters = seats
        .join(opponents, [col("match")], [col("match")], JoinArgs::new(JoinType::Inner))
        .filter(col("player").neq(col("opponent")))
        .group_by([col("player"), col("opponent")])
        .agg([col("reward").mean(), len().alias("n")])
        .collect()?;
    let players = integers(&encounters, "player")?;
    let opponents = integers(&encounters, "opponent")?;
    let means: Vec<f64> = encounters.column("reward")?.f64()?.into_no_null_iter().collect();
    let n = integers(&encounters, "n")?;
    let place = |player: u32| order.iter().position(|&other| other == player as usize);
    let mut rows: Vec<usize> = (0..encounters.height()).collect();
    rows.sort_unstable_by_key(|&row| (place(players[row]), place(opponents[row])));
    let name = |player: u32| evidence.players[player as usize].clone();
    let encounter = |row: usize| Encounter {
        player: name(players[row]),
        opponent: name(opponents[row]),
        mean: rounded(means[row]),
        n_matches: n[row].into(),
    };
    Ok(rows.into_iter().map(encounter).collect())
}

fn balance(frame: &DataFrame, evidence: &Evidence) -> Result<Vec<RoleBalance>, PolarsError> {
    let roles = frame
        .clone()
        .lazy()
        .group_by([col("game"), col("role")])
        .agg([col("reward").mean(), len().alias("n")])
        .sort(["game", "role"], SortMultipleOptions::default())
        .collect()?;
    let games = integers(&roles, "game")?;
    let indices = integers(&roles, "role")?;
    let means: Vec<f64> = roles.column("reward")?.f64()?.into_no_null_iter().collect();
    let n = integers(&roles, "n")?;
    let balance = (0..roles.height()).map(|row| {
        let game = games[row] as usize;
        RoleBalance {
            game: evidence.games[game].clone(),
            role: evidence.roles[game][indices[row] as usize].clone(),
            mean: rounded(means[row]),
            n_matches: n[row].into(),
        }
    });
    Ok(balance.collect())
}

fn faults(evidence: &Evidence, order: &[usize]) -> Vec<FaultCount> {
    let mut faults = vec![];
    for &player in order {
        for (kind, &n) in FaultKind::ALL.into_iter().zip(&evidence.conduct[player].faults) {
            if n > 0 {
                faults.push(FaultCount { player: evidence.players[player].clone(), kind, n });
            }
        }
    }
    faults
}

fn timing(evidence: &Evidence, order: &[usize]) -> Vec<Timing> {
    if !evidence.header.timings {
        return vec![];
    }
    let timing = |&player: &usize| {
        let conduct = &evidence.conduct[player];
        let quantile = |q| conduct.think_us.quantile(q).map(milliseconds);
        Timing {
            player: evidence.players[player].clone(),
            n_choices: conduct.think_us.n(),
            think_ms_p50: quantile(0.5),
            think_ms_p95: quantile(0.95),
            think_ms_p99: quantile(0.99),
            think_ms_max: conduct.think_us.max().map(milliseconds),
            n_overruns: conduct.n_overruns,
            overrun_ms_max: milliseconds(conduct.max_overrun_us),
        }
    };
    order.iter().map(timing).collect()
}

fn milliseconds(us: u64) -> f64 {
    us as f64 / 1000.0
}

fn unscored(evidence: &Evidence) -> Vec<Unscored> {
    let unscored = evidence.unscored.iter().map(|((game, ending, reason), &n)| Unscored {
        game: game.clone(),
        ending: (*ending).to_owned(),
        reason: reason.clone(),
        n,
    });
    unscored.collect()
}

fn goal_flags(evidence: &Evidence) -> Vec<GoalFlagCount> {
    let flags = evidence.goal_flags.iter();
    flags.map(|((game, flag), &n)| GoalFlagCount { game: game.clone(), flag: *flag, n }).collect()
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = |ms: u64| {
            if ms.is_multiple_of(1000) { format!("{} s", ms / 1000) } else { format!("{ms} ms") }
        };
        match self.nodes {
            Some(nodes) => write!(f, "{nodes} nodes a move"),
            None => {
                write!(f, "start {}, play {}", time(self.start_clock_ms), time(self.play_clock_ms))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::record::{Ending, MatchRecord};
    use crate::sample;

    fn standings_of(records: &[MatchRecord]) -> Standings {
        let run = sample::run(true, records);
        let bootstrap = Bootstrap { n_resamples: 200, ..Bootstrap::default() };
        standings(run.path(), &bootstrap).unwrap()
    }

    fn means(standings: &Standings) -> Vec<(&str, Option<f64>)> {
        let players = standings.players.iter();
        players.map(|standing| (standing.player.as_str(), standing.reward.mean)).collect()
    }

    /// A block of two matches, one for each seating.
    fn block(
        number: u64,
        game: &str,
        players: [&str; 2],
        rewards: [[u8; 2]; 2],
    ) -> [MatchRecord; 2] {
        let [first, second] = players;
        [
            sample::record(2 * number, game, [first, second], rewards[0]),
            sample::record(2 * number + 1, game, [second, first], rewards[1]),
        ]
    }

    #[test]
    fn games_weigh_the_same() {
        let mut records = vec![];
        for number in 0..3 {
            records.extend(block(number, "often", ["a", "b"], [[100, 0], [0, 100]]));
        }
        records.extend(block(3, "once", ["a", "b"], [[0, 100], [50, 50]]));
        // The means of a are 100 at the one and 25 at the other.
        let standings = standings_of(&records);
        assert_eq!(means(&standings), [("a", Some(62.5)), ("b", Some(37.5))]);
        let behind = standings.players[1].behind.as_ref().unwrap();
        assert_eq!((behind.mean, behind.n_games, behind.n_blocks), (25.0, 2, 4));
        assert_eq!(behind.interval, None, "one block of a game is no evidence");
        assert_eq!(standings.players[0].reward.interval, None);
        let often = &standings.by_game[0];
        assert_eq!((often.game.as_str(), often.reward.interval), ("often", Some([100.0, 100.0])));
    }

    #[test]
    fn differences_of_six_blocks() {
        // Differences 50, -50, 100, 0, 0, 10, whose full bootstrap is known.
        let rewards = [[75, 25], [25, 75], [100, 0], [50, 50], [40, 40], [55, 45]];
        let mut records = vec![];
        for (number, [a, b]) in rewards.into_iter().enumerate() {
            records.extend(block(number as u64, "game", ["a", "b"], [[a, b], [b, a]]));
        }
        let run = sample::run(true, &records);
        let standings = standings(run.path(), &Bootstrap::default()).unwrap();
        let behind = standings.players[1].behind.as_ref().unwrap();
        let [low, high] = behind.interval.unwrap();
        assert_eq!((behind.mean, behind.n_blocks), (18.3333, 6));
        assert!((low + 16.667).abs() < 2.0 && (high - 58.333).abs() < 2.0, "{low} {high}");
    }

    #[test]
    fn matches_that_scored_nobody_count_for_nobody() {
        let mut records: Vec<MatchRecord> = sample::records();
        let standings = standings_of(&records);
        assert_eq!((standings.n_matches, standings.n_scored), (36, 33));
        assert_eq!(standings.n_incomplete_blocks, 3);
        assert_eq!(standings.unscored.len(), 3);
        records.retain(|record| record.ending == Ending::Terminal);
        let scored = standings_of(&records);
        assert_eq!(scored.by_game, standings.by_game);
        assert_eq!(scored.cross_table, standings.cross_table);
    }

    #[test]
    fn who_was_never_scored_is_listed_last() {
        let mut records = sample::records();
        let mut record = sample::record(36, "ticTacToe", ["aardvark", "alpha"], [0, 0]);
        record.ending = Ending::StepLimit;
        records.push(record);
        let standings = standings_of(&records);
        let last = standings.players.last().unwrap();
        assert_eq!((last.player.as_str(), &last.reward), ("aardvark", &Estimate::default()));
        assert_eq!((last.n_games, last.behind.as_ref()), (0, None));
    }

    #[test]
    fn the_role_random_is_no_player() {
        let records: Vec<MatchRecord> =
            (0..4).map(|job| sample::record_with_chance(job, "alpha", 70)).collect();
        let standings = standings_of(&records);
        assert_eq!(means(&standings), [("alpha", Some(70.0))]);
        assert_eq!(standings.balance.len(), 1);
        assert!(standings.cross_table.is_empty());
        // A player may have that name.
        let records: Vec<MatchRecord> =
            (0..4).map(|job| sample::record_with_chance(job, "random", 70)).collect();
        assert_eq!(means(&standings_of(&records)), [("random", Some(70.0))]);
    }

    #[test]
    fn players_of_other_games_are_compared_where_both_played() {
        let mut records = vec![];
        for number in 0..4 {
            records.extend(block(number, "x", ["a", "b"], [[60, 40], [50, 50]]));
            records.extend(block(number + 4, "y", ["a", "c"], [[100, 0], [0, 100]]));
            records.extend(block(number + 8, "z", ["d", "e"], [[10, 0], [0, 10]]));
        }
        let standings = standings_of(&records);
        let row = |name: &str| {
            let row = standings.players.iter().find(|row| row.player == name).unwrap();
            (row.n_games, row.behind.as_ref().map(|behind| (behind.mean, behind.n_games)))
        };
        assert_eq!(row("a"), (2, None));
        assert_eq!(row("b"), (1, Some((10.0, 1))));
        assert_eq!(row("c"), (1, Some((100.0, 1))));
        assert_eq!(row("d"), (1, None));
    }

    #[test]
    fn clocks_are_tournaments_of_their_own() {
        let mut records = vec![];
        for number in 0..4 {
            records.extend(block(number, "x", ["a", "b"], [[100, 0], [0, 100]]));
            let slow = block(number + 4, "x", ["a", "b"], [[50, 50], [50, 50]]);
            records.extend(slow.map(|record| MatchRecord { play_clock_ms: 2500, ..record }));
        }
        let standings = standings_of(&records);
        assert_eq!(standings.clocks, ["start 10 s, play 1 s", "start 10 s, play 2500 ms"]);
        assert_eq!(means(&standings), [("a", Some(75.0)), ("b", Some(25.0))]);
        let by_clock: Vec<_> =
            standings.by_clock.iter().map(|row| (row.player.as_str(), row.reward.mean)).collect();
        let expected = [("a", 100.0), ("b", 0.0), ("a", 50.0), ("b", 50.0)];
        assert_eq!(by_clock, expected.map(|(player, mean)| (player, Some(mean))));
    }

    #[test]
    fn later_attempts_replace_aborted_ones() {
        let records = sample::records();
        let expected = standings_of(&records);
        let mut others = vec![];
        for record in &records {
            let ending = Ending::Aborted { reason: "interrupted".into() };
            others.push(MatchRecord { ending, ..record.clone() });
            others.push(MatchRecord { attempt: 2, ..record.clone() });
        }
        assert_eq!(standings_of(&others), expected);
    }

    #[test]
    fn an_empty_run_has_no_players() {
        let standings = standings_of(&[]);
        assert_eq!((standings.n_matches, standings.players.len()), (0, 0));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(12))]

        #[test]
        fn any_order_of_records_gives_the_same(
            records in Just(sample::records()).prop_shuffle(),
        ) {
            prop_assert_eq!(standings_of(&records), standings_of(&sample::records()));
        }

        #[test]
        fn every_player_is_listed_with_numbers_that_are_numbers(
            matches in prop::collection::vec((0..4u8, 0..4u8, 0..=100u8, 0..=100u8, 0..3u8), 1..20),
        ) {
            let names = ["a", "b", "c", "d"];
            let mut records = vec![];
            for (job, (a, b, x, y, game)) in matches.into_iter().enumerate() {
                let players = [names[a as usize], names[b as usize]];
                records.push(sample::record(job as u64, names[game as usize], players, [x, y]));
            }
            let standings = standings_of(&records);
            for name in records.iter().flat_map(|record| &record.seats).map(|seat| &seat.player) {
                prop_assert!(standings.players.iter().any(|row| row.player == *name));
            }
            for row in &standings.players {
                let mean = row.reward.mean.unwrap();
                prop_assert!((0.0..=100.0).contains(&mean));
                if let Some([low, high]) = row.reward.interval {
                    prop_assert!(low <= high && (0.0..=100.0).contains(&low) && high <= 100.0);
                }
                if let Some(behind) = &row.behind {
                    prop_assert!((-100.0..=100.0).contains(&behind.mean));
                }
            }
            let json = serde_json::to_string(&standings).unwrap();
            prop_assert!(!json.contains("NaN") && !json.contains("inf"));
        }
    }
}
