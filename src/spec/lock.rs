//! The complete spec of a run as a file, with hashes and the machine. It is a spec
//! itself, with a `[lock]` table that reading ignores.

use std::fmt::Write as _;

use results::record::Budget;
use serde::Serialize;
use toml::{Table, Value};

use super::{Comparison, Spec, odds_text};
use crate::game_source::CaseMode;
use crate::manager::{Enforcement, PlayerSource};

/// First line of every lock file.
pub const LOCK_HEADER: &str = "# The complete spec of this run; `gamemaster run` reads it too.\n";

/// The machine on which a run began.
#[derive(Clone, Debug, Serialize)]
struct Machine {
    os: &'static str,
    arch: &'static str,
    cores: usize,
}

/// The text of a lock file.
#[must_use]
pub fn lock_text(spec: &Spec) -> String {
    text(
        spec,
        games(spec, |entry| {
            // Relative paths would mean something else from the run's folder.
            let file = &entry.source.file;
            std::path::absolute(file).map_or(file.clone(), |path| path.display().to_string())
        }),
    )
}

/// The text of a spec for another machine: rulesheets that are not shipped are the files
/// `HASH.kif` of the folder in which it is read.
#[must_use]
pub fn portable_text(spec: &Spec) -> String {
    text(spec, games(spec, |entry| format!("{}.kif", entry.text_hash())))
}

fn text(spec: &Spec, games: Vec<Value>) -> String {
    let mut root = Table::new();
    let mut put = |key: &str, value: Value| root.insert(key.to_owned(), value);
    put("name", spec.name.clone().into());
    put("seed", seed_value(spec.seed));
    put("blocks", i64::from(spec.blocks).into());
    put("seating", word(spec.seating));
    for (key, value) in super::stages::written(&spec.stages, spec.blocks) {
        put(&key, value);
    }
    if let Some(jobs) = spec.jobs {
        put("jobs", i64::from(jobs).into());
    }
    put("scramble", spec.rules.scramble.into());
    put("clocks", clocks(spec).into());
    let nodes: Vec<Value> = spec
        .time_budgets
        .iter()
        .filter_map(|time| match time.budget {
            Budget::Clock => None,
            Budget::Nodes(nodes) => Some(seed_value(nodes)),
        })
        .fold(vec![], |mut distinct, nodes| {
            if !distinct.contains(&nodes) {
                distinct.push(nodes);
            }
            distinct
        });
    if !nodes.is_empty() {
        put("budget", table([("nodes", Value::Array(nodes))]).into());
    }
    put("faults", faults(spec).into());
    put("limits", limits(spec).into());
    let timings = word(spec.record.timings);
    let record = [("moves", spec.record.moves.into()), ("timings", timings)];
    put("record", table(record).into());
    put("games", games.into());
    put("players", players(spec).into());
    if let Some(comparison) = spec.comparison {
        put("comparison", compared(spec, comparison).into());
    }
    put("lock", lock(spec).into());
    let text = toml::to_string(&root).expect("a table of plain values can be written");
    let mut file = String::from(LOCK_HEADER);
    write!(file, "\n{text}").expect("a string takes all text");
    file
}

/// TOML's integers are signed: a seed beyond them is written as what has the
/// same bits, and read back as it was.
fn seed_value(seed: u64) -> Value {
    Value::Integer(seed.cast_signed())
}

/// The name of a variant, as it is written in specs.
fn word(variant: impl Into<&'static str>) -> Value {
    Value::from(variant.into())
}

fn table<const N: usize>(entries: [(&str, Value); N]) -> Table {
    entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
}

fn clocks(spec: &Spec) -> Table {
    let words = |duration: std::time::Duration| Value::from(format!("{}ms", duration.as_millis()));
    let mut clocks = Vec::new();
    for time in &spec.time_budgets {
        if !clocks.contains(&time.clocks) {
            clocks.push(time.clocks);
        }
    }
    let mut table = table([
        ("start", clocks.iter().map(|clocks| words(clocks.start)).collect::<Vec<_>>().into()),
        ("play", clocks.iter().map(|clocks| words(clocks.play)).collect::<Vec<_>>().into()),
        ("margin", words(clocks[0].margin)),
    ]);
    // The default is not written: lock files that know no other are the same.
    if spec.rules.enforcement == Enforcement::Exact {
        table.insert("enforce".to_owned(), "exact".into());
    }
    table
}

fn compared(spec: &Spec, comparison: Comparison) -> Table {
    let id = |player: usize| Value::from(spec.players[player].config.id.clone());
    let mut compared = table([("base", id(comparison.base)), ("head", id(comparison.head))]);
    compared.extend(comparison.canary.map(|canary| ("canary".to_owned(), id(canary))));
    compared
}

fn faults(spec: &Spec) -> Table {
    table([
        ("substitute", word(spec.rules.substitute)),
        ("goal_conflict", word(spec.rules.goal_conflict)),
    ])
}

fn limits(spec: &Spec) -> Table {
    let bytes = |bytes: usize| Value::Integer(i64::try_from(bytes).unwrap_or(i64::MAX));
    table([
        ("step_limit", i64::from(spec.rules.step_limit).into()),
        ("max_facts", bytes(spec.guards.max_facts)),
        ("max_steps", Value::Integer(i64::try_from(spec.guards.max_steps).unwrap_or(i64::MAX))),
        ("max_term_depth", i64::from(spec.guards.max_term_depth).into()),
        ("reply_bytes", bytes(spec.rules.max_reply_bytes)),
        ("header_bytes", bytes(spec.rules.max_header_bytes)),
    ])
}

/// Whether the rulesheet is a shipped one.
#[must_use]
pub fn is_shipped(entry: &super::GameEntry) -> bool {
    let shipped = games::library::find(&entry.source.file);
    shipped.is_some_and(|shipped| shipped.text == entry.source.text)
}

/// `file` names the file of a rulesheet that is not shipped.
fn games(spec: &Spec, file: impl Fn(&super::GameEntry) -> String) -> Vec<Value> {
    let game = |entry: &super::GameEntry| {
        let found = if is_shipped(entry) { entry.source.file.clone() } else { file(entry) };
        let mut game = table([
            ("game", found.into()),
            ("name", entry.source.name.clone().into()),
            ("case", word(entry.reading.case)),
            ("lenient", entry.reading.lenient.into()),
            ("weight", i64::from(entry.weight).into()),
        ]);
        if entry.reading.case == CaseMode::default() {
            game.remove("case");
        }
        Value::Table(game)
    };
    spec.games.iter().map(game).collect()
}

fn players(spec: &Spec) -> Vec<Value> {
    let player = |player: &super::Contestant| {
        let config = &player.config;
        let mut fields = table([("id", config.id.clone().into())]);
        match &config.source {
            PlayerSource::BuiltIn { kind, .. } => {
                fields.insert("kind".into(), (*kind).into());
                fields.extend(player.options.clone());
            }
            PlayerSource::Remote { host, port } => {
                fields.insert("url".into(), format!("http://{host}:{port}").into());
            }
            PlayerSource::Command { template } => {
                fields.insert("command".into(), template.clone().into());
            }
        }
        if !matches!(config.source, PlayerSource::BuiltIn { .. }) {
            fields.insert("reading".into(), word(config.reading));
            fields.insert("dialect".into(), word(config.dialect));
        }
        fields.extend(odds_text::written(config.odds));
        if !player.tags.is_empty() {
            let tags: Vec<Value> = player.tags.iter().map(|tag| tag.clone().into()).collect();
            fields.insert("tags".into(), tags.into());
        }
        Value::Table(fields)
    };
    spec.players.iter().map(player).collect()
}

fn lock(spec: &Spec) -> Table {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let machine = Machine { os: std::env::consts::OS, arch: std::env::consts::ARCH, cores };
    let game_hashes: Table =
        spec.games.iter().map(|game| (game.source.name.clone(), game.text_hash().into())).collect();
    let player_hashes: Table = spec
        .players
        .iter()
        .map(|player| (player.config.id.clone(), player.config.hash.clone().into()))
        .collect();
    table([
        ("gamemaster_version", env!("CARGO_PKG_VERSION").into()),
        ("spec_hash", spec.hash().into()),
        ("settings_hash", spec.settings_hash().into()),
        ("game_hashes", game_hashes.into()),
        ("player_hashes", player_hashes.into()),
        ("machine", Value::try_from(machine).expect("plain values")),
    ])
}
