//! What readers of a journal want of a seat: most of a line is passed over, and
//! names are not copied out of it.

use std::borrow::Cow;

use serde::Deserialize;

use crate::record::{FaultKind, OddsRecord, is_chance};

/// The parts of a [`SeatRecord`](crate::record::SeatRecord) that somebody wants.
#[derive(Deserialize)]
pub(crate) struct LeanSeat<'a> {
    #[serde(borrow)]
    pub(crate) role: Cow<'a, str>,
    #[serde(borrow)]
    player: Option<Name<'a>>,
    #[serde(borrow)]
    pub(crate) player_hash: Cow<'a, str>,
    #[serde(default)]
    pub(crate) odds: Option<OddsRecord>,
    #[serde(default, deserialize_with = "crate::record::reward")]
    pub(crate) reward: Option<u8>,
    pub(crate) start: LeanFault,
}

/// A name that is not copied out of the line.
#[derive(Deserialize)]
struct Name<'a>(#[serde(borrow)] Cow<'a, str>);

/// The fault of an answer, if it was one.
#[derive(Deserialize)]
pub(crate) struct LeanFault {
    #[serde(default)]
    pub(crate) fault: Option<FaultKind>,
}

impl LeanSeat<'_> {
    /// The player's id; `None` where chance moved.
    pub(crate) fn player(&self) -> Option<&str> {
        let name = &*self.player.as_ref()?.0;
        (!is_chance(&self.role, name)).then_some(name)
    }
}

#[cfg(test)]
mod tests {
    use crate::bootstrap::Bootstrap;
    use crate::files;
    use crate::formats::outcomes::Outcomes;
    use crate::sample;
    use crate::standings::standings;
    use crate::stats::scored;

    #[test]
    fn no_reader_takes_a_reward_beyond_bounds() {
        let record = sample::record(0, "game", ["a", "b"], [100, 0]);
        let run = sample::run(true, &[record.clone(), record]);
        let path = run.path().join(files::JOURNAL);
        assert!(scored::read(&path).is_ok() && Outcomes::read(&path).is_ok());
        let journal = sample::without_checksums(&std::fs::read_to_string(&path).unwrap());
        let damaged = journal.replacen("\"reward\":100", "\"reward\":101", 1);
        assert_ne!(damaged, journal);
        std::fs::write(&path, damaged).unwrap();
        assert!(scored::read(&path).is_err());
        assert!(Outcomes::read(&path).is_err());
        assert!(standings(run.path(), &Bootstrap::default()).is_err());
    }
}
