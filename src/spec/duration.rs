//! Durations as users write them.

use std::time::Duration;

/// The longest clock; sums of clocks do not overflow.
const MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// What is expected where a clock is read; fits after "expected".
pub(crate) const EXPECTED: &str = "a duration with its unit, such as \"250ms\", \"1s\" or \"1m 30s\" \
                                   (up to 30 days, in steps of 1 ms)";

/// A clock; `None` if the text is not what is [expected](EXPECTED).
pub(crate) fn read_clock(text: &str) -> Option<Duration> {
    let duration = humantime::parse_duration(text).ok()?;
    (duration.subsec_nanos() % 1_000_000 == 0 && duration <= MAX).then_some(duration)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_are_whole_milliseconds_within_a_month() {
        assert_eq!(read_clock("250ms"), Some(Duration::from_millis(250)));
        assert_eq!(read_clock("1m 30s"), Some(Duration::from_secs(90)));
        assert_eq!(read_clock("30days"), Some(MAX));
        for text in ["", "5", "soon", "-1s", "1us", "1500us", "31days", "1000000000000years"] {
            assert_eq!(read_clock(text), None, "{text:?}");
        }
    }
}
