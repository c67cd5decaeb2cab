//! Prints on standard error how far a tournament is: one bar on a terminal, a
//! line now and then elsewhere.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use results::counted::counted;
use results::formats::{Format, RoundId};
use results::report::points;

use super::recorder::Catalogue;
use crate::event::{Event, EventKind};
use crate::runner::Consumer;
use crate::schedule::Job;

/// How progress is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A bar that is drawn over and over.
    Bar,
    /// A line for each twentieth of the matches or half a minute, a second apart
    /// at least.
    Lines,
    /// Not at all.
    Quiet,
}

/// Players whose scores are shown.
const N_LEADERS: usize = 3;
/// Time after which a line is due, and before which it is not.
const LINE_TIME: Duration = Duration::from_secs(30);
const MIN_LINE_TIME: Duration = Duration::from_secs(1);
const LINES_PER_RUN: u64 = 20;
const MESSAGE_TIME: Duration = Duration::from_millis(100);

/// Counts matches and rewards as they come in. The numbers are for watching:
/// what is true of a run is computed from its journal.
pub struct Progress {
    catalogue: Arc<Catalogue>,
    style: Style,
    bar: ProgressBar,
    running: BTreeMap<u64, Arc<Job>>,
    /// Rewards by player, game and budget: one map, since a map takes 800 bytes for its first
    /// entry, and there may be thousands of players.
    scores: BTreeMap<(usize, usize, Bounds), Score>,
    n_jobs: u64,
    n_done: u64,
    n_played: u64,
    /// Those of them that others had played before, and that took no time.
    n_waited: u64,
    n_faults: u64,
    n_aborted: u64,
    /// Workers and the matches that they play at once, where others than this process play.
    workers: Option<(u32, u32)>,
    /// The round that is played, in words; empty where there are none.
    round: String,
    printed: Duration,
    printed_at: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Score {
    sum: u64,
    n: u64,
}

impl Score {
    fn mean(self) -> f64 {
        self.sum as f64 / self.n as f64
    }
}

/// Start clock, play clock and states for a move: matches that differ in these are
/// apart in the standings.
type Bounds = (Duration, Duration, Option<u64>);

fn bounds(job: &Job) -> Bounds {
    (job.clocks.start, job.clocks.play, job.budget.nodes())
}

/// The means as in the standings, by player: over games, each weighing the same, of means
/// over clocks. Players without matches are left out.
fn means(scores: &BTreeMap<(usize, usize, Bounds), Score>) -> BTreeMap<usize, f64> {
    let mut games: BTreeMap<(usize, usize), (f64, f64)> = BTreeMap::new();
    for ((player, game, _), score) in scores {
        let of_game = games.entry((*player, *game)).or_default();
        *of_game = (of_game.0 + score.mean(), of_game.1 + 1.0);
    }
    let mut players: BTreeMap<usize, (f64, f64)> = BTreeMap::new();
    for ((player, _), (sum, n)) in games {
        let of_player = players.entry(player).or_default();
        *of_player = (of_player.0 + sum / n, of_player.1 + 1.0);
    }
    players.into_iter().map(|(player, (sum, n))| (player, sum / n)).collect()
}

impl Progress {
    /// Progress from nothing.
    #[must_use]
    pub fn new(catalogue: Arc<Catalogue>, style: Style) -> Self {
        Self {
            catalogue,
            style,
            bar: ProgressBar::hidden(),
            running: BTreeMap::new(),
            scores: BTreeMap::new(),
            n_jobs: 0,
            n_done: 0,
            n_played: 0,
            n_waited: 0,
            n_faults: 0,
            n_aborted: 0,
            workers: None,
            round: String::new(),
            printed: Duration::ZERO,
            printed_at: 0,
        }
    }

    fn begin(&mut self, n_jobs: u64, n_done: u64) {
        (self.n_jobs, self.n_done, self.printed_at) = (n_jobs, n_done, n_done);
        if self.style == Style::Bar {
            let style = ProgressStyle::with_template(
                "{bar:24} {human_pos}/{human_len} matches  {elapsed_precise}  {msg}",
            );
            self.bar = ProgressBar::new(n_jobs).with_style(style.expect("the template is sound"));
            self.bar.set_position(n_done);
            self.bar.enable_steady_tick(Duration::from_millis(250));
        }
    }

    fn finish_match(&mut self, job: u64, rewards: &[u8], elapsed: Duration) {
        self.n_played += 1;
        if let Some(job) = self.running.remove(&job) {
            for (seat, &reward) in job.seats.iter().zip(rewards) {
                if let Some(player) = *seat {
                    let key = (player, job.game, bounds(&job));
                    let score = self.scores.entry(key).or_default();
                    score.sum += u64::from(reward);
                    score.n += 1;
                }
            }
        }
        match self.style {
            Style::Bar => {
                self.bar.set_position(self.n_done + self.n_played);
                if elapsed.saturating_sub(self.printed) >= MESSAGE_TIME || self.n_played == 1 {
                    self.printed = elapsed;
                    self.bar.set_message(self.message(elapsed));
                }
            }
            Style::Lines => {
                let position = self.n_done + self.n_played;
                let step = self.n_jobs.div_ceil(LINES_PER_RUN);
                let since = elapsed.saturating_sub(self.printed);
                if (position - self.printed_at >= step && since >= MIN_LINE_TIME)
                    || since >= LINE_TIME
                    || position == self.n_jobs
                {
                    (self.printed, self.printed_at) = (elapsed, position);
                    let percent = position * 100 / self.n_jobs.max(1);
                    let message = self.message(elapsed);
                    self.line(&format!(
                        "{position}/{} matches ({percent} %)  {message}",
                        self.n_jobs
                    ));
                }
            }
            Style::Quiet => {}
        }
    }

    /// The round, rate, time left and leaders.
    fn message(&self, elapsed: Duration) -> String {
        let n_timed = self.n_played.saturating_sub(self.n_waited);
        let rate = n_timed as f64 / elapsed.as_secs_f64().max(1e-3);
        let left = self.n_jobs.saturating_sub(self.n_done + self.n_played);
        let mut message = self.round.clone();
        if !message.is_empty() {
            message += "  ";
        }
        message += &if rate >= 10.0 { format!("{rate:.0}/s") } else { format!("{rate:.1}/s") };
        if left > 0 && n_timed > 0 {
            message += &format!("  ETA {}", brief(Duration::from_secs_f64(left as f64 / rate)));
        }
        let means = means(&self.scores);
        let mut leaders: Vec<(&str, f64)> = (self.catalogue.players().enumerate())
            .filter_map(|(player, name)| Some((name, *means.get(&player)?)))
            .collect();
        leaders.sort_by(|(_, a), (_, b)| b.total_cmp(a));
        let leaders: Vec<String> = leaders
            .iter()
            .take(N_LEADERS)
            .map(|(player, mean)| format!("{player} {}", points(*mean)))
            .collect();
        if !leaders.is_empty() {
            let since = if self.n_done > 0 { "since resuming" } else { "so far" };
            message += &format!("  mean reward {since}: {}", leaders.join(", "));
        }
        if let Some((n_workers, n_at_once)) = self.workers {
            let workers = counted(u64::from(n_workers), "worker", "workers");
            message += &format!("  {workers}, {n_at_once} at once");
        }
        for (n, what) in [(self.n_faults, "faults"), (self.n_aborted, "aborted")] {
            if n > 0 {
                message += &format!("  {what} {n}");
            }
        }
        message
    }

    fn line(&self, line: &str) {
        match self.style {
            Style::Bar => self.bar.println(line),
            // A closed terminal does not stop the run.
            Style::Lines => drop(writeln!(std::io::stderr().lock(), "{line}")),
            Style::Quiet => {}
        }
    }
}

/// Workers in words: `2 workers, 8 matches at once`.
pub(crate) fn workers_words(n_workers: u32, n_at_once: u32) -> String {
    let workers = counted(u64::from(n_workers), "worker", "workers");
    format!("{workers}, {} at once", counted(u64::from(n_at_once), "match", "matches"))
}

/// A round in words: `stage 1 of 2, swiss, round 3 of 5`.
pub(crate) fn round_words(round: RoundId, format: Format, n_rounds: u32, n_stages: u32) -> String {
    let mut words = String::new();
    if n_stages > 1 {
        words += &format!("stage {} of {n_stages}, ", round.stage);
    }
    words += format.name();
    if n_rounds > 1 || n_stages > 1 {
        words += &format!(", round {} of {n_rounds}", round.round);
    }
    if round.extra > 0 {
        words += &format!(", extra lap {} of drawn encounters", round.extra);
    }
    words
}

/// A duration to the second, the two largest units of it.
pub(crate) fn brief(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 86_400, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0, seconds) => format!("{seconds}s"),
        (0, 0, minutes, seconds) => format!("{minutes}m {seconds:02}s"),
        (0, hours, minutes, _) => format!("{hours}h {minutes:02}m"),
        (days, hours, ..) => format!("{days}d {hours:02}h"),
    }
}

impl Consumer for Progress {
    fn event(&mut self, event: &Event) -> ControlFlow<()> {
        match &event.kind {
            EventKind::TournamentStarted { n_jobs, n_done } => self.begin(*n_jobs, *n_done),
            EventKind::RoundStarted { round, format, n_rounds, n_stages, n_jobs, n_done } => {
                self.round = round_words(*round, *format, *n_rounds, *n_stages);
                let step = u64::from(*n_rounds).div_ceil(LINES_PER_RUN);
                if self.style == Style::Lines
                    && u64::from(round.round - 1).is_multiple_of(step.max(1))
                {
                    let left = n_jobs - n_done;
                    self.line(&format!(
                        "{}: {} to play",
                        self.round,
                        counted(left, "match", "matches")
                    ));
                }
            }
            EventKind::MatchStarted { job, .. } => {
                self.running.insert(job.number, Arc::clone(job));
            }
            EventKind::PlayersReady { roles, .. } => {
                self.n_faults += roles.iter().filter(|role| role.fault.is_some()).count() as u64;
            }
            EventKind::MovesPlayed { decisions, .. } => {
                self.n_faults +=
                    decisions.iter().filter(|decision| decision.fault.is_some()).count() as u64;
            }
            EventKind::MatchFinished { job, rewards, ending, .. } => {
                self.n_aborted += u64::from(!ending.is_done());
                self.finish_match(*job, rewards, event.elapsed);
            }
            EventKind::WorkersChanged { n_workers, n_at_once } => {
                let is_news = self.workers.map(|(n, _)| n) != Some(*n_workers);
                self.workers = Some((*n_workers, *n_at_once));
                if self.style == Style::Lines && is_news {
                    self.line(&workers_words(*n_workers, *n_at_once));
                }
            }
            EventKind::ResultsWaited { n_matches } => self.n_waited += n_matches,
            EventKind::Notice(notice) => self.line(&format!("note: {notice}")),
            EventKind::PlayerMissing { .. } | EventKind::PlayerGivenUp { .. } => {}
            EventKind::TournamentFinished { .. } => self.bar.finish_and_clear(),
        }
        ControlFlow::Continue(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_are_in_words() {
        let words = |stage, round, extra, n_rounds, n_stages| {
            round_words(
                RoundId { stage, round, extra },
                Format::Knockout { extra_laps: 3 },
                n_rounds,
                n_stages,
            )
        };
        assert_eq!(words(1, 1, 0, 1, 1), "knockout");
        assert_eq!(words(2, 3, 0, 4, 2), "stage 2 of 2, knockout, round 3 of 4");
        assert_eq!(words(1, 2, 1, 4, 1), "knockout, round 2 of 4, extra lap 1 of drawn encounters");
    }

    /// As in the standings: 100 at a game of one match, 0 and 50 at the two clocks of
    /// a game of many.
    #[test]
    fn games_and_clocks_weigh_the_same() {
        let clock = |seconds| (Duration::ZERO, Duration::from_secs(seconds), None);
        let score = |sum, n| Score { sum, n };
        let scores = BTreeMap::from([
            ((0, 0, clock(1)), score(0, 10)),
            ((0, 0, clock(2)), score(100, 2)),
            ((0, 1, clock(1)), score(100, 1)),
            ((2, 1, clock(1)), score(30, 1)),
        ]);
        assert_eq!(means(&scores), BTreeMap::from([(0, 62.5), (2, 30.0)]));
    }

    #[test]
    fn matches_that_others_had_played_do_not_shorten_the_time_left() {
        let mut progress = Progress::new(Arc::new(Catalogue::new(&[], &[], 1)), Style::Quiet);
        progress.begin(100, 10);
        (progress.n_waited, progress.n_played) = (50, 50);
        assert_eq!(progress.message(Duration::from_secs(1)), "0.0/s");
        progress.n_played = 51;
        assert_eq!(progress.message(Duration::from_secs(1)), "1.0/s  ETA 39s");
    }

    #[test]
    fn durations_are_brief() {
        let check = |seconds, expected| assert_eq!(brief(Duration::from_secs(seconds)), expected);
        check(0, "0s");
        check(59, "59s");
        check(61, "1m 01s");
        check(3 * 3600 + 120, "3h 02m");
        check(90_000, "1d 01h");
    }
}
