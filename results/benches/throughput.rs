//! Time of each stage between a match and its report, for each match.
//!
//! `cargo bench -p results` takes 100,000 matches of eight steps, or as many as
//! are asked for: `cargo bench -p results -- 1000000`. Without `--bench`, as
//! under `cargo test --benches`, it takes a few, to see that it works.

#![expect(clippy::print_stdout, reason = "this is what a bench is for")]

use std::path::Path;
use std::time::Instant;

use results::files;
use results::journal::{Journal, JournalWriter};
use results::record::{
    Budget, DecisionRecord, Ending, FORMAT_VERSION, Header, MatchRecord, SeatRecord, StartRecord,
};
use results::standings::standings;
use results::stats::bootstrap::Bootstrap;
use results::tables::write_tables;

const GAMES: [&str; 4] = ["breakthrough", "chess", "connectFour", "ticTacToe"];
const PLAYERS: [&str; 6] = ["random", "legal", "greedy", "alphabeta", "mcts", "mcts-fast"];

fn main() {
    let n_matches = if std::env::args().any(|argument| argument == "--bench") {
        std::env::args().find_map(|argument| argument.parse().ok()).unwrap_or(100_000)
    } else {
        20
    };
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let journal = folder.path().join(files::JOURNAL);

    stage("append", n_matches, || write(&journal, n_matches));
    let size = journal.metadata().expect("the journal was written").len();
    println!("{:>12} {:8.0} bytes a match", "journal", size as f64 / n_matches as f64);
    stage("read", n_matches, || {
        let n_read = Journal::open(&journal).expect("it was written").map(Result::unwrap).count();
        assert_eq!(n_read as u64, n_matches);
    });
    stage("resume", n_matches, || {
        let (_, recovered) = JournalWriter::resume(&journal, &header()).expect("it was written");
        assert_eq!(recovered.n_records, n_matches);
    });
    stage("tables", n_matches, || write_tables(folder.path()).expect("there is room for them"));
    stage("standings", n_matches, || {
        let standings = standings(folder.path(), &Bootstrap::default()).expect("it was written");
        assert_eq!(standings.n_scored, n_matches);
    });
}

fn stage(name: &str, n_matches: u64, work: impl FnOnce()) {
    let start = Instant::now();
    work();
    let seconds = start.elapsed().as_secs_f64();
    println!("{name:>12} {:8.2} us a match, {seconds:.2} s", seconds * 1e6 / n_matches as f64);
}

fn write(journal: &Path, n_matches: u64) {
    let mut writer = JournalWriter::create(journal, &header()).expect("the folder is new");
    let mut record = record();
    for job in 0..n_matches {
        let block = job / 2;
        // 15 pairings, in both seatings.
        let (first, second) = (block % 6, (block + 1 + block / 6 % 5) % 6);
        let (x, y) = if job % 2 == 0 { (first, second) } else { (second, first) };
        record.job = job;
        record.job_id = format!("{:032x}", u128::from(job) * 0x9e37_79b9_7f4a_7c15);
        record.block = block;
        record.game = GAMES[(block / 30 % 4) as usize].into();
        for (seat, player) in record.seats.iter_mut().zip([x, y]) {
            seat.player = Some(PLAYERS[player as usize].into());
        }
        let reward = ((job * 0x9e37_79b9) >> 7) % 3 * 50;
        record.seats[0].reward = Some(reward as u8);
        record.seats[1].reward = Some(100 - reward as u8);
        writer.append(&record).expect("there is room");
    }
    writer.sync().expect("there is room");
}

fn header() -> Header {
    Header {
        format_version: FORMAT_VERSION,
        gamemaster_version: "0.1.0".into(),
        run: "bench".into(),
        spec_hash: "bench".into(),
        timings: true,
        partition: None,
        notes: vec![],
        n_jobs: None,
        formats: None,
    }
}

fn record() -> MatchRecord {
    let decision = |executed: String, wall_us| DecisionRecord {
        executed,
        n_legal: 7,
        fault: None,
        submitted: None,
        detail: None,
        wall_us,
        cpu_us: Some(wall_us),
        connect_us: None,
        overrun_us: 0,
        nodes: Some(12_345),
        value_tenths: Some(625),
        depth: Some(7),
        line: vec!["(mark 1 1)".into(), "(mark 2 2)".into()],
    };
    let seat = |role: &str| SeatRecord {
        role: role.into(),
        player: Some(String::new()),
        player_hash: "0123456789abcdef0123456789abcdef".into(),
        odds: None,
        reward: None,
        start: StartRecord { wall_us: 1234, cpu_us: Some(1200), ..StartRecord::default() },
    };
    MatchRecord {
        job: 0,
        job_id: String::new(),
        block: 0,
        lap: 3,
        rotation: 1,
        round: None,
        attempt: 1,
        worker: None,
        game: String::new(),
        game_hash: "0123456789abcdef0123456789abcdef".into(),
        match_id: "bench.0123456789ab".into(),
        seed: "0123456789abcdef".into(),
        start_clock_ms: 10_000,
        play_clock_ms: 1000,
        budget: Budget::Clock,
        concurrency: 2,
        started_at: "2026-11-21T10:00:00.123Z".into(),
        duration_us: 123_456,
        harness_us: 77,
        ending: Ending::Terminal,
        goal_flags: vec![],
        n_steps: 8,
        seats: vec![seat("xplayer"), seat("oplayer")],
        steps: (0..8)
            .map(|step| {
                (0..2).map(|role| decision(format!("(mark {step} {role})"), 900 + step)).collect()
            })
            .collect(),
    }
}
