//! A spec as it is written, and how it is completed.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use games::Guards;
use results::counted::counted;
use results::formats::{Format, Stage};
use results::record::Budget;
use serde::Deserialize;
use toml::{Spanned, Value};

use super::duration::{EXPECTED, read_clock};
use super::game_entry::GameText;
use super::overrides::{Contenders, Overrides};
use super::player_entry::{Place, PlayerEntry};
use super::player_fields::{PLAIN, is_plain};
use super::player_text::{contestant, fields_of_word};
use super::source::Source;
use super::stages::{FormatWord, RaceValue, StageTable};
use super::{Comparison, Contestant, GameEntry, RecordSettings, Spec, SpecError};
use crate::game_source::{GameSource, Reading};
use crate::manager::{Enforcement, GoalConflict, MatchRules, PlayerSource, Substitute};
use crate::schedule::{Clocks, Seating, TimeBudget};
use crate::toml_text::TomlText;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SpecFile {
    name: Option<Spanned<String>>,
    #[serde(default = "one")]
    seed: i64,
    blocks: Option<Spanned<u32>>,
    #[serde(default)]
    seating: Seating,
    format: Option<Spanned<FormatWord>>,
    rounds: Option<Spanned<u32>>,
    challengers: Option<Spanned<u32>>,
    extra_laps: Option<Spanned<u32>>,
    race: Option<Spanned<RaceValue>>,
    #[serde(default)]
    stage: Vec<Spanned<StageTable>>,
    #[serde(default)]
    skip_unsuitable: bool,
    jobs: Option<Spanned<u32>>,
    #[serde(default)]
    scramble: bool,
    #[serde(default)]
    players: Vec<Spanned<PlayerEntry>>,
    comparison: Option<Spanned<ComparisonTable>>,
    #[serde(default)]
    games: Vec<Spanned<GameText>>,
    #[serde(default)]
    clocks: ClocksTable,
    #[serde(default)]
    budget: BudgetTable,
    #[serde(default)]
    faults: FaultsTable,
    #[serde(default)]
    limits: LimitsTable,
    #[serde(default)]
    record: RecordSettings,
    /// What a lock file adds; nothing that determines a run.
    #[serde(default, rename = "lock")]
    _lock: Option<toml::Table>,
}

fn one() -> i64 {
    1
}

/// Ids of players.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with the ids of players `base`, `head` and perhaps `canary`, as `comparison`"
)]
struct ComparisonTable {
    base: String,
    head: String,
    canary: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct ClocksTable {
    start: Option<Spanned<Value>>,
    play: Option<Spanned<Value>>,
    margin: Option<Spanned<Value>>,
    #[serde(default)]
    enforce: Enforcement,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct BudgetTable {
    nodes: Option<Spanned<Value>>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct FaultsTable {
    #[serde(default)]
    substitute: Substitute,
    #[serde(default)]
    goal_conflict: GoalConflict,
}

fn is_same_game(a: &GameEntry, b: &GameEntry) -> bool {
    a.source.text == b.source.text && a.reading == b.reading
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct LimitsTable {
    step_limit: Option<Spanned<u32>>,
    max_facts: Option<usize>,
    max_steps: Option<u64>,
    max_term_depth: Option<u32>,
    reply_bytes: Option<usize>,
    header_bytes: Option<usize>,
}

impl LimitsTable {
    /// The limits of the reasoner.
    fn guards(&self) -> Guards {
        let default = Guards::default();
        Guards {
            max_term_depth: self.max_term_depth.unwrap_or(default.max_term_depth),
            max_facts: self.max_facts.unwrap_or(default.max_facts),
            max_steps: self.max_steps.unwrap_or(default.max_steps),
            ..default
        }
    }
}

/// Makes a spec of the file at `path`; paths in it are relative to its folder.
///
/// # Errors
/// The first thing that is wrong.
pub fn read_file(path: &Path, overrides: &Overrides) -> Result<Spec, SpecError> {
    let unreadable = |source| SpecError::Unreadable { path: path.to_owned(), source };
    let text = crate::regular_file::read_text(path).map_err(unreadable)?;
    read(&text, &path.display().to_string(), path.parent().unwrap_or(Path::new("")), overrides)
}

/// Makes a spec of `text`. `origin` names the text in errors; paths in it are
/// relative to `folder`.
///
/// # Errors
/// The first thing that is wrong.
pub fn read(
    text: &str,
    origin: &str,
    folder: &Path,
    overrides: &Overrides,
) -> Result<Spec, SpecError> {
    let source = Source(TomlText { text, origin });
    let file = source.file()?;
    let name = source.name(&file)?;
    let jobs = file.jobs.as_ref().map(|jobs| source.positive(jobs, "jobs")).transpose()?;
    let time_budgets = source.time_budgets(&file.clocks, &file.budget, overrides)?;
    let by_clock = time_budgets.iter().any(|time| time.budget == Budget::Clock);
    let default_rules = MatchRules::default();
    let limits = &file.limits;
    let step_limit = limits.step_limit.as_ref().map(|n| source.positive(n, "step_limit"));
    let (players, comparison) = source.players(&file, by_clock, overrides.contenders.as_ref())?;
    let by_nodes = time_budgets.iter().filter(|time| time.budget != Budget::Clock);
    let n_clocks = by_nodes.map(|time| time.clocks.play).collect::<BTreeSet<_>>().len();
    if n_clocks > 1 {
        let span = file.clocks.play.as_ref().map_or(0..0, Spanned::span);
        let message = "clocks.play: with budget.nodes, a budget is named by its nodes alone; give one \
                       duration, or leave budget.nodes out";
        return Err(source.error(span, message));
    }
    let blocks = file.blocks.as_ref().map_or(Ok(1), |blocks| source.positive(blocks, "blocks"))?;
    let top = StageTable {
        format: file.format,
        blocks: None,
        rounds: file.rounds,
        challengers: file.challengers,
        extra_laps: file.extra_laps,
        best: None,
        race: file.race,
    };
    let stages = source.stages(top, &file.stage, blocks, players.len(), overrides)?;
    if comparison.is_some()
        && !matches!(stages[..], [Stage { format: Format::RoundRobin, race: None, .. }])
    {
        let message = "a comparison has its own pairings; leave `format`, `race` and [[stage]] out";
        return Err(source.whole(message));
    }
    Ok(Spec {
        name,
        seed: overrides.seed.unwrap_or(file.seed.cast_unsigned()),
        blocks,
        stages,
        seating: file.seating,
        players,
        comparison,
        games: source.games(&file.games, folder)?,
        time_budgets,
        rules: MatchRules {
            step_limit: step_limit.transpose()?.unwrap_or(default_rules.step_limit),
            substitute: file.faults.substitute,
            goal_conflict: file.faults.goal_conflict,
            enforcement: file.clocks.enforce,
            scramble: file.scramble,
            max_reply_bytes: limits.reply_bytes.unwrap_or(default_rules.max_reply_bytes),
            max_header_bytes: limits.header_bytes.unwrap_or(default_rules.max_header_bytes),
        },
        guards: limits.guards(),
        skip_unsuitable: file.skip_unsuitable || overrides.skip_unsuitable,
        jobs: overrides.jobs.or(jobs),
        record: file.record,
    })
}

/// What readers of a finished run need of its spec. Its players may be gone, with the files
/// that they used.
#[derive(Clone, Debug)]
pub struct RecordedSpec {
    /// As in [`Spec::name`].
    pub name: String,
    /// As in [`Spec::games`].
    pub games: Vec<GameEntry>,
    /// As in [`Spec::guards`].
    pub guards: Guards,
    /// As in [`MatchRules::scramble`].
    pub scramble: bool,
    /// As [`Spec::timings`] gives.
    pub timings: bool,
}

/// Reads the spec of a finished run, without its players.
///
/// # Errors
/// As those of [`read`], but for what is wrong with players.
pub fn read_recorded(text: &str, origin: &str, folder: &Path) -> Result<RecordedSpec, SpecError> {
    let source = Source(TomlText { text, origin });
    let file = source.file()?;
    let times = source.time_budgets(&file.clocks, &file.budget, &Overrides::default())?;
    Ok(RecordedSpec {
        name: source.name(&file)?,
        games: source.games(&file.games, folder)?,
        guards: file.limits.guards(),
        scramble: file.scramble,
        timings: file.record.has_timings(&times),
    })
}

impl Source<'_> {
    /// The whole text, as it is structured.
    fn file(&self) -> Result<SpecFile, SpecError> {
        let text = self.0.text;
        // A rulesheet begins with a list or a comment of GDL; no TOML does.
        if text.trim_start().starts_with(['(', ';']) {
            return Err(self.whole(
                "this is a rulesheet, not a spec; name it in the `games` of a spec, or play one \
                 match with `gamemaster play`",
            ));
        }
        let is_suite = || {
            toml::from_str::<toml::Table>(text).is_ok_and(|table| table.contains_key("position"))
        };
        toml::from_str(text).map_err(|error| match is_suite() {
            true => {
                self.whole("this is a suite of positions, not a spec; use `gamemaster suite run`")
            }
            false => self.0.parse_error(&error).into(),
        })
    }

    /// The name of the run.
    fn name(&self, file: &SpecFile) -> Result<String, SpecError> {
        match &file.name {
            Some(name) => self.run_name(name),
            None => {
                let stem = Path::new(self.0.origin).file_stem();
                Ok(stem.map_or("run".into(), |stem| stem.to_string_lossy().into()))
            }
        }
    }

    fn run_name(&self, name: &Spanned<String>) -> Result<String, SpecError> {
        let text = name.get_ref();
        if is_plain(text) {
            return Ok(text.clone());
        }
        Err(self
            .error(name.span(), format!("name = {text:?}: it names a folder; use only {PLAIN}")))
    }

    /// The players, compared ones first, and which of them are compared.
    fn players(
        &self,
        file: &SpecFile,
        by_clock: bool,
        contenders: Option<&Contenders>,
    ) -> Result<(Vec<Contestant>, Option<Comparison>), SpecError> {
        let given = self.contestants(&file.players)?;
        match (contenders, &file.comparison) {
            (Some(_), Some(table)) => {
                let message = "`comparison`: a suite names games and opponents; the compared players are \
                               given on the command line";
                Err(self.error(table.span(), message))
            }
            (Some(Contenders { base, head, canary }), None) => {
                let compared = [Some(base), Some(head), canary.as_ref()];
                let compared = compared.into_iter().flatten();
                let compared = compared.map(|player| (Place::default(), player.clone()));
                let players = self.distinct(compared.chain(given).collect(), by_clock)?;
                let canary = canary.as_ref().map(|_| 2);
                Ok((players, Some(Comparison { base: 0, head: 1, canary })))
            }
            (None, table) => {
                if given.is_empty() {
                    return Err(self.whole(
                        "the spec has no players; add players = [\"KIND\", ...], or [[players]] tables \
                         with a `kind`, `url` or `command`",
                    ));
                }
                let players = self.distinct(given, by_clock)?;
                let table = table.as_ref();
                let comparison = table.map(|table| self.comparison(table, &players)).transpose()?;
                Ok((players, comparison))
            }
        }
    }

    fn comparison(
        &self,
        table: &Spanned<ComparisonTable>,
        players: &[Contestant],
    ) -> Result<Comparison, SpecError> {
        let find = |id: &String| {
            let found = players.iter().position(|player| player.config.id == *id);
            found.ok_or_else(|| self.error(table.span(), format!("comparison: no player `{id}`")))
        };
        let ComparisonTable { base, head, canary } = table.get_ref();
        let comparison = Comparison {
            base: find(base)?,
            head: find(head)?,
            canary: canary.as_ref().map(find).transpose()?,
        };
        let Comparison { base, head, canary } = comparison;
        if base == head || canary.is_some_and(|canary| canary == base || canary == head) {
            let message = "comparison: base, head and canary must be different players";
            return Err(self.error(table.span(), message));
        }
        Ok(comparison)
    }

    fn contestants(
        &self,
        entries: &[Spanned<PlayerEntry>],
    ) -> Result<Vec<(Place, Contestant)>, SpecError> {
        let read = |(index, entry): (usize, &Spanned<PlayerEntry>)| {
            let place = Place { span: entry.span(), index };
            let contestant = match entry.get_ref() {
                PlayerEntry::Word(word) => fields_of_word(word)
                    .and_then(|fields| contestant(&fields).map_err(|wrong| wrong.message))
                    .map_err(|message| {
                        self.error(entry.span(), format!("player `{word}`: {message}"))
                    })?,
                PlayerEntry::Fields(fields) => contestant(fields).map_err(|wrong| {
                    let span = self.key_of(&place, wrong.key.as_deref().unwrap_or_default());
                    self.error(span, wrong.message)
                })?,
            };
            Ok((place, contestant))
        };
        entries.iter().enumerate().map(read).collect()
    }

    /// The place of a key of a player's table, or of the whole entry without it.
    fn key_of(&self, player: &Place, key: &str) -> Range<usize> {
        let found = self.0.key_span("players", player.index, key);
        found.filter(|_| player.span.end > 0).unwrap_or_else(|| player.span.clone())
    }

    /// The players, if they can play side by side.
    fn distinct(
        &self,
        given: Vec<(Place, Contestant)>,
        by_clock: bool,
    ) -> Result<Vec<Contestant>, SpecError> {
        let mut players = Vec::new();
        let mut ids = BTreeSet::new();
        let mut addresses = BTreeMap::new();
        for (place, contestant) in given {
            let id = &contestant.config.id;
            if !ids.insert(id.clone()) {
                let message = format!("duplicate player `{id}`; give one of them another `id`");
                return Err(self.error(self.key_of(&place, "id"), message));
            }
            if by_clock && contestant.config.odds.nodes.is_some() {
                let message = format!(
                    "`{id}` has a node budget, but the spec has clocks; set budget.nodes for the whole \
                     spec, or clocks for this player"
                );
                return Err(self.error(self.key_of(&place, "budget.nodes"), message));
            }
            if let PlayerSource::Remote { host, port } = &contestant.config.source
                && let Some(twin) = addresses.insert((host.to_ascii_lowercase(), *port), id.clone())
            {
                let message = format!(
                    "`{twin}` and `{id}` have the same address, http://{host}:{port}, which plays \
                     one match at a time; remove one of them"
                );
                return Err(self.error(self.key_of(&place, "url"), message));
            }
            players.push(contestant);
        }
        Ok(players)
    }

    fn games(
        &self,
        entries: &[Spanned<GameText>],
        folder: &Path,
    ) -> Result<Vec<GameEntry>, SpecError> {
        if entries.is_empty() {
            return Err(self.whole("the spec has no games; add games = [\"NAME or PATH\", ...]"));
        }
        let mut games: Vec<GameEntry> = Vec::new();
        let mut names = BTreeSet::new();
        for entry in entries {
            let span = match entry.get_ref() {
                GameText::Word(_) => entry.span(),
                GameText::Table(table) => table.name_span(),
            };
            for game in self.game(entry, folder)? {
                if !names.insert(game.source.name.clone()) {
                    let message = format!(
                        "duplicate game `{}`; give one of them another `name` in a [[games]] table",
                        game.source.name
                    );
                    return Err(self.error(span, message));
                }
                if let Some(twin) = games.iter().find(|other| is_same_game(other, &game)) {
                    let message = format!(
                        "`{}` and `{}` are the same rulesheet with the same settings; remove one of them",
                        twin.source.name, game.source.name
                    );
                    return Err(self.error(span, message));
                }
                games.push(game);
            }
        }
        Ok(games)
    }

    fn game(&self, entry: &Spanned<GameText>, folder: &Path) -> Result<Vec<GameEntry>, SpecError> {
        let table = match entry.get_ref() {
            GameText::Word(game) => {
                return find_games(game, folder).map_err(|error| self.error(entry.span(), error));
            }
            GameText::Table(table) => table,
        };
        let mut games = find_games(table.game.get_ref(), folder)
            .map_err(|error| self.error(table.game.span(), error))?;
        let weight =
            table.weight.as_ref().map_or(Ok(1), |weight| self.positive(weight, "weight"))?;
        if let Some(name) = &table.name {
            match games.as_mut_slice() {
                [game] => game.source.name.clone_from(name.get_ref()),
                _ => {
                    let message = "`name` needs a single game, and the pattern matches several";
                    return Err(self.error(name.span(), message));
                }
            }
        }
        for game in &mut games {
            game.weight = weight;
            game.reading = Reading { case: table.case, lenient: table.lenient };
        }
        Ok(games)
    }

    fn time_budgets(
        &self,
        clocks: &ClocksTable,
        budget: &BudgetTable,
        overrides: &Overrides,
    ) -> Result<Vec<TimeBudget>, SpecError> {
        let starts = self.durations(clocks.start.as_ref(), "start", Duration::from_secs(10))?;
        let plays = match &overrides.play_clocks[..] {
            [] => self.durations(clocks.play.as_ref(), "play", Duration::from_secs(1))?,
            given => given.to_vec(),
        };
        let node_budgets = match &overrides.nodes[..] {
            // Clocks that are asked for are to count.
            [] if !overrides.play_clocks.is_empty() => vec![Budget::Clock],
            [] => self.budgets(budget)?,
            given => given.iter().copied().map(Budget::Nodes).collect(),
        };
        let margins = self.durations(clocks.margin.as_ref(), "margin", Duration::from_secs(1))?;
        let [margin] = margins[..] else {
            let span = clocks.margin.as_ref().map_or(0..0, Spanned::span);
            return Err(self.error(span, "clocks.margin: expected one duration for all clocks"));
        };
        let start_of = |index: usize| match &starts[..] {
            [start] => Some(*start),
            starts if starts.len() == plays.len() => Some(starts[index]),
            _ => None,
        };
        // Nodes on the command line are budgets in place of clocks, of which the longest
        // bounds them all.
        let longest = plays.iter().copied().max().filter(|_| !overrides.nodes.is_empty());
        let is_played = |play: &Duration| longest.is_none_or(|longest| *play == longest);
        let mut budgets = Vec::new();
        for (index, &play) in plays.iter().enumerate().filter(|(_, play)| is_played(play)) {
            let start = start_of(index).ok_or_else(|| {
                let span = clocks.start.as_ref().map_or(0..0, Spanned::span);
                let message = format!(
                    "clocks.start has {} and clocks.play {}; give start one duration, or as many as play",
                    counted(starts.len(), "duration", "durations"),
                    counted(plays.len(), "duration", "durations")
                );
                self.error(span, message)
            })?;
            let clocks = Clocks { start, play, margin };
            for &budget in &node_budgets {
                let time_budget = TimeBudget { clocks, budget };
                if budgets.contains(&time_budget) {
                    return Err(self.whole("two budgets are equal; remove one of them"));
                }
                budgets.push(time_budget);
            }
        }
        Ok(budgets)
    }

    fn budgets(&self, table: &BudgetTable) -> Result<Vec<Budget>, SpecError> {
        let Some(nodes) = &table.nodes else { return Ok(vec![Budget::Clock]) };
        let number = |value: &Value| match value.as_integer().map(u64::try_from) {
            Some(Ok(nodes)) if nodes > 0 => Ok(Budget::Nodes(nodes)),
            _ => {
                let message = "expected a whole number from 1, or a list of them";
                Err(self.error(nodes.span(), format!("budget.nodes = {value}: {message}")))
            }
        };
        match nodes.get_ref() {
            Value::Array(values) if values.is_empty() => Err(self
                .error(nodes.span(), "budget.nodes: the list is empty; give one number or more")),
            Value::Array(values) => values.iter().map(number).collect(),
            value => Ok(vec![number(value)?]),
        }
    }

    fn durations(
        &self,
        value: Option<&Spanned<Value>>,
        key: &str,
        default: Duration,
    ) -> Result<Vec<Duration>, SpecError> {
        let Some(spanned) = value else { return Ok(vec![default]) };
        let duration = |value: &Value| {
            value.as_str().and_then(read_clock).ok_or_else(|| {
                let expected = format!("expected {EXPECTED}, or a list of them");
                self.error(spanned.span(), format!("clocks.{key} = {value}: {expected}"))
            })
        };
        match spanned.get_ref() {
            Value::Array(values) if values.is_empty() => {
                let message = format!("clocks.{key}: the list is empty; give one duration or more");
                Err(self.error(spanned.span(), message))
            }
            Value::Array(values) => values.iter().map(duration).collect(),
            value => Ok(vec![duration(value)?]),
        }
    }
}

/// The games that `wanted` names: a shipped name, a path relative to `folder`,
/// or a path whose last part holds `*` for any characters.
fn find_games(wanted: &str, folder: &Path) -> Result<Vec<GameEntry>, String> {
    let entry = |source| GameEntry { source, reading: Reading::default(), weight: 1 };
    let find = |file: &str| GameSource::find(file).map(entry).map_err(|error| error.message());
    let is_path = wanted.contains(['/', '\\', '.', '*']);
    if !is_path {
        return Ok(vec![find(wanted)?]);
    }
    let path = folder.join(wanted);
    let Some(pattern) =
        path.file_name().and_then(|name| name.to_str()).filter(|name| name.contains('*'))
    else {
        return Ok(vec![find(&path.to_string_lossy())?]);
    };
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let parent = parent.unwrap_or(Path::new("."));
    let failed = |error: std::io::Error| {
        let parent = parent.display();
        format!(
            "`{wanted}`: cannot list the folder {parent}: {error}; paths begin in the spec's folder"
        )
    };
    let mut files = Vec::new();
    for file in std::fs::read_dir(parent).map_err(failed)? {
        let file = file.map_err(failed)?;
        if file.file_name().to_str().is_some_and(|name| fits(pattern, name)) {
            files.push(file.path());
        }
    }
    files.sort();
    if files.is_empty() {
        return Err(format!("no file matches `{wanted}`"));
    }
    files.iter().map(|file| find(&file.to_string_lossy())).collect()
}

/// Whether `name` fits `pattern`, in which `*` stands for any characters.
fn fits(pattern: &str, name: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == name,
        Some((before, after)) => name.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices()
                .map(|(at, _)| at)
                .chain([rest.len()])
                .any(|at| fits(after, &rest[at..]))
        }),
    }
}
