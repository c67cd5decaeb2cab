//! Why stages cannot be played.

use results::counted::counted;
use results::formats::{Format, Stage};

use super::StagedSchedule;

/// Why stages cannot be played. Stages are counted from 1, games and players from 0.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StagedScheduleError {
    /// A game has not as many seats as the format needs.
    #[error(
        "stage {stage}: {} needs games for {wanted}; game {game} has {}",
        .format.name(), counted(*n_seats, "role", "roles")
    )]
    Seats {
        /// The stage.
        stage: usize,
        /// Its format.
        format: Format,
        /// What it needs, in words.
        wanted: &'static str,
        /// Index of the game.
        game: usize,
        /// Seats for players that it has.
        n_seats: usize,
    },
    /// A player cannot play a game.
    #[error("player {player} cannot play game {game}")]
    SitsOut {
        /// Index of the game.
        game: usize,
        /// Index of the player.
        player: usize,
    },
    /// A stage has too few players.
    #[error(
        "stage {stage}: {} cannot play it, at least {n_needed} are needed",
        counted(*n_players, "player", "players")
    )]
    TooFewPlayers {
        /// The stage.
        stage: usize,
        /// Players it has.
        n_players: usize,
        /// Players it needs.
        n_needed: usize,
    },
    /// More players advance than there are.
    #[error(
        "stage {stage}: best = {best}, but the stage before has only {}",
        counted(*n_players, "player", "players")
    )]
    TooManyBest {
        /// The stage.
        stage: usize,
        /// Players that advance.
        best: u32,
        /// Players there are.
        n_players: usize,
    },
    /// More rounds than there are opponents.
    #[error(
        "stage {stage}: rounds = {rounds}: a swiss system of {} has at most {}; in more, some players \
         would have to meet twice",
        counted(*n_players, "player", "players"), counted(*most, "round", "rounds")
    )]
    TooManyRounds {
        /// The stage.
        stage: usize,
        /// Rounds asked for.
        rounds: u32,
        /// Players.
        n_players: usize,
        /// Rounds there can be.
        most: usize,
    },
    /// There are several clocks or budgets.
    #[error(
        "pairings that depend on results need a single budget, and the spec has {n}; run it once with \
         each"
    )]
    TimeBudgets {
        /// How many there are.
        n: usize,
    },
    /// A lap is too large.
    #[error(
        "stage {stage}: {n_blocks} blocks in a round are too many, at most {MAX_BLOCKS} are possible; \
         lower `blocks` or the number of players"
    )]
    TooLarge {
        /// The stage.
        stage: usize,
        /// Blocks of a round.
        n_blocks: u64,
    },
}

/// Blocks of a round that are kept in memory, some 100 bytes each.
const MAX_BLOCKS: u64 = 4_000_000;

impl StagedSchedule {
    /// Whether every stage can be played.
    pub(super) fn check(&self) -> Result<(), StagedScheduleError> {
        let plan = &self.plan;
        if let n @ 2.. = plan.time_budgets.len() {
            return Err(StagedScheduleError::TimeBudgets { n });
        }
        for game in 0..plan.games.len() {
            let sits_out = |&player: &usize| !plan.is_able(game, player);
            if let Some(player) = (0..plan.players.len()).find(sits_out) {
                return Err(StagedScheduleError::SitsOut { game, player });
            }
        }
        let mut n_players = plan.players.len();
        for (stage, number) in self.stages.iter().zip(1..) {
            if let Some(best) = stage.best {
                if best as usize > n_players {
                    return Err(StagedScheduleError::TooManyBest {
                        stage: number,
                        best,
                        n_players,
                    });
                }
                n_players = best as usize;
            }
            self.check_stage(stage, number, n_players)?;
        }
        Ok(())
    }

    fn check_stage(
        &self,
        stage: &Stage,
        number: usize,
        n_players: usize,
    ) -> Result<(), StagedScheduleError> {
        let n_seats = |game: usize| self.plan.n_seats(game);
        let games = 0..self.plan.games.len();
        let first = n_seats(0);
        let fits = |game: &usize| match stage.format {
            Format::RoundRobin | Format::Gauntlet { .. } => n_seats(*game) > 0,
            Format::Swiss { .. } => n_seats(*game) > 1 && n_seats(*game) == first,
            Format::Knockout { .. } | Format::Ladder { .. } => n_seats(*game) == 2,
        };
        if let Some(game) = games.clone().find(|game| !fits(game)) {
            let wanted = match stage.format {
                Format::RoundRobin | Format::Gauntlet { .. } => "one player or more",
                Format::Swiss { .. } => "two players or more, the same number in all games",
                Format::Knockout { .. } | Format::Ladder { .. } => "two players",
            };
            let (stage, format) = (number, stage.format);
            return Err(StagedScheduleError::Seats {
                stage,
                format,
                wanted,
                game,
                n_seats: n_seats(game),
            });
        }
        let most_seats = games.clone().map(n_seats).max().unwrap_or(0);
        let n_needed = match stage.format {
            Format::Gauntlet { challengers } => challengers as usize + most_seats.max(2) - 1,
            Format::RoundRobin => most_seats.max(1 + usize::from(stage.race.is_some())),
            _ => most_seats.max(2),
        };
        if n_players < n_needed {
            return Err(StagedScheduleError::TooFewPlayers { stage: number, n_players, n_needed });
        }
        if let Format::Swiss { rounds } = stage.format
            && most_seats == 2
        {
            let most = n_players - 1 + n_players % 2;
            if rounds as usize > most {
                return Err(StagedScheduleError::TooManyRounds {
                    stage: number,
                    rounds,
                    n_players,
                    most,
                });
            }
        }
        let n_blocks = self.most_blocks_at_once(stage, n_players);
        if n_blocks > MAX_BLOCKS {
            return Err(StagedScheduleError::TooLarge { stage: number, n_blocks });
        }
        Ok(())
    }
}
