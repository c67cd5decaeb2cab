//! What rewards are made of: roles, players, and players at games.
//!
//! Each reward is explained as `role + player + (player at game) + rest`, by
//! least squares: the modern form of the per-role linear regression of the
//! Dresden GGP server. Player effects add up to 0, effects of players at a game
//! do so over players and over games. Where all have sat everywhere equally
//! often, player effects are plain differences of means; where they have not,
//! they are corrected for who got the good seats, though not for opponents.
//! Standard errors are robust and clustered by block with the CR1 correction
//! (Cameron & Miller, "A practitioner's guide to cluster-robust inference",
//! 2015); they are too small from less than some 30 blocks.

use std::collections::BTreeMap;

use nalgebra::{Cholesky, DMatrix, DVector, Dyn};

use crate::stats::interval::{DIFFERENCES, REWARDS};
use crate::stats::laps::unvaried_interval;
use crate::stats::scored::{ScoredMatch, Stratum};
use crate::stats::student::t_quantile;

/// One reward, or several equal ones.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Index of the player.
    pub player: usize,
    /// Index of the game (and clock).
    pub game: usize,
    /// Index of the role among all roles of all games.
    pub seat: usize,
    /// Points.
    pub reward: f64,
    /// The block.
    pub block: u64,
    /// How many such rewards.
    pub n: f64,
}

/// Within what a player's effect may vary.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Interaction {
    /// A player is equally strong everywhere.
    #[default]
    None,
    /// A player has an effect at each game.
    Game,
    /// A player has an effect in each role of each game.
    Seat,
}

/// Rewards, and what the indices in them stand for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observations {
    /// One for each player in each match that was scored.
    pub rewards: Vec<Observation>,
    /// The players, by name.
    pub players: Vec<String>,
    /// The games and clocks.
    pub games: Vec<Stratum>,
    /// The roles: index into `games`, and of the role in the rules.
    pub seats: Vec<(usize, u32)>,
}

impl Observations {
    /// Collects the rewards of matches; the number with a match says how many equal matches
    /// it stands for.
    #[must_use]
    pub fn of(matches: &[(ScoredMatch, u32)]) -> Self {
        let mut players: BTreeMap<&str, usize> = BTreeMap::new();
        let mut seats: BTreeMap<(&Stratum, u32), usize> = BTreeMap::new();
        for (played, _) in matches {
            for seat in played.seats.iter().filter(|seat| seat.reward.is_some()) {
                players.insert(&seat.player, 0);
                seats.insert((&played.stratum, seat.role), 0);
            }
        }
        players.values_mut().zip(0..).for_each(|(index, n)| *index = n);
        seats.values_mut().zip(0..).for_each(|(index, n)| *index = n);
        let mut games: Vec<Stratum> = vec![];
        let mut roles = vec![];
        for (stratum, role) in seats.keys() {
            if games.last() != Some(*stratum) {
                games.push((*stratum).clone());
            }
            roles.push((games.len() - 1, *role));
        }
        let mut rewards = vec![];
        for (played, n) in matches {
            for seat in &played.seats {
                let Some(reward) = seat.reward.map(f64::from) else { continue };
                let place = seats[&(&*played.stratum, seat.role)];
                let (player, game) = (players[&*seat.player], roles[place].0);
                rewards.push(Observation {
                    player,
                    game,
                    seat: place,
                    reward,
                    block: played.block,
                    n: f64::from(*n),
                });
            }
        }
        let players = players.into_keys().map(str::to_owned).collect();
        Self { rewards, players, games, seats: roles }
    }
}

/// An estimated effect.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Effect {
    /// Points, within what is possible.
    pub points: f64,
    /// Robust standard error, clustered by block.
    pub standard_error: f64,
    /// Interval at 95 %, by Student's t with one degree of freedom less than
    /// there are blocks, within what is possible. Where nothing is left to explain,
    /// what blocks that were not seen could weigh, as
    /// [`unvaried_interval`] says.
    pub interval: [f64; 2],
}

/// What rewards are made of.
#[derive(Clone, Debug, PartialEq)]
pub struct Effects {
    /// By seat: what a player of no effect gets there.
    pub seats: Vec<Effect>,
    /// By player; they add up to 0.
    pub players: Vec<Effect>,
    /// By player, then game or seat as asked for; empty if not asked for.
    pub interactions: Vec<Vec<Effect>>,
    /// Standard deviation of what is left, points.
    pub residual_sd: f64,
    /// Share of the variance that is explained.
    pub r_squared: f64,
    /// Number of blocks.
    pub n_blocks: usize,
}

/// Why there are no effects. Messages fit after "failed to".
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EffectsError {
    /// Some effects cannot be told from others: a player never sat somewhere, or
    /// groups of players never sat in the same seats.
    #[error(
        "some players never had the same seats as others, so the effect of a seat cannot be \
         separated from that of a player"
    )]
    NotIdentified,
    /// Fewer than two blocks, or fewer rewards than effects.
    #[error("there are too few blocks for the number of players and seats")]
    TooFew,
}

/// The columns of the regression.
#[derive(Clone, Copy, Debug)]
struct Columns {
    n_seats: usize,
    n_players: usize,
    n_groups: usize,
    interaction: Interaction,
}

impl Columns {
    fn n(self) -> usize {
        self.n_seats + self.n_free_players() * (1 + self.n_free_groups())
    }

    fn n_free_players(self) -> usize {
        self.n_players - 1
    }

    fn n_free_groups(self) -> usize {
        if self.interaction == Interaction::None { 0 } else { self.n_groups - 1 }
    }

    /// The code of level `level` of `n`: a unit vector, or minus ones for the
    /// last, so that effects add up to 0.
    fn code(level: usize, n: usize) -> Vec<(usize, f64)> {
        if level + 1 < n {
            vec![(level, 1.0)]
        } else {
            (0..n - 1).map(|index| (index, -1.0)).collect()
        }
    }

    fn player(self, player: usize) -> Vec<(usize, f64)> {
        let code = Self::code(player, self.n_players);
        code.into_iter().map(|(index, sign)| (self.n_seats + index, sign)).collect()
    }

    fn interaction(self, player: usize, group: usize) -> Vec<(usize, f64)> {
        if self.interaction == Interaction::None {
            return vec![];
        }
        let start = self.n_seats + self.n_free_players();
        let groups = Self::code(group, self.n_groups);
        let players = Self::code(player, self.n_players);
        let cell = |&(p, sign): &(usize, f64)| {
            let start = start + p * self.n_free_groups();
            groups.iter().map(move |&(g, other)| (start + g, sign * other)).collect::<Vec<_>>()
        };
        players.iter().flat_map(cell).collect()
    }

    fn group(self, observation: &Observation) -> usize {
        match self.interaction {
            Interaction::Game => observation.game,
            Interaction::None | Interaction::Seat => observation.seat,
        }
    }

    fn row(self, observation: &Observation) -> Vec<(usize, f64)> {
        let mut row = vec![(observation.seat, 1.0)];
        row.extend(self.player(observation.player));
        row.extend(self.interaction(observation.player, self.group(observation)));
        row
    }
}

/// Least squares over `observations`.
///
/// # Errors
/// If the effects cannot be separated, or there are too few blocks.
pub fn effects(
    observations: &Observations,
    interaction: Interaction,
) -> Result<Effects, EffectsError> {
    let rewards = &observations.rewards;
    let n_groups = match interaction {
        Interaction::Game => observations.games.len(),
        Interaction::None | Interaction::Seat => observations.seats.len(),
    };
    let (n_seats, n_players) = (observations.seats.len(), observations.players.len());
    if n_players == 0 || n_seats == 0 {
        return Err(EffectsError::TooFew);
    }
    let columns = Columns { n_seats, n_players, n_groups, interaction };
    let n = columns.n();
    let rows: f64 = rewards.iter().map(|o| o.n).sum();
    if rows <= n as f64 {
        return Err(EffectsError::TooFew);
    }
    let (normal, right) = normal_equations(columns, rewards);
    let inverse = inverse(normal).ok_or(EffectsError::NotIdentified)?;
    let fitted = &inverse * right;
    let (meat, squares, n_blocks) = residuals(columns, rewards, &fitted);
    if n_blocks < 2 {
        return Err(EffectsError::TooFew);
    }
    let blocks = n_blocks as f64;
    let correction = blocks / (blocks - 1.0) * (rows - 1.0) / (rows - n as f64);
    let covariance = &inverse * meat * &inverse * correction;
    let t = t_quantile(0.975, blocks - 1.0);
    let effect = |combination: &[(usize, f64)], bounds: [f64; 2]| {
        let cut = |points: f64| points.clamp(bounds[0], bounds[1]);
        let points = cut(combination.iter().map(|&(i, sign)| sign * fitted[i]).sum());
        let pairs = combination.iter().flat_map(|a| combination.iter().map(move |b| (a, b)));
        let variance: f64 = pairs.map(|(a, b)| a.1 * b.1 * covariance[(a.0, b.0)]).sum();
        let standard_error = variance.max(0.0).sqrt();
        let interval = if standard_error * blocks.sqrt() > 1e-9 * (bounds[1] - bounds[0]) {
            let half = t * standard_error;
            [cut(points - half), cut(points + half)]
        } else {
            unvaried_interval(points, n_blocks, 0.95, bounds)
        };
        Effect { points, standard_error, interval }
    };
    let of_player = |player| {
        (0..n_groups)
            .map(|group| effect(&columns.interaction(player, group), DIFFERENCES))
            .collect::<Vec<_>>()
    };
    let mean = rewards.iter().map(|o| o.n * o.reward).sum::<f64>() / rows;
    let total: f64 = rewards.iter().map(|o| o.n * (o.reward - mean).powi(2)).sum();
    Ok(Effects {
        seats: (0..n_seats).map(|seat| effect(&[(seat, 1.0)], REWARDS)).collect(),
        players: (0..n_players)
            .map(|player| effect(&columns.player(player), DIFFERENCES))
            .collect(),
        interactions: match interaction {
            Interaction::None => vec![],
            Interaction::Game | Interaction::Seat => (0..n_players).map(of_player).collect(),
        },
        residual_sd: (squares / (rows - n as f64)).sqrt(),
        r_squared: if total > 0.0 { 1.0 - squares / total } else { 0.0 },
        n_blocks,
    })
}

/// Sums over cells of equal rows, of which there are far fewer than rewards.
/// What a player got in a seat.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cell {
    /// Number of the player.
    pub player: usize,
    /// Number of the seat.
    pub seat: usize,
    /// How many rewards.
    pub n: f64,
    /// Their sum.
    pub sum: f64,
}

/// The players' effects alone, as [`effects`] without interaction finds them:
/// what a resample is asked for. `None` if they cannot be separated.
///
/// # Panics
/// If a cell names a player or a seat that is not there.
#[must_use]
pub fn player_effects(n_players: usize, n_seats: usize, cells: &[Cell]) -> Option<Vec<f64>> {
    let columns = Columns { n_seats, n_players, n_groups: n_seats, interaction: Interaction::None };
    let row = |cell: &Cell| [vec![(cell.seat, 1.0)], columns.player(cell.player)].concat();
    let (normal, right) = equations(columns.n(), cells.iter().map(|c| (row(c), c.n, c.sum)));
    let fitted = sound_cholesky(normal)?.solve(&right);
    let of_player = |player| columns.player(player).iter().map(|&(i, sign)| sign * fitted[i]).sum();
    Some((0..n_players).map(of_player).collect())
}

fn normal_equations(columns: Columns, rewards: &[Observation]) -> (DMatrix<f64>, DVector<f64>) {
    let mut cells: BTreeMap<(usize, usize), (&Observation, f64, f64)> = BTreeMap::new();
    for observation in rewards {
        let key = (observation.player, observation.seat);
        let cell = cells.entry(key).or_insert((observation, 0.0, 0.0));
        cell.1 += observation.n;
        cell.2 += observation.n * observation.reward;
    }
    let cells = cells.into_values();
    equations(columns.n(), cells.map(|(observation, n, sum)| (columns.row(observation), n, sum)))
}

/// The normal equations of `n` columns, by rows with the number and the sum of
/// their rewards.
fn equations(
    n: usize,
    cells: impl Iterator<Item = (Vec<(usize, f64)>, f64, f64)>,
) -> (DMatrix<f64>, DVector<f64>) {
    let mut normal = DMatrix::zeros(n, n);
    let mut right = DVector::zeros(n);
    for (row, n, sum) in cells {
        for &(i, a) in &row {
            right[i] += a * sum;
            row.iter().for_each(|&(j, b)| normal[(i, j)] += n * a * b);
        }
    }
    (normal, right)
}

/// `None` if the matrix has no inverse to speak of.
fn inverse(matrix: DMatrix<f64>) -> Option<DMatrix<f64>> {
    Some(sound_cholesky(matrix)?.inverse())
}

/// The factors of a matrix that is not singular but for rounding.
fn sound_cholesky(matrix: DMatrix<f64>) -> Option<Cholesky<f64, Dyn>> {
    let scale = matrix.diagonal();
    let cholesky = matrix.cholesky()?;
    let factor = cholesky.l_dirty();
    let sound = (0..scale.len()).all(|i| factor[(i, i)].powi(2) > 1e-9 * scale[i]);
    sound.then_some(cholesky)
}

/// The sum over blocks of the squares of `X' residual`, the sum of squares of
/// residuals, and the number of blocks.
fn residuals(
    columns: Columns,
    rewards: &[Observation],
    fitted: &DVector<f64>,
) -> (DMatrix<f64>, f64, usize) {
    // What is expected depends on who sits where, of which there are few cases.
    let mut cells = BTreeMap::new();
    for observation in rewards {
        cells.entry((observation.player, observation.seat)).or_insert_with(|| {
            let row = columns.row(observation);
            let expected: f64 = row.iter().map(|&(i, a)| a * fitted[i]).sum();
            (row, expected)
        });
    }
    let mut order: Vec<usize> = (0..rewards.len()).collect();
    order.sort_by_key(|&index| rewards[index].block);
    let mut meat = DMatrix::zeros(columns.n(), columns.n());
    let (mut squares, mut n_blocks) = (0.0, 0);
    let mut sums = vec![0.0; columns.n()];
    for block in order.chunk_by(|&a, &b| rewards[a].block == rewards[b].block) {
        let mut met = vec![];
        for &index in block {
            let observation = &rewards[index];
            let (row, expected) = &cells[&(observation.player, observation.seat)];
            let residual = observation.reward - expected;
            squares += observation.n * residual * residual;
            for &(i, a) in row {
                sums[i] += observation.n * a * residual;
                met.push(i);
            }
        }
        met.sort_unstable();
        met.dedup();
        for &i in &met {
            met.iter().for_each(|&j| meat[(i, j)] += sums[i] * sums[j]);
        }
        met.iter().for_each(|&i| sums[i] = 0.0);
        n_blocks += 1;
    }
    (meat, squares, n_blocks)
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;
    use crate::record::{Budget, Clock};
    use crate::sample;

    const PLAYERS: usize = 3;

    fn observations(rewards: Vec<Observation>, n_games: usize) -> Observations {
        let games = (0..n_games).map(|game| Stratum {
            game: game.to_string(),
            clock: Clock { start_clock_ms: 0, play_clock_ms: 0, budget: Budget::Clock },
        });
        Observations {
            rewards,
            players: (0..PLAYERS).map(|player| player.to_string()).collect(),
            games: games.collect(),
            seats: (0..2 * n_games).map(|seat| (seat / 2, seat as u32 % 2)).collect(),
        }
    }

    /// All players in all seats of two games, equally often, with noise that a
    /// block shares.
    fn balanced(n_blocks: u64, noise: f64, at_game: f64) -> Observations {
        let mut rng = Pcg64Mcg::seed_from_u64(11);
        let mut rewards = vec![];
        for block in 0..n_blocks {
            let game = block as usize % 2;
            let shared: f64 = (rng.random::<f64>() - 0.5) * noise;
            for seat in 2 * game..2 * game + 2 {
                for player in 0..PLAYERS {
                    let own = (rng.random::<f64>() - 0.5) * noise;
                    let special = if player == game { at_game } else { 0.0 };
                    let reward = 40.0 + 10.0 * seat as f64 + [7.0, -2.0, -5.0][player] + special;
                    rewards.push(Observation {
                        player,
                        game,
                        seat,
                        reward: reward + shared + own,
                        block,
                        n: 1.0,
                    });
                }
            }
        }
        observations(rewards, 2)
    }

    fn close(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-9, "{found} is not {expected}");
    }

    #[test]
    fn effects_without_noise_are_found_exactly() {
        let found = effects(&balanced(12, 0.0, 0.0), Interaction::None).unwrap();
        for (effect, expected) in found.players.iter().zip([7.0, -2.0, -5.0]) {
            close(effect.points, expected);
            assert!(effect.standard_error < 1e-9);
        }
        for (effect, expected) in found.seats.iter().zip([40.0, 50.0, 60.0, 70.0]) {
            close(effect.points, expected);
        }
        close(found.r_squared, 1.0);
    }

    #[test]
    fn effects_at_a_game_add_up_to_nothing() {
        let found = effects(&balanced(12, 0.0, 6.0), Interaction::Game).unwrap();
        // Players 0 and 1 have 6 more at their game: 3 on average, less 2 of the mean.
        close(found.players[0].points, 7.0 + 3.0 - 2.0);
        close(found.interactions[0][0].points, 3.0);
        for player in 0..PLAYERS {
            close(found.interactions[player].iter().map(|effect| effect.points).sum(), 0.0);
        }
        close(found.players.iter().map(|effect| effect.points).sum(), 0.0);
        let by_seat = effects(&balanced(12, 0.0, 6.0), Interaction::Seat).unwrap();
        close(by_seat.interactions[0][0].points, 3.0);
    }

    #[test]
    fn in_a_balanced_design_effects_are_differences_of_means() {
        let data = balanced(60, 30.0, 0.0);
        let mean = |wanted: &dyn Fn(&Observation) -> bool| {
            let rewards: Vec<f64> =
                data.rewards.iter().filter(|o| wanted(o)).map(|o| o.reward).collect();
            rewards.iter().sum::<f64>() / rewards.len() as f64
        };
        let found = effects(&data, Interaction::None).unwrap();
        for player in 0..PLAYERS {
            close(found.players[player].points, mean(&|o| o.player == player) - mean(&|_| true));
            let [low, high] = found.players[player].interval;
            assert!((low..=high).contains(&[7.0, -2.0, -5.0][player]));
        }
        assert_eq!(found.n_blocks, 60);
    }

    #[test]
    fn who_got_the_good_seats_is_not_stronger() {
        let mut data = balanced(40, 0.0, 0.0);
        // The third player mostly sits in the better seat of each game.
        data.rewards.retain(|o| o.player != 2 || o.seat % 2 == 1 || o.block % 4 == 0);
        let found = effects(&data, Interaction::None).unwrap();
        close(found.players[2].points, -5.0);
    }

    #[test]
    fn what_cannot_be_told_apart_is_refused() {
        let mut data = balanced(12, 10.0, 0.0);
        data.rewards.retain(|o| (o.player == 0) == (o.game == 0));
        assert_eq!(effects(&data, Interaction::None), Err(EffectsError::NotIdentified));
        data.rewards.truncate(3);
        assert_eq!(effects(&data, Interaction::None), Err(EffectsError::TooFew));
        assert_eq!(effects(&Observations::default(), Interaction::None), Err(EffectsError::TooFew));
    }

    /// For one game of one seat and the mean alone, CR1 is the standard error of
    /// block means.
    #[test]
    fn the_error_of_a_mean_is_that_of_its_blocks() {
        let rewards = [10.0, 20.0, 60.0, 30.0, 0.0, 90.0];
        let rows = rewards.iter().zip(0..).map(|(&reward, i)| Observation {
            player: 0,
            game: 0,
            seat: 0,
            reward,
            block: i / 2,
            n: 1.0,
        });
        let mut data = observations(rows.collect(), 1);
        data.players.truncate(1);
        data.seats.truncate(1);
        let found = effects(&data, Interaction::None).unwrap();
        let means = [15.0, 45.0, 45.0];
        let squares: f64 = means.iter().map(|mean| (mean - 35.0f64).powi(2)).sum();
        close(found.seats[0].points, 35.0);
        close(found.seats[0].standard_error, (squares / 2.0 / 3.0).sqrt());
    }

    #[test]
    fn matches_become_observations() {
        let matches: Vec<ScoredMatch> = sample::records().iter().map(ScoredMatch::from).collect();
        let once: Vec<_> = matches.iter().map(|played| (played.clone(), 1)).collect();
        let found = Observations::of(&once);
        assert_eq!(found.players, ["alpha", "beta", "gamma"]);
        assert_eq!((found.games.len(), found.seats.len()), (2, 4));
        let scored = matches.iter().flat_map(|m| &m.seats).filter(|seat| seat.reward.is_some());
        assert_eq!(found.rewards.len(), scored.count());
        assert!(effects(&found, Interaction::Game).is_ok());
    }
}
