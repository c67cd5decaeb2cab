//! Numbers on the command line.

use std::ops::RangeInclusive;
use std::time::Duration;

use bytesize::ByteSize;

/// Reads a whole number in `range`; all of the type if it is the whole range.
pub(super) fn whole<T: TryFrom<u64>>(
    range: RangeInclusive<u64>,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    move |text| {
        let number = text.parse::<u64>().ok().filter(|number| range.contains(number));
        number.and_then(|number| T::try_from(number).ok()).ok_or_else(|| expected(&range))
    }
}

/// The same from `least` on.
pub(super) fn whole_from<T: TryFrom<u64>>(
    least: u64,
) -> impl Fn(&str) -> Result<T, String> + Clone {
    whole(least..=u64::MAX)
}

fn expected(range: &RangeInclusive<u64>) -> String {
    match (range.start(), range.end()) {
        (least, &u64::MAX) => format!("expected a whole number from {least} to 2^64 - 1"),
        (least, most) => format!("expected {least} to {most}"),
    }
}

/// A number of nodes: a whole number from 1, also as `1e4`.
pub(super) fn nodes(text: &str) -> Result<u64, String> {
    let exact = |number: &f64| number.fract() == 0.0 && (1.0..=9e15).contains(number);
    let scientific = || text.parse::<f64>().ok().filter(exact).map(|number| number as u64);
    let number = text.parse::<u64>().ok().or_else(scientific);
    let expected = || "expected a whole number from 1 to 9e15, such as 5000 or 1e4".to_owned();
    number.filter(|&number| (1..=9_000_000_000_000_000).contains(&number)).ok_or_else(expected)
}

/// A number of bytes: `4GiB`, `500MB`, `1.5 TiB` or a plain number.
pub(super) fn bytes(text: &str) -> Result<u64, String> {
    let size = text.parse().ok().filter(|ByteSize(n)| *n > 0);
    let expected = || "expected a number of bytes, such as 4GiB or 500MB".to_owned();
    size.map(|ByteSize(n)| n).ok_or_else(expected)
}

/// A number with a fraction.
pub(super) fn number(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "expected a number".to_owned())
}

/// An error names no limit above this: nobody waits so long.
const LONGEST_NAMED: Duration = Duration::from_secs(366 * 24 * 3600);

/// A duration from `least` to `most`.
pub(super) fn duration(
    least: Duration,
    most: Duration,
) -> impl Fn(&str) -> Result<Duration, String> + Clone {
    move |text| {
        let duration = humantime::parse_duration(text).ok();
        let words = humantime::format_duration;
        duration.filter(|it| (least..=most).contains(it)).ok_or_else(|| {
            let range = match most > LONGEST_NAMED {
                true => format!("of at least {}", words(least)),
                false => format!("from {} to {}", words(least), words(most)),
            };
            match duration {
                Some(_) => format!("expected a duration {range}"),
                None => {
                    format!("expected a duration {range} with its unit, such as 250ms or 1m 30s")
                }
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_are_whole_numbers() {
        let table = [("1e3", Some(1000)), ("5000", Some(5000)), ("2.5e2", Some(250))];
        let wrong = ["0", "-1", "1.5", "1e99", "NaN", "inf", "", "x"].map(|text| (text, None));
        for (text, expected) in table.into_iter().chain(wrong) {
            assert_eq!(nodes(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn bytes_have_units() {
        let table = [
            ("4GiB", Some(4 << 30)),
            ("500MB", Some(500_000_000)),
            ("1.5 kib", Some(1536)),
            ("12", Some(12)),
            ("7b", Some(7)),
        ];
        let wrong = ["0", "-1GiB", "GiB", "1XB", "", "1e99GiB", "NaN"].map(|text| (text, None));
        for (text, expected) in table.into_iter().chain(wrong) {
            assert_eq!(bytes(text).ok(), expected, "{text}");
        }
    }

    #[test]
    fn what_is_expected_is_named() {
        let check = |read: Result<u32, String>, expected: &str| {
            assert_eq!(read.unwrap_err(), expected);
        };
        check(whole(1..=1024)("x"), "expected 1 to 1024");
        check(whole(1..=1024)("1025"), "expected 1 to 1024");
        check(whole_from(1)("-1"), "expected a whole number from 1 to 2^64 - 1");
        check(whole_from(0)("1.5"), "expected a whole number from 0 to 2^64 - 1");
        assert_eq!(whole(1..=1024)("7"), Ok(7_u32));
    }
}
