//! What a role is worth, and who is better where: effects, each corrected for
//! the others.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::over_time::MoveBudget;
use super::ratings::{N_RESAMPLES, settled};
use crate::evidence::Evidence;
use crate::stats::bootstrap::{Bootstrap, random_groups};
use crate::stats::effects::{
    Cell, Effect, Effects, EffectsError, Interaction, Observation, Observations, effects,
    player_effects,
};
use crate::stats::rank_bootstrap::rank_distribution;
use crate::stats::scored::ScoredMatch;

/// If there are more blocks, they are merged at random into this many groups, which are
/// independent as well.
const MAX_CLUSTERS: usize = 2000;

/// Maximum number of effects that are estimated at once: the work grows with the third power.
const MAX_COLUMNS: usize = 400;

/// Maximum number of effects that are estimated anew for each resample.
const MAX_RESAMPLED_COLUMNS: usize = 150;

/// What rewards are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct SeatEffects {
    /// By game, clock and role: what a player of no effect gets there.
    pub seats: Vec<SeatEffect>,
    /// By player: points above the average player in the same seats.
    pub players: Vec<Option<Worth>>,
    /// By player: the probability that its effect is the greatest; `None` if
    /// resamples could not be rated.
    pub first: Option<Vec<f64>>,
    /// By player, then as `strata`: points above what its own and the seat's
    /// effects say; empty if there are too many to estimate.
    pub at_game: Vec<Vec<Worth>>,
    /// Games, and what players without time odds had for a move.
    pub strata: Vec<(String, MoveBudget)>,
    /// Standard deviation of what is left, points.
    pub residual_sd: f64,
    /// Share of the variance that is explained.
    pub r_squared: f64,
    /// Independent groups of matches.
    pub n_clusters: usize,
}

/// What a seat is worth.
#[derive(Clone, Debug, PartialEq)]
pub struct SeatEffect {
    /// The game.
    pub game: String,
    /// The clock, in words.
    pub clock: String,
    /// What players without time odds had for a move.
    pub budget: MoveBudget,
    /// The role.
    pub role: String,
    /// What a player of no effect gets there, points.
    pub effect: Worth,
}

/// An effect, within what is possible.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Worth {
    /// Points.
    pub points: f64,
    /// Robust standard error; `None` like the interval.
    pub standard_error: Option<f64>,
    /// The 95 % interval, cut to what is possible, which takes no possible value out
    /// of it; `None` for a game with a single block, which says nothing of its spread.
    pub interval: Option<[f64; 2]>,
}

impl Worth {
    /// `is_known` says whether there is more than one block.
    fn of(effect: Effect, is_known: bool) -> Self {
        Self {
            points: effect.points,
            standard_error: is_known.then_some(effect.standard_error),
            interval: is_known.then_some(effect.interval),
        }
    }
}

/// Explains the rewards of `matches`.
fn effects_of(
    matches: &[(ScoredMatch, u32)],
    players: &[Arc<str>],
    evidence: &Evidence,
    bootstrap: &Bootstrap,
) -> Result<SeatEffects, EffectsError> {
    let mut observations = Observations::of(matches);
    let is_known = have_several_blocks(&observations);
    merge_blocks(&mut observations);
    let (n_seats, n_players, n_games) =
        (observations.seats.len(), observations.players.len(), observations.games.len());
    let n_columns = n_seats + n_players;
    if n_columns > MAX_COLUMNS {
        return Err(EffectsError::TooFew);
    }
    let plain = effects(&observations, Interaction::None)?;
    let together = n_columns + n_players * n_games;
    let at_game = if n_games > 1 && n_players > 1 && together <= MAX_COLUMNS {
        effects(&observations, Interaction::Game).map(|found| found.interactions)
    } else {
        Ok(vec![])
    };
    let first =
        (n_columns <= MAX_RESAMPLED_COLUMNS).then(|| first(&observations, bootstrap)).flatten();
    let found = Found { plain, at_game: at_game.unwrap_or_default(), first, is_known };
    Ok(named(&observations, found, players, evidence))
}

/// By game and clock: whether it has more than one block.
fn have_several_blocks(observations: &Observations) -> Vec<bool> {
    let mut blocks: Vec<Option<u64>> = vec![None; observations.games.len()];
    let mut several = vec![false; observations.games.len()];
    for &Observation { game, block, .. } in &observations.rewards {
        several[game] |= *blocks[game].get_or_insert(block) != block;
    }
    several
}

/// What was found, by number of seat, player and game.
struct Found {
    plain: Effects,
    at_game: Vec<Vec<Effect>>,
    first: Option<Vec<f64>>,
    /// By game: whether there is more than one block.
    is_known: Vec<bool>,
}

/// What was won in a block, by player and seat.
type Cells = BTreeMap<(usize, usize), Cell>;

/// By number of the player, how often it adds most.
fn first(observations: &Observations, bootstrap: &Bootstrap) -> Option<Vec<f64>> {
    let mut games: BTreeMap<usize, BTreeMap<u64, Cells>> = BTreeMap::new();
    for &Observation { player, game, seat, reward, block, n } in &observations.rewards {
        let cells = games.entry(game).or_default().entry(block).or_default();
        let cell = cells.entry((player, seat)).or_default();
        *cell = Cell { player, seat, n: cell.n + n, sum: cell.sum + n * reward };
    }
    let (n_players, n_seats) = (observations.players.len(), observations.seats.len());
    let cells = |cells: Cells| cells.into_values().collect::<Vec<Cell>>();
    let strata: Vec<Vec<Vec<Cell>>> =
        games.into_values().map(|blocks| blocks.into_values().map(cells).collect()).collect();
    if n_players < 2 {
        return None;
    }
    let few = Bootstrap { n_resamples: N_RESAMPLES.min(bootstrap.n_resamples), ..*bootstrap };
    let ranks = rank_distribution(&strata, &few, |drawn: &[(u64, &Vec<Cell>)]| {
        let mut sums = vec![Cell::default(); n_players * n_seats];
        for cell in drawn.iter().flat_map(|(_, cells)| *cells) {
            let sum = &mut sums[cell.player * n_seats + cell.seat];
            *sum = Cell { n: sum.n + cell.n, sum: sum.sum + cell.sum, ..*cell };
        }
        sums.retain(|cell| cell.n > 0.0);
        Some(settled(player_effects(n_players, n_seats, &sums)?))
    });
    Some(settled(ranks?.probabilities.iter().map(|ranks| ranks[0]).collect()))
}

/// As [`effects_of`], with the reason in words.
pub(super) fn seat_effects(
    matches: &[(ScoredMatch, u32)],
    players: &[Arc<str>],
    evidence: &Evidence,
    bootstrap: &Bootstrap,
) -> Result<SeatEffects, String> {
    effects_of(matches, players, evidence, bootstrap).map_err(|error| error.to_string())
}

fn named(
    observations: &Observations,
    found: Found,
    players: &[Arc<str>],
    evidence: &Evidence,
) -> SeatEffects {
    let Found { plain, at_game, first, is_known } = found;
    let some_known = is_known.contains(&true);
    let clock = |at: usize| observations.games[at].clock;
    let role = |game: &str, role: u32| {
        let at = evidence.games.iter().position(|other| other == game);
        let roles = at.map(|at| &evidence.roles[at]);
        roles.and_then(|roles| roles.get(role as usize)).cloned().unwrap_or_default()
    };
    let seats = observations.seats.iter().zip(plain.seats);
    let seats = seats.map(|(&(game, index), effect)| {
        let name = observations.games[game].game.clone();
        let role = role(&name, index);
        let clock = clock(game);
        let budget = MoveBudget::of(clock);
        let effect = Worth::of(effect, is_known[game]);
        SeatEffect { game: name, clock: clock.to_string(), budget, role, effect }
    });
    let place = |player: &Arc<str>| observations.players.iter().position(|name| **name == **player);
    let stratum = |at: usize| (observations.games[at].game.clone(), MoveBudget::of(clock(at)));
    let of_player = |player: &Arc<str>| -> Vec<Worth> {
        let effects = place(player).and_then(|place| at_game.get(place));
        let effects = effects.into_iter().flatten().zip(&is_known);
        effects.map(|(&effect, &is_known)| Worth::of(effect, is_known)).collect()
    };
    SeatEffects {
        seats: seats.collect(),
        players: (players.iter())
            .map(|player| Some(Worth::of(plain.players[place(player)?], some_known)))
            .collect(),
        first: first.map(|first| {
            players.iter().map(|player| place(player).map_or(0.0, |place| first[place])).collect()
        }),
        at_game: match at_game.is_empty() {
            true => vec![],
            false => players.iter().map(of_player).collect(),
        },
        strata: (0..observations.games.len()).map(stratum).collect(),
        residual_sd: plain.residual_sd,
        r_squared: plain.r_squared,
        n_clusters: plain.n_blocks,
    }
}

/// Merges blocks at random into at most [`MAX_CLUSTERS`].
fn merge_blocks(observations: &mut Observations) {
    let mut blocks: Vec<u64> = observations.rewards.iter().map(|reward| reward.block).collect();
    blocks.sort_unstable();
    blocks.dedup();
    if blocks.len() <= MAX_CLUSTERS {
        return;
    }
    let groups = random_groups(blocks.len(), MAX_CLUSTERS, &mut Bootstrap::default().rng());
    for reward in &mut observations.rewards {
        let place = blocks.binary_search(&reward.block).expect("it is one of them");
        reward.block = groups[place] as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::evaluate;
    use crate::record::MatchRecord;
    use crate::sample;

    #[test]
    fn a_seat_and_a_player_are_told_apart() {
        // The first seat is worth 20 points, player a 30 more than b.
        let record = |job: u64| {
            let (players, rewards) =
                if job.is_multiple_of(2) { (["a", "b"], [75, 25]) } else { (["b", "a"], [45, 55]) };
            sample::record(job, "x", players, rewards)
        };
        let records: Vec<MatchRecord> = (0..40).map(record).collect();
        let run = sample::run(true, &records);
        let effects = evaluate(run.path(), &sample::QUICK, 0).unwrap().effects.unwrap();
        let worth: Vec<f64> = effects.seats.iter().map(|seat| seat.effect.points).collect();
        assert!((worth[0] - worth[1] - 20.0).abs() < 1e-9, "{worth:?}");
        let points = |player: usize| effects.players[player].unwrap().points;
        assert!((points(0) - points(1) - 30.0).abs() < 1e-9);
        assert_eq!(effects.seats[0].role, "xplayer");
        assert_eq!(effects.first, Some(vec![1.0, 0.0]));
    }

    /// Three blocks in which nearly everything is won: Student's t alone would reach
    /// far beyond what a seat or a player can be worth.
    #[test]
    fn no_interval_reaches_beyond_what_is_possible() {
        let rewards = [[100, 0], [100, 0], [100, 0], [60, 40], [0, 100], [100, 0]];
        let mut records: Vec<MatchRecord> = (0..6)
            .map(|job: u64| sample::record(job, "x", ["a", "b"], rewards[job as usize]))
            .collect();
        // And another game with a single block.
        records.push(sample::record(6, "y", ["a", "b"], [100, 0]));
        records.push(sample::record(7, "y", ["b", "a"], [0, 100]));
        records[2].seats.reverse();
        for (index, role) in ["xplayer", "oplayer"].into_iter().enumerate() {
            records[2].seats[index].role = role.to_owned();
        }
        let run = sample::run(true, &records);
        let effects = evaluate(run.path(), &sample::QUICK, 0).unwrap().effects.unwrap();
        for seat in &effects.seats {
            assert_eq!(seat.effect.interval.is_some(), seat.game == "x", "{seat:?}");
            let within = |bound: &f64| (0.0..=100.0).contains(bound);
            assert!(seat.effect.interval.iter().flatten().all(within), "{seat:?}");
        }
        let reaches =
            |seat: &SeatEffect| seat.effect.interval.is_some_and(|[_, high]| high == 100.0);
        assert!(effects.seats.iter().any(reaches), "nothing was cut: {:?}", effects.seats);
        let within = |worth: &Worth| {
            worth.interval.iter().flatten().all(|bound| (-100.0..=100.0).contains(bound))
        };
        assert!(effects.players.iter().flatten().all(within));
        assert!(effects.at_game.iter().flatten().all(within));
    }

    #[test]
    fn one_player_or_block_is_too_few() {
        let records = [sample::record(0, "x", ["a", "b"], [75, 25])];
        let run = sample::run(true, &records);
        let effects = evaluate(run.path(), &sample::QUICK, 0).unwrap().effects;
        assert!(effects.unwrap_err().contains("too few blocks"));
    }

    #[test]
    fn many_blocks_are_merged() {
        let matches: Vec<(ScoredMatch, u32)> = (0..6000)
            .map(|job| (ScoredMatch::from(&sample::record(job, "x", ["a", "b"], [75, 25])), 1))
            .collect();
        let mut observations = Observations::of(&matches);
        merge_blocks(&mut observations);
        let mut blocks: Vec<u64> = observations.rewards.iter().map(|r| r.block).collect();
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!(blocks.len(), MAX_CLUSTERS);
        let of_block = |job: usize| observations.rewards[2 * job].block;
        assert!((0..3000).all(|block| of_block(2 * block) == of_block(2 * block + 1)));
    }
}
