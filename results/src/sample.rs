//! A small tournament made up for the tests of this crate: two games of two
//! seats and one with chance, three players, some faults and odd endings.

use std::collections::BTreeMap;

use crate::files;
use crate::journal::JournalWriter;
use crate::record::{
    AbortReason, Budget, Clock, DecisionRecord, Ending, FORMAT_VERSION, FaultKind, GoalFlag,
    Header, MatchRecord, RuleDefect, SeatRecord, StartRecord,
};
use crate::stats::bootstrap::Bootstrap;

/// Enough resamples where their number does not matter.
pub(crate) const QUICK: Bootstrap = Bootstrap { n_resamples: 50, level: 0.95, seed: 0 };

pub(crate) fn header(timings: bool) -> Header {
    Header {
        format_version: FORMAT_VERSION,
        gamemaster_version: "0.1.0".into(),
        run: "sample".into(),
        spec_hash: "5eed".into(),
        timings,
        partition: None,
        notes: vec![],
        n_jobs: None,
        formats: None,
    }
}

fn seat(role: &str, player: &str, reward: Option<u8>) -> SeatRecord {
    let start = StartRecord { wall_us: 1500, cpu_us: Some(1200), ..StartRecord::default() };
    SeatRecord {
        role: role.into(),
        player: Some(player.into()),
        player_hash: format!("hash-of-{player}"),
        odds: None,
        reward,
        start,
    }
}

pub(crate) fn decision(executed: &str, n_legal: u32, wall_us: u64) -> DecisionRecord {
    DecisionRecord {
        executed: executed.into(),
        n_legal,
        fault: None,
        submitted: None,
        detail: None,
        wall_us,
        cpu_us: Some(wall_us / 2),
        connect_us: None,
        overrun_us: 0,
        nodes: Some(100),
        value_tenths: Some(625),
        depth: Some(7),
        line: vec!["(mark 1 1)".into(), "(mark 2 2)".into()],
    }
}

/// A match of eight steps in which the roles alternate, won by the first of `players`
/// on even jobs.
pub(crate) fn record(job: u64, game: &str, players: [&str; 2], rewards: [u8; 2]) -> MatchRecord {
    let steps = (0..8u64)
        .map(|step| {
            let acting = (step % 2) as usize;
            (0..2)
                .map(|role| {
                    let wall = 1000 + 100 * step + 7 * job;
                    if role == acting {
                        decision(&format!("(mark {} {})", step / 3 + 1, step % 3 + 1), 9, wall)
                    } else {
                        decision("noop", 1, 10)
                    }
                })
                .collect()
        })
        .collect();
    MatchRecord {
        job,
        job_id: format!("{:020x}", 0xabcdef + job * 7919),
        block: job / 2,
        lap: (job / 12) as u32,
        rotation: (job % 2) as u32,
        round: None,
        attempt: 1,
        game: game.into(),
        game_hash: format!("hash-of-{game}"),
        match_id: format!("sample.{job}"),
        seed: format!("{:016x}", job * 0x9e37),
        start_clock_ms: 10_000,
        play_clock_ms: 1000,
        budget: Budget::Clock,
        concurrency: 2,
        worker: None,
        started_at: "2026-11-21T10:00:00Z".into(),
        duration_us: 20_000 + job,
        harness_us: 160,
        ending: Ending::Terminal,
        goal_flags: vec![],
        n_steps: 8,
        seats: vec![
            seat("xplayer", players[0], Some(rewards[0])),
            seat("oplayer", players[1], Some(rewards[1])),
        ],
        steps,
    }
}

/// Three laps of three pairings at two games, and a few matches that went wrong.
pub(crate) fn records() -> Vec<MatchRecord> {
    const PAIRINGS: [[&str; 2]; 3] = [["alpha", "beta"], ["alpha", "gamma"], ["beta", "gamma"]];
    let mut records = vec![];
    for lap in 0..3u32 {
        for game in ["connectFour", "ticTacToe"] {
            for [first, second] in PAIRINGS {
                for rotation in 0..2 {
                    let players = if rotation == 0 { [first, second] } else { [second, first] };
                    let job = records.len() as u64;
                    let rewards = match (job * 7 + u64::from(lap)) % 5 {
                        0 | 1 => [100, 0],
                        2 => [50, 50],
                        3 if rotation == 0 => [100, 0],
                        _ => [0, 100],
                    };
                    records.push(MatchRecord { lap, ..record(job, game, players, rewards) });
                }
            }
        }
    }
    break_some(&mut records);
    records
}

fn break_some(records: &mut [MatchRecord]) {
    let odds = Clock { play_clock_ms: 250, ..records[5].clock() };
    records[5].seats[1].odds = Some(odds);
    let late = &mut records[4].steps[2][0];
    late.fault = Some(FaultKind::LateMove);
    late.overrun_us = 400_000;
    late.wall_us = 1_400_000;
    let illegal = &mut records[5].steps[3][1];
    illegal.fault = Some(FaultKind::IllegalMove);
    illegal.submitted = Some("(mark 9, \"9\")".into());
    records[6].seats[1].start.fault = Some(FaultKind::LateStart);
    records[6].goal_flags =
        vec![(0, GoalFlag::GoalConflict), (0, GoalFlag::GoalClamped), (1, GoalFlag::GoalMissing)];
    unscore(&mut records[13], Ending::StepLimit);
    unscore(
        &mut records[20],
        Ending::GameError {
            reason: RuleDefect::Stated { reason: "no legal move for oplayer".into() },
        },
    );
    unscore(
        &mut records[35],
        Ending::Aborted {
            reason: AbortReason::Stated { reason: "the player's host went away".into() },
        },
    );
}

fn unscore(record: &mut MatchRecord, ending: Ending) {
    record.ending = ending;
    for seat in &mut record.seats {
        seat.reward = None;
    }
}

/// A match with chance, which moves the first role.
pub(crate) fn record_with_chance(job: u64, player: &str, reward: u8) -> MatchRecord {
    let mut record = record(job, "dice", ["random", player], [0, reward]);
    record.seats[0] = SeatRecord {
        player_hash: String::new(),
        start: StartRecord::default(),
        player: None,
        ..seat("random", "", None)
    };
    record
}

/// A folder with a journal of `records`.
pub(crate) fn run(timings: bool, records: &[MatchRecord]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(files::JOURNAL);
    let mut writer = JournalWriter::create(&path, &header(timings)).unwrap();
    for record in records {
        writer.append(record).unwrap();
    }
    folder
}

/// A journal's text as it was before lines had checksums.
pub(crate) fn without_checksums(journal: &str) -> String {
    let line = |line: &str| match line.rfind(",\"crc\":\"") {
        Some(end) => line[..end].to_owned() + "}\n",
        None => line.to_owned() + "\n",
    };
    let lines: String = journal.lines().map(line).collect();
    lines.replacen("\"format_version\":2", "\"format_version\":1", 1)
}

/// A line of a journal as other programs may write it: its members sorted by name.
pub(crate) fn sorted(record: &MatchRecord) -> String {
    let text = serde_json::to_string(record).unwrap();
    let members: BTreeMap<String, serde_json::Value> = serde_json::from_str(&text).unwrap();
    serde_json::to_string(&members).unwrap() + "\n"
}

/// The same match on a slower machine.
pub(crate) fn at_other_times(record: &MatchRecord) -> MatchRecord {
    let mut record = record.clone();
    record.concurrency += 7;
    record.started_at = "2027-01-01T00:00:00Z".into();
    record.duration_us *= 3;
    record.harness_us += 1000;
    for seat in &mut record.seats {
        seat.start.wall_us += 17;
        seat.start.cpu_us = None;
    }
    for decision in record.steps.iter_mut().flatten() {
        decision.wall_us *= 2;
        decision.cpu_us = decision.cpu_us.map(|cpu| cpu + 1);
        decision.connect_us = Some(5);
        decision.overrun_us += 3;
    }
    record
}
