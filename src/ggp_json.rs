//! Match records as ggp-base writes and existing viewers read them: one flat
//! JSON object for a match (`org.ggp.base.util.match.Match`, the form published
//! to spectator servers).

use games::Expression;
use results::record::{DecisionRecord, Ending, FaultKind, MatchRecord};
use serde::Serialize;

use crate::protocol::Spaced;

/// A match. Names are the format's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct GgpMatch {
    /// Id of the match.
    pub match_id: String,
    /// 32 letters and digits; made of the job's id and the seed here.
    pub random_token: String,
    /// Milliseconds since 1970.
    pub start_time: i64,
    /// A terminal state was reached.
    pub is_completed: bool,
    /// It was aborted.
    pub is_aborted: bool,
    /// The facts of each position, the initial one first, without `true`.
    pub states: Vec<String>,
    /// The joint moves, in role order.
    pub moves: Vec<Vec<String>>,
    /// When each position was reached, milliseconds since 1970: the start and
    /// the longest think times.
    pub state_times: Vec<i64>,
    /// Faults of START, then of each step: `TO` (late), `CE` (no connection),
    /// `IL move`, `IL null` (unreadable), or nothing.
    pub errors: Vec<Vec<String>>,
    /// Rewards in role order; absent until completed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub goal_values: Option<Vec<u8>>,
    /// Seconds; -1, since there is no preview.
    pub preview_clock: i64,
    /// Seconds, rounded up.
    pub start_clock: u64,
    /// Seconds, rounded up.
    pub play_clock: u64,
    /// Ids of the players, in role order.
    pub player_names_from_host: Vec<String>,
    /// Name of the run.
    pub tournament_name_from_host: String,
    /// Whether players outside the program got scrambled rules.
    pub scrambled: bool,
}

impl GgpMatch {
    /// The match of `record`, which went through `positions`, in the run called
    /// `run`.
    ///
    /// # Panics
    /// If there is not one position more than steps.
    #[must_use]
    pub fn new(
        record: &MatchRecord,
        positions: &[Vec<Expression>],
        run: &str,
        scrambled: bool,
    ) -> Self {
        assert_eq!(
            positions.len(),
            record.steps.len() + 1,
            "a position before and after each step"
        );
        let starts = record.seats.iter().map(|seat| fault_word(seat.start.fault, None));
        let steps = record.steps.iter().map(|step| step.iter().map(decision_word).collect());
        let start_time =
            record.started_at.parse::<jiff::Timestamp>().map_or(0, jiff::Timestamp::as_millisecond);
        let walls = record.seats.iter().map(|seat| seat.start.wall_us).max().unwrap_or(0);
        let mut elapsed = walls;
        let mut state_times = vec![start_time + millis(elapsed)];
        for step in &record.steps {
            elapsed += step.iter().map(|decision| decision.wall_us).max().unwrap_or(0);
            state_times.push(start_time + millis(elapsed));
        }
        let rewards: Option<Vec<u8>> = record.seats.iter().map(|seat| seat.reward).collect();
        let mut random_token = format!("{}{}", record.job_id, record.seed);
        random_token.truncate(32);
        Self {
            match_id: record.match_id.clone(),
            random_token: format!("{random_token:0<32}"),
            start_time,
            is_completed: record.ending == Ending::Terminal,
            is_aborted: record.ending != Ending::Terminal,
            states: positions.iter().map(|facts| state_text(facts)).collect(),
            moves: record
                .steps
                .iter()
                .map(|step| step.iter().map(|decision| spaced(&decision.executed)).collect())
                .collect(),
            state_times,
            errors: std::iter::once(starts.collect()).chain(steps).collect(),
            goal_values: rewards.filter(|_| record.ending == Ending::Terminal),
            preview_clock: -1,
            start_clock: record.start_clock_ms.div_ceil(1000),
            play_clock: record.play_clock_ms.div_ceil(1000),
            // One for each role, and chance has no name.
            player_names_from_host: (record.seats.iter())
                .map(|seat| seat.player.clone().unwrap_or_default())
                .collect(),
            tournament_name_from_host: run.to_owned(),
            scrambled,
        }
    }
}

fn millis(micros: u64) -> i64 {
    i64::try_from(micros / 1000).unwrap_or(i64::MAX)
}

fn state_text(facts: &[Expression]) -> String {
    let facts: Vec<String> = facts.iter().map(|fact| Spaced(fact).to_string()).collect();
    format!("( {} )", facts.join(" "))
}

fn spaced(term: &str) -> String {
    term.parse().map_or_else(|_| term.to_owned(), |term: Expression| Spaced(&term).to_string())
}

fn decision_word(decision: &DecisionRecord) -> String {
    fault_word(decision.fault, decision.submitted.as_deref())
}

fn fault_word(fault: Option<FaultKind>, submitted: Option<&str>) -> String {
    match fault {
        None => String::new(),
        Some(FaultKind::LateStart | FaultKind::LateMove) => "TO".to_owned(),
        Some(FaultKind::Crashed | FaultKind::Unreachable) => "CE".to_owned(),
        Some(FaultKind::Unreadable) => "IL null".to_owned(),
        Some(FaultKind::IllegalMove) => {
            format!("IL {}", submitted.map_or_else(|| "null".to_owned(), spaced))
        }
    }
}
