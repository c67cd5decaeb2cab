//! Whether players expect what they get: the values of their moves against the rewards of
//! their matches.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::stats::student::t_quantile;
use crate::tally::group_of;

/// Level of the intervals.
const LEVEL: f64 = 0.95;

/// Bins of expected rewards, of equal width.
const N_BINS: usize = 10;

/// The decisions of one player whose values lie in one bin.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationBin {
    /// The player.
    pub player: String,
    /// Values from here on,
    pub low: f64,
    /// to below here; the last bin includes it.
    pub high: f64,
    /// Decisions with a value in the bin, in scored matches.
    pub decisions: u64,
    /// The mean of their values: what the player expected.
    pub expected: f64,
    /// The mean of the rewards of their matches, each decision weighing the same.
    pub reward: f64,
    /// 95 % interval of that mean over blocks, since the decisions of a match share their
    /// reward: Student's t of a ratio of sums. `None` from a single block.
    pub interval: Option<[f64; 2]>,
}

/// The values of a player's decisions, by bin and group of blocks. Memory does not grow
/// with the number of blocks.
#[derive(Clone, Debug, Default)]
pub(crate) struct Values {
    bins: BTreeMap<(u8, u64), Sums>,
}

/// Sums over decisions.
#[derive(Clone, Copy, Debug, Default)]
struct Sums {
    n: u64,
    value_tenths: u64,
    reward: u64,
}

impl Sums {
    fn add(&mut self, other: Self) {
        self.n += other.n;
        self.value_tenths += other.value_tenths;
        self.reward += other.reward;
    }
}

impl Values {
    /// Adds a decision of a match of this block, with the match's reward.
    pub(crate) fn add(&mut self, block: u64, value_tenths: u32, reward: u8) {
        let bin = (value_tenths / 100).min(N_BINS as u32 - 1) as u8;
        let sums = self.bins.entry((bin, group_of(block))).or_default();
        sums.add(Sums { n: 1, value_tenths: value_tenths.into(), reward: reward.into() });
    }

    /// Adds what was found in another part of the journal.
    pub(crate) fn merge(&mut self, other: Self) {
        for (key, sums) in other.bins {
            self.bins.entry(key).or_default().add(sums);
        }
    }

    /// By bin, ascending; empty ones are left out.
    pub(crate) fn bins(&self, player: &str) -> Vec<CalibrationBin> {
        let bin = |number: u8| {
            let groups = self.bins.range((number, 0)..=(number, u64::MAX));
            let groups: Vec<Sums> = groups.map(|(_, sums)| *sums).collect();
            let mut all = Sums::default();
            groups.iter().for_each(|group| all.add(*group));
            let n = (all.n > 0).then_some(all.n as f64)?;
            let reward = all.reward as f64 / n;
            let width = 100.0 / N_BINS as f64;
            Some(CalibrationBin {
                player: player.to_owned(),
                low: f64::from(number) * width,
                high: (f64::from(number) + 1.0) * width,
                decisions: all.n,
                expected: rounded(all.value_tenths as f64 / 10.0 / n),
                reward: rounded(reward),
                interval: interval(&groups, reward).map(|bounds| bounds.map(rounded)),
            })
        };
        (0..N_BINS as u8).filter_map(bin).collect()
    }
}

/// The interval of a ratio of sums over groups: Student's t with the linearised variance.
fn interval(groups: &[Sums], reward: f64) -> Option<[f64; 2]> {
    let n_groups = groups.len() as f64;
    if groups.len() < 2 {
        return None;
    }
    let n: f64 = groups.iter().map(|group| group.n as f64).sum();
    let residual = |group: &Sums| group.reward as f64 - reward * group.n as f64;
    let squares: f64 = groups.iter().map(|group| residual(group).powi(2)).sum();
    let error = (n_groups / (n_groups - 1.0) * squares).sqrt() / n;
    if error == 0.0 {
        // Groups that are all the same say nothing of how much groups differ.
        return None;
    }
    let width = t_quantile(f64::midpoint(1.0, LEVEL), n_groups - 1.0) * error;
    Some([(reward - width).max(0.0), (reward + width).min(100.0)])
}

/// Four decimals, as in the standings.
fn rounded(value: f64) -> f64 {
    (value * 1e4).round() / 1e4
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rewards_are_averaged_by_bin() {
        let mut values = Values::default();
        // Two decisions of a lost match, one of a won one, and one at the upper end.
        values.add(1, 420, 0);
        values.add(1, 480, 0);
        values.add(2, 450, 100);
        let mut later = Values::default();
        later.add(3, 1000, 100);
        values.merge(later);
        let bins = values.bins("p");
        assert_eq!(bins.len(), 2);
        assert_eq!((bins[0].low, bins[0].high, bins[0].decisions), (40.0, 50.0, 3));
        assert_eq!((bins[0].expected, bins[0].reward), (45.0, 33.3333));
        // Sums 0 of 2 and 100 of 1: residuals -66.67 and 66.67, so that the standard error is
        // sqrt(2 * 2 * 66.67^2) / 3 = 44.44, times 12.71.
        assert_eq!(bins[0].interval, Some([0.0, 100.0]));
        assert_eq!((bins[1].low, bins[1].high, bins[1].interval), (90.0, 100.0, None));
    }

    #[test]
    fn intervals_are_those_of_a_mean_if_groups_have_one_decision_each() {
        let group = |reward| Sums { n: 1, value_tenths: 500, reward };
        let rewards = [40, 50, 60, 50];
        let [low, high] = interval(&rewards.map(group), 50.0).unwrap();
        // The standard deviation is 8.165, its error 4.082, and t is 3.182.
        assert!((low - 37.009).abs() < 0.01 && (high - 62.991).abs() < 0.01, "{low} {high}");
    }
}
