//! The workers that played a run: their machines, and whether it matters for a result on
//! which of them a block was played.
//!
//! If blocks were given to workers without regard to their results, the blocks of a
//! worker are a random sample of all blocks. So the mean reward of a player in them
//! differs from its mean in all blocks by chance only, and the variance of that
//! difference is known: that of a sample without replacement. Blocks are compared within
//! a stratum: the same game, budget and players.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::atomic_file;
use crate::files;
use crate::journal::{Journal, JournalError, JournalWriter, MatchRow};
use crate::record::{Clock, Header};
use crate::stats::holm::holm;
use crate::stats::normal::normal_cdf;

/// The file of a run's workers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkersFile {
    /// Machines by the name of the worker.
    pub workers: BTreeMap<String, WorkerMachine>,
}

/// What a worker says of its machine and its programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WorkerMachine {
    /// Version of gamemaster.
    pub version: String,
    /// Hash of the executable of gamemaster.
    pub executable: String,
    /// Cores of the machine.
    pub cores: usize,
    /// Matches at once.
    pub at_once: u32,
    /// What the machine has.
    pub tags: Vec<String>,
    /// Hashes of the programs of players, by the player's id.
    pub programs: BTreeMap<String, String>,
    /// Speed of a core while it played: rounds of a fixed loop in a second of CPU time,
    /// in millions.
    pub speed: Readings,
    /// How late a timer woke up, microseconds.
    pub lateness_us: Readings,
}

/// Readings of one thing at several times.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Readings {
    /// Their number.
    pub n: u64,
    /// Their mean; 0 without readings.
    pub mean: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Readings {
    /// Takes in one more.
    pub fn add(&mut self, value: f64) {
        let is_first = self.n == 0;
        self.n += 1;
        self.mean += (value - self.mean) / self.n as f64;
        self.min = if is_first { value } else { self.min.min(value) };
        self.max = if is_first { value } else { self.max.max(value) };
    }

    /// Takes in those of another time.
    fn add_all(&mut self, other: Self) {
        if self.n == 0 || other.n == 0 {
            *self = if self.n == 0 { other } else { *self };
            return;
        }
        let n = self.n + other.n;
        self.mean += (other.mean - self.mean) * other.n as f64 / n as f64;
        *self = Self { n, min: self.min.min(other.min), max: self.max.max(other.max), ..*self };
    }
}

impl WorkersFile {
    /// Takes in the workers of another run. A worker of both is as that run knows it, with
    /// the readings of both.
    pub fn add_all(&mut self, other: Self) {
        for (name, machine) in other.workers {
            let known = self.workers.entry(name).or_default();
            let (mut speed, mut lateness_us) = (known.speed, known.lateness_us);
            speed.add_all(machine.speed);
            lateness_us.add_all(machine.lateness_us);
            *known = WorkerMachine { speed, lateness_us, ..machine };
        }
    }

    /// The workers of the run in `folder`; none if there is no such file.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub fn read(folder: &Path) -> io::Result<Self> {
        match std::fs::read(folder.join(files::WORKERS)) {
            Ok(text) => serde_json::from_slice(&text).map_err(io::Error::from),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error),
        }
    }

    /// Writes the file of the run in `folder`.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let mut text = serde_json::to_vec_pretty(self).expect("plain values are representable");
        text.push(b'\n');
        atomic_file::replace(&folder.join(files::WORKERS), &text)
    }
}

/// What a worker played, and how its results differ from those of the others.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorkerRow {
    /// Its name.
    pub worker: String,
    /// Scored blocks that it played.
    pub n_blocks: u64,
    /// Its machine, as far as it is known.
    pub machine: WorkerMachine,
    /// The player whose results differ most from those with other workers; `None` if
    /// nothing can be compared.
    pub shift: Option<Shift>,
}

/// How the results of a player differ on a worker's machine.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shift {
    /// The player.
    pub player: String,
    /// Its mean reward in the worker's blocks minus that in all blocks of the same kind.
    pub points: f64,
    /// What the shift is by chance: its standard deviation.
    pub standard_error: f64,
    /// The probability of such a shift of any player on any worker by chance (Holm).
    pub p: f64,
}

/// Blocks of the same kind.
type Stratum = (String, Clock, Vec<String>);

/// Mean rewards of a player in blocks of the same kind.
#[derive(Clone, Debug, Default)]
struct Sums {
    n: f64,
    sum: f64,
    /// Sum of squared differences from the mean.
    squares: f64,
    /// Number of blocks and sum, by worker.
    by_worker: BTreeMap<String, (f64, f64)>,
}

impl Sums {
    fn add(&mut self, worker: &str, value: f64) {
        let before = if self.n > 0.0 { self.sum / self.n } else { value };
        self.n += 1.0;
        self.sum += value;
        self.squares += (value - before) * (value - self.sum / self.n);
        let own = self.by_worker.entry(worker.to_owned()).or_default();
        *own = (own.0 + 1.0, own.1 + value);
    }
}

/// A block that is being read.
#[derive(Default)]
struct OpenBlock {
    block: u64,
    worker: String,
    stratum: Option<Stratum>,
    n_matches: f64,
    rewards: BTreeMap<String, f64>,
    is_whole: bool,
}

/// The workers of the run in `folder`, by name. Blocks with an unscored match, and
/// matches that no worker played, are left out.
///
/// # Errors
/// If the journal or the file of workers cannot be read.
pub fn workers(folder: &Path) -> Result<Vec<WorkerRow>, JournalError> {
    let path = folder.join(files::JOURNAL);
    let unreadable = |source| JournalError::Read { path: folder.join(files::WORKERS), source };
    let machines = WorkersFile::read(folder).map_err(unreadable)?.workers;
    let mut sums: BTreeMap<(Stratum, String), Sums> = BTreeMap::new();
    let mut n_blocks: BTreeMap<String, u64> = BTreeMap::new();
    let mut open = OpenBlock::default();
    Journal::open(&path)?.index()?.each_row(|row| {
        if open.stratum.is_none() || open.block != row.block {
            close(std::mem::take(&mut open), &mut sums, &mut n_blocks);
        }
        take(&mut open, row);
        Ok(())
    })?;
    close(open, &mut sums, &mut n_blocks);
    Ok(rows(&sums, &n_blocks, machines))
}

fn take(open: &mut OpenBlock, row: &MatchRow<'_>) {
    let mut players: Vec<String> = row.players().map(|(_, player, _)| player.to_owned()).collect();
    players.sort_unstable();
    let worker = row.worker().unwrap_or_default();
    if open.stratum.is_none() {
        open.block = row.block;
        open.worker = worker.to_owned();
        open.stratum = Some((row.game.clone().into_owned(), row.clock(), players));
        open.is_whole = !worker.is_empty();
    }
    // A resumed block may have been played by two.
    open.is_whole &= row.is_scored() && worker == open.worker;
    open.n_matches += 1.0;
    for (_, player, seat) in row.players() {
        let reward = f64::from(row.reward(seat).unwrap_or_default());
        *open.rewards.entry(player.to_owned()).or_default() += reward;
    }
}

fn close(
    open: OpenBlock,
    sums: &mut BTreeMap<(Stratum, String), Sums>,
    n_blocks: &mut BTreeMap<String, u64>,
) {
    let Some(stratum) = open.stratum.filter(|_| open.is_whole) else { return };
    *n_blocks.entry(open.worker.clone()).or_default() += 1;
    for (player, reward) in open.rewards {
        let key = (stratum.clone(), player);
        sums.entry(key).or_default().add(&open.worker, reward / open.n_matches);
    }
}

fn rows(
    sums: &BTreeMap<(Stratum, String), Sums>,
    n_blocks: &BTreeMap<String, u64>,
    mut machines: BTreeMap<String, WorkerMachine>,
) -> Vec<WorkerRow> {
    // By worker and player: blocks, sum of differences from the means, its variance.
    let mut shifts: BTreeMap<(&str, &str), (f64, f64, f64)> = BTreeMap::new();
    for ((_, player), sums) in sums {
        if sums.n < 2.0 {
            continue;
        }
        let (mean, variance) = (sums.sum / sums.n, sums.squares / (sums.n - 1.0));
        for (worker, &(n, sum)) in &sums.by_worker {
            let shift = shifts.entry((worker, player)).or_default();
            shift.0 += n;
            shift.1 += sum - n * mean;
            shift.2 += n * (1.0 - n / sums.n) * variance;
        }
    }
    let tested: Vec<_> =
        shifts.into_iter().filter(|(_, (_, _, variance))| *variance > 1e-9).collect();
    let p: Vec<f64> = tested
        .iter()
        .map(|(_, (_, sum, variance))| 2.0 * normal_cdf(-(sum / variance.sqrt()).abs()))
        .collect();
    let mut largest: BTreeMap<&str, Shift> = BTreeMap::new();
    for ((&(worker, player), &(n, sum, variance)), p) in
        tested.iter().map(|(key, shift)| (key, shift)).zip(holm(&p))
    {
        let shift = Shift {
            player: player.to_owned(),
            points: sum / n,
            standard_error: variance.sqrt() / n,
            p,
        };
        let z = |shift: &Shift| (shift.points / shift.standard_error).abs();
        let is_larger = largest.get(worker).is_none_or(|known| z(&shift) > z(known));
        if is_larger {
            largest.insert(worker, shift);
        }
    }
    let row = |(worker, &n_blocks): (&String, &u64)| WorkerRow {
        worker: worker.clone(),
        n_blocks,
        machine: machines.remove(worker).unwrap_or_default(),
        shift: largest.remove(worker.as_str()),
    };
    n_blocks.iter().map(row).collect()
}

/// Writes into `into` the journal of the run in `folder` without the matches of some
/// workers, so that reports on it leave them out, and say so. Returns how many records
/// are left.
///
/// # Errors
/// If the journal cannot be read or the copy cannot be written.
pub fn without(folder: &Path, excluded: &[String], into: &Path) -> Result<u64, JournalError> {
    let journal = Journal::open(&folder.join(files::JOURNAL))?;
    let mut header: Header = journal.header().clone();
    let names = excluded.join(", ");
    let s = if excluded.len() == 1 { "" } else { "s" };
    header.notes.push(format!("The matches that worker{s} {names} played are left out."));
    let is_excluded = |worker: Option<&str>| excluded.iter().any(|name| Some(&**name) == worker);
    let mut writer = JournalWriter::create(&into.join(files::JOURNAL), &header)?;
    let mut n_left = 0;
    for record in journal {
        let record = record?;
        if !is_excluded(record.worker.as_deref()) {
            writer.append(&record)?;
            n_left += 1;
        }
    }
    writer.sync()?;
    Ok(n_left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_of_two_runs_are_as_if_made_in_one() {
        let machine = |values: &[f64]| {
            let mut machine = WorkerMachine::default();
            values.iter().for_each(|&value| machine.speed.add(value));
            WorkersFile { workers: BTreeMap::from([("w".to_owned(), machine)]) }
        };
        for (one, other) in [(&[1.0, 3.0][..], &[8.0][..]), (&[], &[2.0]), (&[2.0], &[])] {
            let mut both = machine(one);
            both.add_all(machine(other));
            assert_eq!(both, machine(&[one, other].concat()));
        }
    }

    use crate::record::MatchRecord;
    use crate::sample;

    /// Blocks of two matches between `a` and `b`, in turn by two workers; `reward` gives
    /// the reward of `a` in a block by its number.
    fn run(n_blocks: u64, reward: impl Fn(u64) -> u8) -> tempfile::TempDir {
        let record = |job: u64| {
            let block = job / 2;
            let a = reward(block);
            let (players, rewards) = match job % 2 {
                0 => (["a", "b"], [a, 100 - a]),
                _ => (["b", "a"], [100 - a, a]),
            };
            let worker = Some(["fast", "slow"][(block % 2) as usize].to_owned());
            MatchRecord { worker, block, ..sample::record(job, "game", players, rewards) }
        };
        sample::run(true, &(0..2 * n_blocks).map(record).collect::<Vec<_>>())
    }

    #[test]
    fn a_machine_that_shifts_results_is_found() {
        // On one machine `a` wins always, on the other in half of the blocks.
        let run = run(80, |block| if block % 2 == 0 || block % 4 == 1 { 100 } else { 0 });
        let rows = workers(run.path()).unwrap();
        assert_eq!(rows.len(), 2);
        assert_eq!((rows[0].worker.as_str(), rows[0].n_blocks), ("fast", 40));
        let shift = rows[0].shift.as_ref().unwrap();
        // Means of 100 and 50, of 75 in all.
        assert!((shift.points.abs() - 25.0).abs() < 1e-9, "{shift:?}");
        assert!(shift.p < 1e-3, "{shift:?}");
    }

    #[test]
    fn machines_that_do_not_matter_are_not() {
        let run = run(80, |block| if block % 4 < 2 { 100 } else { 0 });
        for row in workers(run.path()).unwrap() {
            let shift = row.shift.unwrap();
            assert!(shift.points.abs() < 1e-9 && shift.p > 0.99, "{shift:?}");
        }
        // Without any difference between blocks there is nothing to compare.
        let run = self::run(10, |_| 50);
        assert!(workers(run.path()).unwrap().iter().all(|row| row.shift.is_none()));
    }

    /// The error of a sample without replacement, by hand: 4 blocks, of which 2 each.
    #[test]
    fn the_standard_error_is_that_of_a_sample() {
        let run = run(4, |block| [100, 0, 100, 100][block as usize]);
        let rows = workers(run.path()).unwrap();
        let shift = rows[1].shift.as_ref().unwrap();
        // Mean 75, variance 2500; 2 of 4: variance of the mean 2500 / 2 * (1 - 2 / 4).
        assert!((shift.standard_error - 25.0).abs() < 1e-9, "{shift:?}");
        assert!((shift.points.abs() - 25.0).abs() < 1e-9, "{shift:?}");
    }

    #[test]
    fn excluded_workers_leave_whole_blocks_out() {
        let run = run(10, |_| 50);
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(without(run.path(), &["slow".into()], folder.path()).unwrap(), 10);
        let rows = workers(folder.path()).unwrap();
        assert_eq!(rows.iter().map(|row| row.n_blocks).collect::<Vec<_>>(), [5]);
        let notes =
            Journal::open(&folder.path().join(files::JOURNAL)).unwrap().header().notes.clone();
        assert_eq!(notes, ["The matches that worker slow played are left out."]);
    }
}
