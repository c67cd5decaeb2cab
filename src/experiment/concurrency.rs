//! How many matches are played at once.

use results::counted::counted;
use results::record::Budget;

use super::jobs::Jobs;
use crate::descriptors::{self, Outside};
use crate::manager::PlayerSource;
use crate::schedule::Round;
use crate::spec::Spec;

/// Matches at once: as many as leave a core to every player that thinks.
pub(super) fn concurrency(spec: &Spec, jobs: &Jobs, warnings: &mut Vec<String>) -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let at_once = |round: Round| {
        let thinkers = round.players.iter().filter(|&&player| spec.players[player].thinks);
        thinkers.count().min(round.n_seats)
    };
    let thinkers = jobs.rounds().into_iter().map(at_once).max().unwrap_or(0);
    // Counted in nodes, thoughts are the same however slow.
    let by_clock = spec.time_budgets.iter().any(|time| time.budget == Budget::Clock);
    let share = if by_clock { thinkers.max(1) } else { 1 };
    let fair = u32::try_from((cores / share).max(1)).unwrap_or(u32::MAX);
    let asked = spec.jobs.unwrap_or(fair);
    if asked > fair && by_clock && thinkers > 0 {
        warnings.push(format!(
            "{} at once, each with up to {} thinking, share {}: clocks are fair only up to {}",
            counted(asked, "match", "matches"),
            counted(thinkers, "player", "players"),
            counted(cores, "core", "cores"),
            counted(fair, "match at once", "matches at once")
        ));
    }
    let n_jobs = u32::try_from(jobs.n_jobs()).unwrap_or(u32::MAX).max(1);
    let needed = descriptors::of_match(most_outside(spec, jobs));
    let most = descriptors::matches(needed);
    if asked.min(n_jobs) > most {
        warnings.push(format!(
            "{asked} matches at once need about {} file descriptors, and this machine allows {} \
             (ulimit -n): {most} are played at once",
            descriptors::RESERVED + needed * u64::from(asked.min(n_jobs)),
            descriptors::limit()
        ));
        return most;
    }
    asked
}

/// Maximum number of players of one match that are reached over HTTP, and those of them that
/// are launched.
fn most_outside(spec: &Spec, jobs: &Jobs) -> Outside {
    let mut most = Outside::default();
    for round in jobs.rounds() {
        let is = |wanted: fn(&PlayerSource) -> bool| {
            let players = round.players.iter().map(|&player| &spec.players[player].config.source);
            players.filter(|source| wanted(source)).count().min(round.n_seats)
        };
        let launched = is(|source| matches!(source, PlayerSource::Command { .. }));
        let outside = is(|source| !matches!(source, PlayerSource::BuiltIn { .. }));
        most.n_launched = most.n_launched.max(launched as u64);
        most.n_players = most.n_players.max(outside as u64);
    }
    most
}
