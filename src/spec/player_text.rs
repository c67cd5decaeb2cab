//! Players as they are written: a table of a spec, or a word of the command line.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;

use players::options::LEARNED;
use players::{OptionSpec, PlayerKind};
use strum::VariantNames;
use toml::Value;

use super::limits_text;
use super::odds_text::{self, odds};
use super::player_fields::{PLAIN, PlayerFields, Wrong, is_plain, kind_of};
use super::{Contestant, SpecError};
use crate::built_in;
use crate::error_chain::chained;
use crate::fingerprint::Fingerprint;
use crate::launch_limits::LaunchLimits;
use crate::manager::{
    Dialect, PlayerConfig, PlayerSource, Reading, TimeOdds, command_words, unknown_kind,
};
use crate::{evaluation_file, solution_file};

/// The key of what a worker's machine must have.
const TAGS: &str = "tags";

/// Reads a player from the command line: `KIND`, `KIND:option=value,...`,
/// `http://HOST:PORT`, or `cmd:COMMAND LINE with {port}`. A leading `ID=` names
/// it.
///
/// # Errors
/// What is wrong with it.
pub fn read_player(text: &str) -> Result<Contestant, SpecError> {
    read_player_as(text, None)
}

/// Reads a player from the command line and calls it `id` whatever it is called
/// there.
///
/// # Errors
/// What is wrong with it.
pub fn read_player_as(text: &str, called: Option<&str>) -> Result<Contestant, SpecError> {
    let alone = |message: String| SpecError::Alone(format!("player `{text}`: {message}"));
    let mut fields = fields_of_word(text).map_err(alone)?;
    if let Some(called) = called {
        fields.insert("id".into(), Value::String(called.into()));
    }
    contestant(&fields).map_err(|wrong| alone(wrong.message))
}

/// Checks an evaluation that stands alone on a command line.
///
/// # Errors
/// What is wrong with it, or what was expected.
pub(crate) fn check_evaluation(text: &str) -> Result<(), String> {
    const KIND: &str = "minimax";
    let fields = [("kind", KIND), ("evaluation", text)];
    let fields = fields.map(|(key, value)| (key.to_owned(), Value::String(value.to_owned())));
    let Err(Wrong { message, .. }) = contestant(&fields.into_iter().collect()) else {
        return Ok(());
    };
    // Neither the option nor the player is what was typed.
    let message = message.strip_prefix("evaluation: ").unwrap_or(&message);
    let expected = message.split_once(&format!(" of `{KIND}`: "));
    Err(expected.map_or(message, |(_, expected)| expected).to_owned())
}

/// The table that says the same as a player's word.
///
/// # Errors
/// What is wrong with the word.
pub(super) fn fields_of_word(text: &str) -> Result<PlayerFields, String> {
    let mut fields = PlayerFields::new();
    let mut rest = text;
    // What is before the `=` of an option has a colon.
    if let Some((id, of)) = text.split_once('=')
        && !id.contains(':')
    {
        if !is_plain(id) {
            return Err(format!(
                "the name {id:?}: use only {PLAIN} (before `=` stands a name; options follow a colon, as \
                 in alpha_beta:depth=3)"
            ));
        }
        fields.insert("id".into(), Value::String(id.into()));
        rest = of;
    }
    if let Some(url) = meant_url(rest) {
        return Err(format!(
            "expected http://HOST:PORT for a player that runs already; did you mean `{url}`?"
        ));
    }
    if rest.split_once(':').is_some_and(|(_, address)| address.starts_with("//")) {
        fields.insert("url".into(), Value::String(rest.into()));
    } else if let Some(command) = rest.strip_prefix("cmd:") {
        fields.insert("command".into(), Value::String(command.into()));
    } else {
        let (kind, options) = rest.split_once(':').unwrap_or((rest, ""));
        if rest.ends_with(':') {
            return Err("expected option=value after the colon".to_owned());
        }
        fields.insert("kind".into(), Value::String(kind.into()));
        for option in split_options(options) {
            if option.trim().is_empty() {
                return Err(format!("`{options}`: an option is missing before or after a comma"));
            }
            let (key, value) = option
                .split_once('=')
                .ok_or_else(|| format!("`{option}`: expected option=value"))?;
            insert(&mut fields, key.trim(), option_value(value.trim()))?;
        }
    }
    Ok(fields)
}

/// The address that a word without `http://` before it names: `localhost:9999`, or
/// `10.0.0.1:9147/`. No kind of player is followed by a number.
fn meant_url(word: &str) -> Option<String> {
    let word = word.trim_start_matches('/').trim_end_matches('/');
    let (host, port) = word.rsplit_once(':')?;
    let port: u16 = port.parse().ok()?;
    let is_host = !host.is_empty()
        && host.chars().all(|c| c.is_ascii_alphanumeric() || ".-_:[]".contains(c))
        && built_in::find(host).is_none();
    is_host.then(|| format!("http://{host}:{port}"))
}

/// Inserts a value; `clocks.play` goes into the table `clocks`, as in TOML.
///
/// # Errors
/// It is there already.
fn insert(fields: &mut PlayerFields, key: &str, value: Value) -> Result<(), String> {
    let inner = key.split_once('.').and_then(|(outer, inner)| {
        let table = fields.entry(outer.to_owned()).or_insert_with(|| toml::Table::new().into());
        Some((table.as_table_mut()?, inner))
    });
    let earlier = match inner {
        Some((table, inner)) => table.insert(inner.to_owned(), value),
        None => fields.insert(key.to_owned(), value),
    };
    earlier.map_or(Ok(()), |_| Err(format!("`{key}` is given twice")))
}

/// Splits at commas that stand in no quotes, brackets or parentheses; an empty text has no
/// parts.
fn split_options(options: &str) -> Vec<&str> {
    if options.trim().is_empty() {
        return Vec::new();
    }
    let (mut parts, mut start, mut depth, mut quoted) = (Vec::new(), 0, 0_i32, false);
    for (at, character) in options.char_indices() {
        match character {
            '"' => quoted = !quoted,
            '[' | '(' | '{' if !quoted => depth += 1,
            ']' | ')' | '}' if !quoted => depth -= 1,
            ',' if !quoted && depth == 0 => {
                parts.push(&options[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&options[start..]);
    parts
}

/// A value as TOML reads it; a bare word is a string, and so is each in a list.
pub(crate) fn option_value(text: &str) -> Value {
    let parsed: Option<toml::Table> = toml::from_str(&format!("value = {text}")).ok();
    if let Some(value) = parsed.and_then(|mut table| table.remove("value")) {
        return value;
    }
    let list = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    match list {
        Some(list) => {
            // A comma may follow the last item, as in TOML.
            let items = split_options(list).into_iter().filter(|item| !item.trim().is_empty());
            Value::Array(items.map(|item| option_value(item.trim())).collect())
        }
        None => Value::String(text.to_owned()),
    }
}

/// Checks a player's table.
pub(super) fn contestant(fields: &PlayerFields) -> Result<Contestant, Wrong> {
    let named = |key: &str| fields.get(key).map(|value| text_of(key, value)).transpose();
    match (named("kind")?, named("url")?, named("command")?) {
        (Some(kind), None, None) => built_in(kind, fields),
        (None, Some(url), None) => outside(url, remote(url)?, fields),
        (None, None, Some(template)) => {
            if !template.contains("{port}") && !template.contains("{socket}") {
                let message = "put {port} (or {socket}) into the command; it is replaced by the port to listen on";
                return Err(Wrong::at("command", message));
            }
            if let Err(error) = command_words(template) {
                return Err(Wrong::at("command", error.to_string()));
            }
            let source = PlayerSource::Command {
                template: template.to_owned(),
                limits: limits_text::limits(fields)?,
            };
            outside(template, source, fields)
        }
        (None, None, None) => {
            Err(Wrong::whole("a player needs a `kind` (built in), a `url` or a `command`"))
        }
        (_, url, command) => {
            let second = if command.is_some() || url.is_none() { "command" } else { "url" };
            let message = "a player has one of `kind`, `url` and `command`, not several";
            Err(Wrong::at(second, message))
        }
    }
}

fn text_of<'a>(key: &str, value: &'a Value) -> Result<&'a str, Wrong> {
    let wrong =
        || Wrong::at(key, format!("{key} = {value}: expected a string, not {}", kind_of(value)));
    value.as_str().ok_or_else(wrong)
}

fn id_of(fields: &PlayerFields, default: &str) -> Result<String, Wrong> {
    let Some(value) = fields.get("id") else { return Ok(default.to_owned()) };
    let id = text_of("id", value)?;
    if is_plain(id) {
        return Ok(id.to_owned());
    }
    Err(Wrong::at("id", format!("id = {id:?}: use only {PLAIN}")))
}

fn built_in(name: &str, fields: &PlayerFields) -> Result<Contestant, Wrong> {
    let Some(kind) = built_in::find(name) else {
        return Err(Wrong::at("kind", unknown_kind(name)));
    };
    if fields.contains_key(limits_text::KEY) {
        let message = format!(
            "{} is a built-in player, and limits are for programs: give a `command` instead of a \
             `kind`, or an option such as `memory` if the player has it",
            kind.name
        );
        return Err(Wrong::at(limits_text::KEY, message));
    }
    let mut id = id_of(fields, kind.name)?;
    let given: BTreeMap<&str, &Value> = fields
        .iter()
        .map(|(key, value)| (key.as_str(), value))
        .filter(|(key, _)| !["id", "kind", TAGS].contains(key) && !odds_text::KEYS.contains(key))
        .collect();
    let options = options(kind, &given)?;
    let odds = odds(fields)?;
    if !fields.contains_key("id") {
        // Two settings of one kind get different ids without being named.
        for (key, value) in options.iter() {
            match value {
                players::options::Value::Table(path, _) => id.push_str(&format!("-{key}{path}")),
                value => id.push_str(&format!("-{key}{value}")),
            }
        }
        if !odds.is_none() {
            id.push_str(&format!("-{odds}"));
        }
        id.retain(|character| is_plain(&format!("_{character}")));
    }
    let hash =
        Fingerprint::of("built-in player").text(&id).text(kind.name).text(&options.to_string());
    Ok(Contestant {
        config: Arc::new(PlayerConfig {
            id,
            source: PlayerSource::BuiltIn { kind: kind.name, options },
            hash: with_odds(hash, odds).hex(16),
            odds,
            reading: Reading::default(),
            dialect: Dialect::default(),
        }),
        thinks: !kind.instant,
        tags: tags(fields)?,
        plays_hidden_information: kind.plays_hidden_information,
        options: given.iter().map(|(key, value)| ((*key).to_owned(), (*value).clone())).collect(),
    })
}

/// A player's hash is what it was before there were odds, if it has none.
fn with_odds(hash: Fingerprint, odds: TimeOdds) -> Fingerprint {
    if odds.is_none() { hash } else { hash.text(&odds.to_string()) }
}

/// The options that differ from their defaults: what is hashed, and makes the
/// player what it is.
fn options(
    kind: &'static PlayerKind,
    given: &BTreeMap<&str, &Value>,
) -> Result<players::Options, Wrong> {
    let mut options = players::Options::new();
    for (&key, value) in given {
        let Some(value) = option(value) else {
            let message = format!("{key} = {value}: no option accepts {}", kind_of(value));
            return Err(Wrong::at(key, message));
        };
        let spec = kind.options.iter().find(|spec| spec.name == key);
        let value = match value {
            players::options::Value::Text(path) if spec.is_some_and(OptionSpec::is_table) => {
                let table = solution_file::shared(Path::new(&path))
                    .map_err(|error| Wrong::at(key, format!("{key}: {}", chained(&error))))?;
                players::options::Value::Table(path, table)
            }
            players::options::Value::Text(text)
                if text.starts_with(LEARNED) && spec.is_some_and(OptionSpec::takes_evaluation) =>
            {
                let trained = evaluation_file::read(Path::new(&text[LEARNED.len()..]));
                let trained = trained
                    .map_err(|error| Wrong::at(key, format!("{key}: {}", chained(&error))))?;
                players::options::Value::Learned(Arc::new(trained.evaluation))
            }
            value => value,
        };
        let default = spec.map(|spec| spec.default);
        options.set(key, value.clone());
        let checked = (kind.make)(&options);
        checked.map_err(|error| {
            let own = match spec.is_none() && ODDS_MEANT.contains(&key) {
                true => {
                    "; its own clocks and budget are clocks.start, clocks.play and budget.nodes"
                }
                false => "",
            };
            Wrong::at(key, format!("{error}{own}"))
        })?;
        if default == Some(value.to_string().as_str()) {
            options = options
                .iter()
                .filter(|(name, _)| *name != key)
                .map(|(name, value)| (name, value.clone()))
                .collect();
        }
    }
    Ok(options)
}

/// Words for time odds that are no options.
const ODDS_MEANT: [&str; 6] = ["nodes", "play", "play_clock", "start", "start_clock", "time"];

fn option(value: &Value) -> Option<players::options::Value> {
    use players::options::Value as Out;
    Some(match value {
        Value::String(text) => Out::Text(text.clone()),
        Value::Integer(number) => Out::Integer(*number),
        Value::Float(number) => Out::Float(*number),
        Value::Boolean(boolean) => Out::Boolean(*boolean),
        Value::Array(items) => {
            let texts = items.iter().map(|item| match item {
                Value::String(text) => Some(text.clone()),
                // A move may be called by a number.
                Value::Integer(number) => Some(number.to_string()),
                _ => None,
            });
            Out::Texts(texts.collect::<Option<_>>()?)
        }
        Value::Datetime(_) | Value::Table(_) => return None,
    })
}

fn outside(
    address: &str,
    source: PlayerSource,
    fields: &PlayerFields,
) -> Result<Contestant, Wrong> {
    const KEYS: [&str; 8] =
        ["id", "url", "command", "reading", "dialect", "clocks", limits_text::KEY, TAGS];
    if fields.contains_key("budget") {
        let message =
            "a player reached over HTTP has clocks only, since its nodes cannot be counted";
        return Err(Wrong::at("budget", message));
    }
    if let Some(key) = fields.keys().find(|key| !KEYS.contains(&key.as_str())) {
        let message = format!(
            "unknown key `{key}`; a player reached over HTTP has id, clocks, reading and dialect"
        );
        return Err(Wrong::at(key, message));
    }
    if matches!(source, PlayerSource::Remote { .. }) && fields.contains_key(limits_text::KEY) {
        let message = "a player that runs already cannot be limited; give its `command` instead";
        return Err(Wrong::at(limits_text::KEY, message));
    }
    let default_id = match &source {
        PlayerSource::Remote { host, port } => format!("{host}-{port}"),
        _ => {
            // What follows `-c` is code, and `-u` an option of the interpreter.
            let mut words = address.split_whitespace().take_while(|&word| word != "-c");
            let first = words.clone().next();
            let is_name = |word: &&str| {
                !word.starts_with('-') && (word.contains('.') || !word.contains("python"))
            };
            let word = words.find(is_name).or(first).unwrap_or("program");
            let word = word.rsplit('/').next().unwrap_or("program");
            word.split('.').next().unwrap_or("program").to_owned()
        }
    };
    let mut default_id = default_id;
    default_id.retain(|c| is_plain(&format!("_{c}")));
    let id = id_of(fields, &default_id)?;
    let reading: Reading = word(fields, "reading")?;
    let dialect: Dialect = word(fields, "dialect")?;
    let hash = Fingerprint::of("outside player")
        .text(&id)
        .text(address)
        .text(reading.into())
        .text(dialect.into());
    let hash = match &source {
        PlayerSource::Command { limits, .. } if *limits != LaunchLimits::NONE => {
            hash.text("limits").text(&limits_text::written(*limits).to_string())
        }
        _ => hash,
    };
    let odds = odds(fields)?;
    let hash = with_odds(hash, odds).hex(16);
    Ok(Contestant {
        config: Arc::new(PlayerConfig { id, source, hash, odds, reading, dialect }),
        thinks: true,
        tags: tags(fields)?,
        plays_hidden_information: true,
        options: toml::Table::new(),
    })
}

/// What a worker's machine must have to play matches of the player, in ascending order.
fn tags(fields: &PlayerFields) -> Result<Vec<String>, Wrong> {
    let Some(value) = fields.get(TAGS) else { return Ok(vec![]) };
    let listed = value.as_array().and_then(|list| list.iter().map(Value::as_str).collect());
    let Some(mut tags): Option<Vec<&str>> = listed else {
        return Err(Wrong::at(TAGS, format!("tags = {value}: expected a list of strings")));
    };
    if let Some(wrong) = tags.iter().find(|tag| !is_tag(tag)) {
        return Err(Wrong::at(TAGS, format!("tags: {wrong:?}: {TAG_EXPECTED}")));
    }
    tags.sort_unstable();
    tags.dedup();
    Ok(tags.into_iter().map(str::to_owned).collect())
}

/// What is expected of a tag, in words.
pub(crate) const TAG_EXPECTED: &str =
    "use letters, digits, `_`, `-`, `.`, `+` and `=`, 100 at most";

/// Whether a text is a tag, such as `python` or `cpu=zen4`.
pub(crate) fn is_tag(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.+=".contains(c);
    (1..=100).contains(&text.len()) && text.chars().all(plain)
}

/// A variant by its name; the default without one.
fn word<T: Default + FromStr + VariantNames>(fields: &PlayerFields, key: &str) -> Result<T, Wrong> {
    let Some(value) = fields.get(key) else { return Ok(T::default()) };
    let text = text_of(key, value)?;
    let names = T::VARIANTS.join(", ");
    let wrong = |_| Wrong::at(key, format!("{key} = {text:?}: expected one of {names}"));
    text.parse().map_err(wrong)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}

fn remote(url: &str) -> Result<PlayerSource, Wrong> {
    if url.starts_with("https://") {
        let message = format!("url = {url:?}: https is not supported; expected http://HOST:PORT");
        return Err(Wrong::at("url", message));
    }
    let wrong = || {
        let meant = meant_url(url).map(|meant| format!("; did you mean {meant:?}?"));
        let meant = meant.unwrap_or_default();
        Wrong::at("url", format!("url = {url:?}: expected http://HOST:PORT{meant}"))
    };
    let address = url.strip_prefix("http://").ok_or_else(wrong)?.trim_end_matches('/');
    let (host, port) = address.rsplit_once(':').ok_or_else(wrong)?;
    if host.is_empty() || host.contains(['/', '@', '?', '#']) || !is_number(port) {
        return Err(wrong());
    }
    let port = port.parse().ok().filter(|&port| port > 0).ok_or_else(|| {
        Wrong::at("url", format!("url = {url:?}: port {port}: expected 1 to 65535"))
    })?;
    Ok(PlayerSource::Remote { host: host.to_owned(), port })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_split_at_outer_commas() {
        assert_eq!(
            split_options("depth=4,plan=[a,(f b,c)],x=\"a,b\""),
            ["depth=4", "plan=[a,(f b,c)]", "x=\"a,b\""]
        );
        assert_eq!(split_options(""), [""; 0]);
        assert_eq!(split_options("a,"), ["a", ""]);
    }

    #[test]
    fn values_are_typed() {
        assert_eq!(option_value("4"), Value::Integer(4));
        assert_eq!(option_value("true"), Value::Boolean(true));
        assert_eq!(option_value("center"), Value::String("center".into()));
        let words = |words: &[&str]| {
            Value::Array(words.iter().map(|word| Value::String((*word).into())).collect())
        };
        assert_eq!(option_value("[a3]"), words(&["a3"]));
        assert_eq!(option_value("[(mark 1 2), b, \"c\"]"), words(&["(mark 1 2)", "b", "c"]));
        assert_eq!(option_value("[]"), words(&[]));
        assert_eq!(option_value("[a3"), Value::String("[a3".into()));
    }

    #[test]
    fn moves_are_listed_with_or_without_quotes() {
        let order = |text: &str| {
            let player = read_player(&format!("alpha_beta:move_order={text}")).unwrap();
            player.config.id.clone()
        };
        assert_eq!(order("[a3,b2]"), order("[\"a3\",\"b2\"]"));
        assert_eq!(order("[1, 2]"), order("[\"1\", \"2\"]"));
    }

    #[test]
    fn an_address_without_its_scheme_is_understood() {
        for (word, meant) in [
            ("localhost:9999", "http://localhost:9999"),
            ("mine=127.0.0.1:9147/", "http://127.0.0.1:9147"),
            ("//host.example:80", "http://host.example:80"),
            ("[::1]:80", "http://[::1]:80"),
        ] {
            let error = read_player(word).unwrap_err().to_string();
            assert!(error.contains(&format!("did you mean `{meant}`?")), "{error}");
        }
        for word in ["alpha_beta:9", "nobody:depth=4", "localhost", "a:b", "host:99999"] {
            let error = read_player(word).unwrap_err().to_string();
            assert!(!error.contains("did you mean `http"), "{error}");
        }
        let error = remote("localhost:9147").err().unwrap().message;
        assert!(error.contains("did you mean \"http://localhost:9147\"?"), "{error}");
    }

    #[test]
    fn addresses_are_read() {
        let read = |url| match remote(url) {
            Ok(PlayerSource::Remote { host, port }) => Some((host, port)),
            _ => None,
        };
        assert_eq!(read("http://127.0.0.1:9147"), Some(("127.0.0.1".into(), 9147)));
        assert_eq!(read("http://[::1]:80/"), Some(("[::1]".into(), 80)));
        for url in ["https://a:1", "http://a", "http://a:b", "http://:1", "http://a/b:1", "a:1"] {
            assert_eq!(read(url), None, "{url}");
        }
    }
}
