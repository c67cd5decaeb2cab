//! The spec of an experiment: players, games, clocks and numbers of matches.
//!
//! A spec is written as TOML ([`file`](self)), completed with defaults and with what the
//! command line overrides, and is then a value: canonical, hashable, and sufficient for a
//! schedule. The keys are documented in `docs/spec.md`.

mod comparison;
mod difference;
pub(crate) mod duration;
mod error;
pub(crate) mod file;
mod game_entry;
mod limits_text;
mod lock;
mod odds_text;
mod overrides;
mod player_entry;
mod player_fields;
mod player_text;
pub(crate) mod source;
mod stages;

use std::sync::Arc;

use games::{Game, Guards};

use results::formats::{Format, Formats, Stage};
use results::record::Budget;
use serde::Deserialize;
use strum::IntoStaticStr;

use crate::fingerprint::Fingerprint;
use crate::game_source::{GameSource, Reading as RulesReading};
use crate::manager::{Enforcement, MatchRules, PlayerConfig};
use crate::schedule::{
    Pairings, PlannedGame, PlannedPairing, PlannedPlayer, Seating, TimeBudget, TournamentPlan,
    millis,
};

pub use comparison::{BLOCKS_PER_CANARY, Comparison};
pub use difference::{Difference, differences};
pub(crate) use duration::read_clock as read_play_clock;
pub use error::SpecError;
pub use file::{RecordedSpec, read, read_file, read_recorded};
pub use lock::{LOCK_HEADER, is_shipped, lock_text, portable_text};
pub use overrides::{Contenders, Overrides};
pub(crate) use player_text::{TAG_EXPECTED, check_evaluation, is_tag, option_value};
pub use player_text::{read_player, read_player_as};
pub use stages::FormatWord;

/// An experiment, complete and checked as far as that goes without reading the
/// rulesheets.
#[derive(Clone, Debug)]
pub struct Spec {
    /// What the user calls it; names the run's folder.
    pub name: String,
    /// Everything random derives from it.
    pub seed: u64,
    /// Laps: blocks of each pairing at each game (times the game's weight).
    pub blocks: u32,
    /// How pairings are seated.
    pub seating: Seating,
    /// What is played: one round robin, if nothing else is said.
    pub stages: Vec<Stage>,
    /// The players.
    pub players: Vec<Contestant>,
    /// The compared players; `None` for a round robin of all.
    pub comparison: Option<Comparison>,
    /// What is played.
    pub games: Vec<GameEntry>,
    /// One tournament for each.
    pub time_budgets: Vec<TimeBudget>,
    /// Settings of every match.
    pub rules: MatchRules,
    /// Limits on single computations of the reasoner.
    pub guards: Guards,
    /// Whether players sit out of games that they know beforehand that they cannot play;
    /// else these are errors.
    pub skip_unsuitable: bool,
    /// Matches at once; chosen by the runner if `None`.
    pub jobs: Option<u32>,
    /// What is written down.
    pub record: RecordSettings,
}

/// One player, and what the runner has to know of it.
#[derive(Clone, Debug)]
pub struct Contestant {
    /// How the manager talks to it.
    pub config: Arc<PlayerConfig>,
    /// Whether it uses time to think, so that its neighbours' clocks suffer.
    pub thinks: bool,
    /// Whether it can play games of hidden information.
    pub plays_hidden_information: bool,
    /// What the machine of a worker must have to play its matches, ascending.
    pub tags: Vec<String>,
    /// The options of a built-in player, as written.
    pub options: toml::Table,
}

/// A rulesheet, read from somewhere but not yet understood.
#[derive(Clone, Debug)]
pub struct GameEntry {
    /// The text and its name in the records.
    pub source: GameSource,
    /// How it is to be read.
    pub reading: RulesReading,
    /// Blocks of each pairing in a lap.
    pub weight: u32,
}

/// What is written down of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RecordSettings {
    /// Whether there is a row for each decision.
    pub moves: bool,
    /// Whether think times are part of the tables.
    pub timings: Timings,
}

impl RecordSettings {
    /// Whether think times are part of the tables of a run with these budgets.
    fn has_timings(&self, times: &[TimeBudget]) -> bool {
        match self.timings {
            Timings::Auto => times.iter().any(|time| time.budget == Budget::Clock),
            Timings::Always => true,
            Timings::Never => false,
        }
    }
}

impl Default for RecordSettings {
    fn default() -> Self {
        Self { moves: true, timings: Timings::Auto }
    }
}

/// Whether think times are part of the tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, IntoStaticStr)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Timings {
    /// Unless every budget is counted in nodes, when equal runs are to give
    /// equal bytes.
    #[default]
    Auto,
    /// In any case.
    Always,
    /// In no case.
    Never,
}

impl GameEntry {
    /// Hash of the text alone.
    #[must_use]
    pub fn text_hash(&self) -> String {
        Fingerprint::of("rulesheet").text(&self.source.text).hex(16)
    }

    /// Hash of the text and of how it is read.
    #[must_use]
    pub fn hash(&self) -> String {
        Fingerprint::of("game")
            .text(&self.source.text)
            .text(self.reading.case.name())
            .number(self.reading.lenient.into())
            .hex(16)
    }
}

impl Spec {
    /// Whether think times are part of the tables.
    #[must_use]
    pub fn timings(&self) -> bool {
        self.record.has_timings(&self.time_budgets)
    }

    /// Whether what is played follows from results: then there is a
    /// [staged schedule](crate::staged_schedule).
    #[must_use]
    pub fn follows_results(&self) -> bool {
        self.stages.len() > 1 || self.stages.iter().any(Stage::depends_on_results)
    }

    /// What the journal says of the stages, if they follow results.
    #[must_use]
    pub fn formats(&self) -> Option<Formats> {
        let players = self.players.iter().map(|player| player.config.id.clone());
        let formats = || Formats { players: players.collect(), stages: self.stages.clone() };
        self.follows_results().then(formats)
    }

    /// What the schedule follows from, given the games in the order of
    /// [`games`](Self::games), and for each the players that know that they cannot play it.
    #[must_use]
    pub fn plan(&self, games: &[Arc<Game>], unsuitable: &[Vec<usize>]) -> TournamentPlan {
        let game = |((entry, game), unable): ((&GameEntry, &Arc<Game>), &Vec<usize>)| {
            let seats: Vec<bool> = (0..game.roles().len())
                .map(|role| game.random().is_none_or(|random| usize::from(random.0) != role))
                .collect();
            let hidden_information = game.kind().hidden_information;
            PlannedGame {
                hash: entry.hash(),
                pairings: self.pairings(
                    seats.iter().filter(|&&seat| seat).count(),
                    hidden_information,
                    unable,
                ),
                seats,
                weight: entry.weight,
                hidden_information,
                unable: unable.clone(),
            }
        };
        let player = |(index, player): (usize, &Contestant)| {
            let hash = player.config.hash.clone();
            let compared = self.comparison.is_some_and(|comparison| comparison.concerns(index));
            PlannedPlayer {
                draw_key: if compared { comparison::DRAW_KEY.to_owned() } else { hash.clone() },
                hash,
                plays_hidden_information: player.plays_hidden_information,
            }
        };
        TournamentPlan {
            seed: self.seed,
            laps: self.blocks,
            seating: self.seating,
            pairings: match self.stages[..] {
                [Stage { format: Format::Gauntlet { challengers }, .. }] => {
                    Pairings::Gauntlet(challengers)
                }
                _ => Pairings::All,
            },
            games: self.games.iter().zip(games).zip(unsuitable).map(game).collect(),
            players: self.players.iter().enumerate().map(player).collect(),
            time_budgets: self.time_budgets.clone(),
            settings_hash: self.settings_hash(),
        }
    }

    fn pairings(
        &self,
        n_seats: usize,
        hidden: bool,
        unable: &[usize],
    ) -> Option<Vec<PlannedPairing>> {
        let able = (0..self.players.len())
            .filter(|&player| !hidden || self.players[player].plays_hidden_information)
            .filter(|player| !unable.contains(player));
        Some(self.comparison?.pairings(&able.collect::<Vec<_>>(), n_seats))
    }

    /// Hash of the settings that all matches share.
    #[must_use]
    pub fn settings_hash(&self) -> String {
        let rules = &self.rules;
        let mut hash = Fingerprint::of("settings")
            .number(rules.step_limit.into())
            .text(rules.substitute.into())
            .text(rules.goal_conflict.into())
            .number(rules.scramble.into())
            .number(rules.max_reply_bytes as u64)
            .number(rules.max_header_bytes as u64)
            .number(self.guards.max_facts as u64)
            .number(self.guards.max_steps)
            .number(self.guards.max_term_depth.into());
        // What was played before there was a choice keeps its hash.
        if rules.enforcement == Enforcement::Exact {
            hash = hash.text("exact clocks");
        }
        hash.hex(16)
    }

    /// Hash of everything that determines the results: not of the name, the number of
    /// matches at once, or the tables to write.
    #[must_use]
    pub fn hash(&self) -> String {
        let mut hash = Fingerprint::of("spec")
            .number(self.seed)
            .number(self.blocks.into())
            .text(self.seating.into())
            .text(&self.settings_hash())
            .number(self.timings().into())
            .number(self.players.len() as u64);
        for player in &self.players {
            hash = hash.text(&player.config.hash);
        }
        if let Some(Comparison { base, head, canary }) = self.comparison {
            // What is compared was played in another order once, without parts of a lap.
            hash = hash.text("comparison in parts").number(base as u64).number(head as u64);
            hash = hash.number(canary.map_or(0, |canary| 1 + canary as u64));
        }
        hash = hash.number(self.games.len() as u64);
        for game in &self.games {
            hash = hash.text(&game.source.name).text(&game.hash()).number(game.weight.into());
        }
        for time in &self.time_budgets {
            hash = hash
                .number(millis(time.clocks.start))
                .number(millis(time.clocks.play))
                .number(millis(time.clocks.margin))
                .number(time.budget.nodes().unwrap_or(0));
        }
        if self.stages != [Stage::round_robin(self.blocks)] {
            hash = stages::hashed(hash, &self.stages);
        }
        if self.skip_unsuitable {
            hash = hash.text("skip unsuitable");
        }
        hash.hex(16)
    }
}

/// Budgets as reports print them: `start 10 s, play 1 s`, `1000 nodes per move`.
#[must_use]
pub fn time_budget_words(time: &TimeBudget) -> String {
    time.recorded().to_string()
}
