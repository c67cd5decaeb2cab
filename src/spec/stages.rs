//! Formats and stages as they are written.

use std::fmt;

use clap::ValueEnum;
use results::counted::counted;
use results::formats::{Format, RaceRule, Stage};
use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use strum::IntoStaticStr;
use toml::{Spanned, Table, Value};

use super::SpecError;
use super::overrides::Overrides;
use super::source::Source;
use crate::fingerprint::Fingerprint;

/// Formats by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, IntoStaticStr, ValueEnum)]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[value(rename_all = "snake_case")]
pub enum FormatWord {
    /// Pair each player with every other
    #[default]
    RoundRobin,
    /// Pair the first N (key `challengers`) with the others
    Gauntlet,
    /// Pair players with equal points
    Swiss,
    /// Eliminate the loser of each encounter
    Knockout,
    /// Pair neighbours by Glicko-2 rating
    Ladder,
}

/// Default number of rounds of a ladder.
const LADDER_ROUNDS: u32 = 10;
/// Default number of extra laps of an encounter with equal scores.
const EXTRA_LAPS: u32 = 3;
/// A larger number of rounds is taken for a mistake.
const MAX_ROUNDS: u32 = 100_000;

/// A `[[stage]]`, or what the spec itself says of its only one.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub(super) struct StageTable {
    pub(super) format: Option<Spanned<FormatWord>>,
    pub(super) blocks: Option<Spanned<u32>>,
    pub(super) rounds: Option<Spanned<u32>>,
    pub(super) challengers: Option<Spanned<u32>>,
    pub(super) extra_laps: Option<Spanned<u32>>,
    pub(super) best: Option<Spanned<u32>>,
    pub(super) race: Option<Spanned<RaceValue>>,
}

pub(super) enum RaceValue {
    Wanted(bool),
    Rule(RaceTable),
}

/// By hand: serde's untagged enums do not say which key of a table is wrong.
impl<'de> Deserialize<'de> for RaceValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Wanted;
        impl<'de> Visitor<'de> for Wanted {
            type Value = RaceValue;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("true, false, or a table with `alpha` and `keep`, as `race`")
            }

            fn visit_bool<E>(self, wanted: bool) -> Result<RaceValue, E> {
                Ok(RaceValue::Wanted(wanted))
            }

            fn visit_map<M: MapAccess<'de>>(self, map: M) -> Result<RaceValue, M::Error> {
                RaceTable::deserialize(MapAccessDeserializer::new(map)).map(RaceValue::Rule)
            }
        }
        deserializer.deserialize_any(Wanted)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RaceTable {
    alpha: Option<f64>,
    keep: Option<u32>,
}

impl Source<'_> {
    /// The stages: those of `tables`, or the one that the spec and the command
    /// line describe.
    pub(super) fn stages(
        &self,
        mut top: StageTable,
        tables: &[Spanned<StageTable>],
        blocks: u32,
        n_players: usize,
        overrides: &Overrides,
    ) -> Result<Vec<Stage>, SpecError> {
        let asked = overrides.format.is_some() || overrides.rounds.is_some() || overrides.race;
        if tables.is_empty() {
            if asked {
                top = overridden(top, overrides);
            }
            return Ok(vec![self.stage(&top, blocks, n_players)?]);
        }
        if asked {
            let message = "--format, --rounds and --race need a spec with one stage; \
                           this one has [[stage]] tables";
            return Err(self.whole(message));
        }
        if let Some((span, key)) = top.first_key() {
            let message = format!("`{key}` belongs in a [[stage]] table");
            return Err(self.error(span, message));
        }
        let mut stages: Vec<Stage> = vec![];
        let mut n_left = n_players;
        for table in tables {
            let span = table.span();
            let table = table.get_ref();
            if let Some(best) = &table.best {
                self.positive(best, "best")?;
                if stages.is_empty() {
                    let message = "best: the first stage is played by all players";
                    return Err(self.error(best.span(), message));
                }
                if *best.get_ref() as usize > n_left {
                    let message = format!(
                        "best = {}: the stage before has only {}",
                        best.get_ref(),
                        counted(n_left, "player", "players")
                    );
                    return Err(self.error(best.span(), message));
                }
                n_left = *best.get_ref() as usize;
            }
            if table.format.is_none() {
                return Err(self.error(span, "a stage needs a `format`"));
            }
            let blocks = match &table.blocks {
                Some(blocks) => self.positive(blocks, "blocks")?,
                None => blocks,
            };
            stages.push(self.stage(table, blocks, n_left)?);
        }
        Ok(stages)
    }

    fn stage(&self, table: &StageTable, laps: u32, n_players: usize) -> Result<Stage, SpecError> {
        let word = table.format.as_ref().map_or_else(FormatWord::default, |word| *word.get_ref());
        use FormatWord::{Gauntlet, Knockout, Ladder, RoundRobin, Swiss};
        self.only(&table.rounds, "rounds", word, &[Swiss, Ladder])?;
        self.only(&table.challengers, "challengers", word, &[Gauntlet])?;
        self.only(&table.extra_laps, "extra_laps", word, &[Knockout])?;
        let number = |value: &Option<Spanned<u32>>, key: &str, default: u32| match value {
            None => Ok(default),
            Some(value) if *value.get_ref() > MAX_ROUNDS => {
                let message = format!("{key} = {}: at most {MAX_ROUNDS}", value.get_ref());
                Err(self.error(value.span(), message))
            }
            Some(value) => self.positive(value, key),
        };
        let halvings = n_players.next_power_of_two().trailing_zeros().max(1);
        let format = match word {
            RoundRobin => Format::RoundRobin,
            Gauntlet => {
                let challengers = number(&table.challengers, "challengers", 1)?;
                if challengers as usize >= n_players && n_players > 1 {
                    let span = table.challengers.as_ref().map_or(0..0, Spanned::span);
                    let message = format!(
                        "challengers = {challengers}: expected fewer than the {}",
                        counted(n_players, "player", "players")
                    );
                    return Err(self.error(span, message));
                }
                Format::Gauntlet { challengers }
            }
            Swiss => Format::Swiss { rounds: number(&table.rounds, "rounds", halvings)? },
            Ladder => Format::Ladder { rounds: number(&table.rounds, "rounds", LADDER_ROUNDS)? },
            Knockout => {
                let extra_laps = table.extra_laps.as_ref().map(|laps| *laps.get_ref());
                let extra_laps = extra_laps.unwrap_or(EXTRA_LAPS).min(MAX_ROUNDS);
                Format::Knockout { extra_laps }
            }
        };
        let race = match &table.race {
            None => None,
            Some(race) => self.race(race, format, n_players)?,
        };
        let best = table.best.as_ref().map(|best| *best.get_ref());
        Ok(Stage { format, laps, best, race })
    }

    fn only(
        &self,
        value: &Option<Spanned<u32>>,
        key: &str,
        word: FormatWord,
        formats: &[FormatWord],
    ) -> Result<(), SpecError> {
        let Some(value) = value else { return Ok(()) };
        if formats.contains(&word) {
            return Ok(());
        }
        let names: Vec<&str> = formats.iter().map(Into::into).collect();
        let (names, word): (_, &str) = (names.join(" and "), word.into());
        Err(self.error(value.span(), format!("`{key}` is for {names}, but the format is {word}")))
    }

    fn race(
        &self,
        race: &Spanned<RaceValue>,
        format: Format,
        n_players: usize,
    ) -> Result<Option<RaceRule>, SpecError> {
        let default = RaceRule::default();
        let rule = match race.get_ref() {
            RaceValue::Wanted(false) => return Ok(None),
            RaceValue::Wanted(true) => default,
            RaceValue::Rule(RaceTable { alpha, keep }) => RaceRule {
                alpha: alpha.unwrap_or(default.alpha),
                keep: keep.unwrap_or(default.keep),
            },
        };
        let wrong = |message: String| Err(self.error(race.span(), message));
        let n_runners = match format {
            Format::RoundRobin => n_players,
            Format::Gauntlet { challengers } => n_players.saturating_sub(challengers as usize),
            _ => {
                let format = format.name();
                return wrong(format!(
                    "`race` is for round_robin and gauntlet, but the format is {format}"
                ));
            }
        };
        if !(rule.alpha > 0.0 && rule.alpha < 1.0) {
            let expected = "expected a number between 0 and 1";
            return wrong(format!("race.alpha = {}: {expected}", rule.alpha));
        }
        if n_runners < 2 {
            let message = format!("a race needs at least 2 players, and here are {n_runners}");
            // Asked for on the command line, it stands in no line of the spec.
            return Err(match race.span().is_empty() {
                true => self.whole(format!("--race: {message}")),
                false => self.error(race.span(), message),
            });
        }
        if rule.keep == 0 || rule.keep as usize >= n_runners {
            return wrong(format!(
                "race.keep = {}: expected a whole number from 1 to {}",
                rule.keep,
                n_runners - 1
            ));
        }
        Ok(Some(rule))
    }
}

/// The command line takes precedence over the spec; settings of the spec for another
/// format are ignored.
fn overridden(mut top: StageTable, overrides: &Overrides) -> StageTable {
    let at_command_line = 0..0;
    if let Some(format) = overrides.format {
        if top.format.as_ref().is_some_and(|own| *own.get_ref() != format)
            || top.format.is_none() && format != FormatWord::default()
        {
            let may_race = matches!(format, FormatWord::RoundRobin | FormatWord::Gauntlet);
            let race = top.race.filter(|_| may_race);
            top = StageTable { race, ..StageTable::default() };
        }
        top.format = Some(Spanned::new(at_command_line.clone(), format));
    }
    if let Some(rounds) = overrides.rounds {
        top.rounds = Some(Spanned::new(at_command_line.clone(), rounds));
    }
    if overrides.race
        && !matches!(top.race.as_ref().map(Spanned::get_ref), Some(RaceValue::Rule(_)))
    {
        top.race = Some(Spanned::new(at_command_line, RaceValue::Wanted(true)));
    }
    top
}

impl StageTable {
    /// The first key that is given, and where.
    fn first_key(&self) -> Option<(std::ops::Range<usize>, &'static str)> {
        let keys = [
            (self.format.as_ref().map(Spanned::span), "format"),
            (self.rounds.as_ref().map(Spanned::span), "rounds"),
            (self.challengers.as_ref().map(Spanned::span), "challengers"),
            (self.extra_laps.as_ref().map(Spanned::span), "extra_laps"),
            (self.race.as_ref().map(Spanned::span), "race"),
        ];
        keys.into_iter().find_map(|(span, key)| Some((span?, key)))
    }
}

/// Goes on with a hash of stages.
pub(super) fn hashed(mut hash: Fingerprint, stages: &[Stage]) -> Fingerprint {
    hash = hash.text("stages").number(stages.len() as u64);
    for stage in stages {
        let number = match stage.format {
            Format::RoundRobin => 0,
            Format::Gauntlet { challengers } => challengers,
            Format::Swiss { rounds } | Format::Ladder { rounds } => rounds,
            Format::Knockout { extra_laps } => extra_laps,
        };
        let race = stage.race.map_or((0, 0), |race| (race.alpha.to_bits(), race.keep));
        hash = hash
            .text(stage.format.name())
            .number(number.into())
            .number(stage.laps.into())
            .number(stage.best.map_or(0, u64::from))
            .number(race.0)
            .number(race.1.into());
    }
    hash
}

/// The stages as they are written in a lock file; nothing for one round robin.
pub(super) fn written(stages: &[Stage], blocks: u32) -> Table {
    let mut table = Table::new();
    match stages {
        [stage] if *stage == Stage::round_robin(blocks) => {}
        [stage] => table = stage_table(stage, false),
        stages => {
            let stages: Vec<Value> =
                stages.iter().map(|stage| Value::Table(stage_table(stage, true))).collect();
            table.insert("stage".into(), stages.into());
        }
    }
    table
}

fn stage_table(stage: &Stage, among_others: bool) -> Table {
    let mut table = Table::new();
    let mut put = |key: &str, value: Value| table.insert(key.to_owned(), value);
    put("format", stage.format.name().into());
    match stage.format {
        Format::RoundRobin => None,
        Format::Gauntlet { challengers } => put("challengers", i64::from(challengers).into()),
        Format::Swiss { rounds } | Format::Ladder { rounds } => {
            put("rounds", i64::from(rounds).into())
        }
        Format::Knockout { extra_laps } => put("extra_laps", i64::from(extra_laps).into()),
    };
    if among_others {
        put("blocks", i64::from(stage.laps).into());
    }
    if let Some(best) = stage.best {
        put("best", i64::from(best).into());
    }
    if let Some(RaceRule { alpha, keep }) = stage.race {
        let rule =
            [("alpha".to_owned(), alpha.into()), ("keep".to_owned(), i64::from(keep).into())];
        put("race", Value::Table(rule.into_iter().collect()));
    }
    table
}
