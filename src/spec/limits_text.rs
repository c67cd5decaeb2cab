//! Limits of a launched player as they are written in its table:
//! `limits = { memory = "1GiB", processes = 64, cpus = 1 }`.

use bytesize::ByteSize;
use toml::{Table, Value};

use super::player_fields::{PlayerFields, Wrong, kind_of};
use crate::launch_limits::LaunchLimits;

/// Key of a player's table that is read here.
pub(super) const KEY: &str = "limits";

/// The limits that a player's table gives.
pub(super) fn limits(fields: &PlayerFields) -> Result<LaunchLimits, Wrong> {
    let mut limits = LaunchLimits::NONE;
    let Some(value) = fields.get(KEY) else { return Ok(limits) };
    let table = value.as_table().ok_or_else(|| {
        let example = "limits.memory = \"1GiB\"";
        Wrong::at(KEY, format!("limits is {}: expected as in {example}", kind_of(value)))
    })?;
    for (key, value) in table {
        let wrong = |message: String| Wrong::at(&format!("{KEY}.{key}"), message);
        let number = || {
            let number = value.as_integer().and_then(|n| u32::try_from(n).ok());
            number.filter(|&n| n > 0).ok_or_else(|| {
                wrong(format!("limits.{key} = {value}: expected a whole number from 1"))
            })
        };
        match key.as_str() {
            "memory" => limits.memory = Some(bytes(value).map_err(wrong)?),
            "processes" => limits.processes = Some(number()?),
            "cpus" => limits.cpus = Some(number()?),
            _ => {
                return Err(wrong(format!(
                    "unknown key `limits.{key}`; limits are memory, processes and cpus"
                )));
            }
        }
    }
    Ok(limits)
}

fn bytes(value: &Value) -> Result<u64, String> {
    let size = value.as_str().and_then(|text| text.parse().ok());
    size.map(|ByteSize(bytes)| bytes).filter(|&bytes| bytes >= 1 << 20).ok_or_else(|| {
        format!("limits.memory = {value}: expected a size from 1MiB, such as \"512MiB\"")
    })
}

/// The limits as a player's table has them.
pub(super) fn written(limits: LaunchLimits) -> Table {
    let LaunchLimits { memory, processes, cpus } = limits;
    let number = |n: u32| Value::Integer(n.into());
    let entries = [
        ("memory", memory.map(|bytes| Value::String(format!("{bytes}B")))),
        ("processes", processes.map(number)),
        ("cpus", cpus.map(number)),
    ];
    entries.into_iter().filter_map(|(key, value)| Some((key.to_owned(), value?))).collect()
}
