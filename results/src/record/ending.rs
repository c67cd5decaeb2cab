//! How a match ended, and why: facts in the record, sentences made of them here
//! and nowhere else.
//!
//! On the wire an ending is flat: its `kind`, a `reason` in one word where there is
//! one, and the facts that belong to it. Journals of earlier releases state the
//! reason in a sentence instead; it is kept as it stands.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

/// How a match ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "EndingLine", into = "EndingLine")]
pub enum Ending {
    /// A terminal state was reached.
    Terminal,
    /// The step limit was reached first; nobody is scored.
    StepLimit,
    /// The match was stopped from outside; nobody is scored.
    Aborted {
        /// Why.
        reason: AbortReason,
    },
    /// The rules failed in play; nobody is scored.
    GameError {
        /// What failed.
        reason: RuleDefect,
    },
}

/// Why a match was aborted. Its text names the player that it is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbortReason {
    /// Somebody asked for it.
    Interrupted,
    /// This machine lacked what the match takes, such as a file descriptor.
    MachineLimit {
        /// The player that could not be asked, if it was for one.
        player: Option<String>,
        /// What was lacking, and what to do.
        detail: String,
    },
    /// A remote player did not answer before the match.
    PlayerGone {
        /// The player.
        player: String,
        /// Its host.
        host: String,
        /// Its port.
        port: u16,
    },
    /// A player's program could not be launched.
    LaunchFailed {
        /// The player.
        player: String,
        /// Why.
        detail: String,
    },
    /// Another process listened on the port of a player's program.
    PortTaken {
        /// The player whose program was given the port.
        player: String,
        /// The port.
        port: u16,
        /// Who listened there.
        by: PortHolder,
    },
    /// A player cannot be made from its configuration.
    PlayerUnusable {
        /// The player.
        player: String,
        /// Why.
        detail: String,
    },
    /// A sentence of an earlier release.
    Stated(String),
}

/// A process that listens on a port that was given to a player's program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortHolder {
    /// Its number; `None` if the process of another user hides it.
    pub process: Option<i32>,
    /// The name of its executable, if it can be read.
    pub name: Option<String>,
    /// The launched player that it belongs to, if any. That player is ended.
    pub player: Option<String>,
}

/// What failed in the rules of a game that was played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RuleDefect {
    /// A role has no legal move in a state that is not terminal.
    NoLegalMove {
        /// The role.
        role: String,
    },
    /// A role has several goals, and the spec says that this is an error.
    SeveralGoals {
        /// The role.
        role: String,
    },
    /// A state cannot be computed.
    NotComputable {
        /// Why.
        detail: String,
    },
    /// The moves are too long for a record.
    MovesTooLong,
    /// A sentence of an earlier release.
    Stated(String),
}

impl Ending {
    /// Whether a match that ended so need not be played again.
    #[must_use]
    pub fn is_done(&self) -> bool {
        !matches!(self, Self::Aborted { .. })
    }

    /// Aborted on request.
    #[must_use]
    pub fn interrupted() -> Self {
        Self::Aborted { reason: AbortReason::Interrupted }
    }

    /// Why the match was aborted, if not on request: a fault of the harness or of the
    /// machine.
    #[must_use]
    pub fn aborted_by_fault(&self) -> Option<&AbortReason> {
        match self {
            Self::Aborted { reason: AbortReason::Interrupted } => None,
            Self::Aborted { reason } => Some(reason),
            _ => None,
        }
    }

    /// The kind, as written in the journal and the tables.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// Why, in words; empty where the kind says it all.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Terminal | Self::StepLimit => String::new(),
            Self::Aborted { reason } => reason.to_string(),
            Self::GameError { reason } => reason.to_string(),
        }
    }

    fn kind(&self) -> EndingKind {
        match self {
            Self::Terminal => EndingKind::Terminal,
            Self::StepLimit => EndingKind::StepLimit,
            Self::Aborted { .. } => EndingKind::Aborted,
            Self::GameError { .. } => EndingKind::GameError,
        }
    }
}

impl Display for AbortReason {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Interrupted => write!(out, "{INTERRUPTED}"),
            Self::MachineLimit { player: None, detail } => write!(out, "{detail}"),
            Self::MachineLimit { player: Some(player), detail } => {
                write!(out, "player {player} could not be asked: {detail}")
            }
            Self::PlayerGone { player, host, port } => {
                write!(out, "player {player} does not answer INFO at {host}:{port}")
            }
            Self::LaunchFailed { player, detail } => {
                write!(out, "player {player} could not be launched: {detail}")
            }
            Self::PortTaken { player, port, by } => write!(
                out,
                "{by} listens on port {port}, which was given to player {player}; player {player} is \
                 not charged (a program that takes `{{socket}}` instead of `{{port}}` cannot lose \
                 its port)"
            ),
            Self::PlayerUnusable { player, detail } => {
                write!(out, "player {player} cannot be used: {detail}")
            }
            Self::Stated(sentence) => write!(out, "{sentence}"),
        }
    }
}

impl Display for PortHolder {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self.process {
            Some(process) => write!(out, "process {process}")?,
            None => write!(out, "a process of another user")?,
        }
        if let Some(name) = &self.name {
            write!(out, " ({name})")?;
        }
        match &self.player {
            Some(player) => write!(out, " of player {player}, which was ended for it,"),
            None => Ok(()),
        }
    }
}

impl Display for RuleDefect {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoLegalMove { role } => write!(out, "{role} has no legal move"),
            Self::SeveralGoals { role } => write!(out, "{role} has several goals"),
            Self::NotComputable { detail } => write!(out, "{detail}"),
            Self::MovesTooLong => write!(out, "the moves are too long to be recorded"),
            Self::Stated(sentence) => write!(out, "{sentence}"),
        }
    }
}

/// A reason as earlier releases wrote it.
impl From<String> for AbortReason {
    fn from(sentence: String) -> Self {
        if sentence == INTERRUPTED { Self::Interrupted } else { Self::Stated(sentence) }
    }
}

impl From<&str> for AbortReason {
    fn from(sentence: &str) -> Self {
        sentence.to_owned().into()
    }
}

/// A defect as earlier releases wrote it.
impl From<String> for RuleDefect {
    fn from(sentence: String) -> Self {
        Self::Stated(sentence)
    }
}

impl From<&str> for RuleDefect {
    fn from(sentence: &str) -> Self {
        sentence.to_owned().into()
    }
}

// --- On the wire --------------------------------------------------------------

/// The reason of matches that were aborted on request, in every release.
const INTERRUPTED: &str = "interrupted";
const MACHINE_LIMIT: &str = "machine_limit";
const PLAYER_GONE: &str = "player_gone";
const LAUNCH_FAILED: &str = "launch_failed";
const PORT_TAKEN: &str = "port_taken";
const PLAYER_UNUSABLE: &str = "player_unusable";
const NO_LEGAL_MOVE: &str = "no_legal_move";
const SEVERAL_GOALS: &str = "several_goals";
const NOT_COMPUTABLE: &str = "not_computable";
const MOVES_TOO_LONG: &str = "moves_too_long";

#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum EndingKind {
    #[default]
    Terminal,
    StepLimit,
    Aborted,
    GameError,
}

impl EndingKind {
    fn name(self) -> &'static str {
        match self {
            Self::Terminal => "terminal",
            Self::StepLimit => "step_limit",
            Self::Aborted => "aborted",
            Self::GameError => "game_error",
        }
    }
}

/// An ending as a line has it.
#[derive(Debug, Default, Serialize, Deserialize)]
struct EndingLine {
    kind: EndingKind,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    player: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    detail: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    port: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    process_player: Option<String>,
}

impl From<Ending> for EndingLine {
    fn from(ending: Ending) -> Self {
        let kind = ending.kind();
        let line = match ending {
            Ending::Terminal | Ending::StepLimit => Self::default(),
            Ending::Aborted { reason } => Self::of_abort(reason),
            Ending::GameError { reason } => Self::of_defect(reason),
        };
        Self { kind, ..line }
    }
}

impl TryFrom<EndingLine> for Ending {
    type Error = &'static str;

    fn try_from(line: EndingLine) -> Result<Self, Self::Error> {
        let missing = "missing field `reason`";
        Ok(match line.kind {
            EndingKind::Terminal => Self::Terminal,
            EndingKind::StepLimit => Self::StepLimit,
            EndingKind::Aborted => Self::Aborted { reason: line.abort_reason().ok_or(missing)? },
            EndingKind::GameError => Self::GameError { reason: line.defect().ok_or(missing)? },
        })
    }
}

impl EndingLine {
    fn reason(reason: &str) -> Self {
        Self { reason: Some(reason.to_owned()), ..Self::default() }
    }

    fn of_abort(reason: AbortReason) -> Self {
        match reason {
            AbortReason::Interrupted => Self::reason(INTERRUPTED),
            AbortReason::MachineLimit { player, detail } => {
                Self { player, detail: Some(detail), ..Self::reason(MACHINE_LIMIT) }
            }
            AbortReason::PlayerGone { player, host, port } => Self {
                player: Some(player),
                host: Some(host),
                port: Some(port),
                ..Self::reason(PLAYER_GONE)
            },
            AbortReason::LaunchFailed { player, detail } => {
                Self { player: Some(player), detail: Some(detail), ..Self::reason(LAUNCH_FAILED) }
            }
            AbortReason::PortTaken { player, port, by } => Self {
                player: Some(player),
                port: Some(port),
                process: by.process,
                process_name: by.name,
                process_player: by.player,
                ..Self::reason(PORT_TAKEN)
            },
            AbortReason::PlayerUnusable { player, detail } => {
                Self { player: Some(player), detail: Some(detail), ..Self::reason(PLAYER_UNUSABLE) }
            }
            AbortReason::Stated(sentence) => Self::reason(&sentence),
        }
    }

    fn of_defect(defect: RuleDefect) -> Self {
        match defect {
            RuleDefect::NoLegalMove { role } => {
                Self { role: Some(role), ..Self::reason(NO_LEGAL_MOVE) }
            }
            RuleDefect::SeveralGoals { role } => {
                Self { role: Some(role), ..Self::reason(SEVERAL_GOALS) }
            }
            RuleDefect::NotComputable { detail } => {
                Self { detail: Some(detail), ..Self::reason(NOT_COMPUTABLE) }
            }
            RuleDefect::MovesTooLong => Self::reason(MOVES_TOO_LONG),
            RuleDefect::Stated(sentence) => Self::reason(&sentence),
        }
    }

    /// `None` without a reason. A word without its facts is a sentence like any other.
    fn abort_reason(self) -> Option<AbortReason> {
        let Self { reason, player, detail, host, port, .. } = self;
        let reason = reason?;
        Some(match (reason.as_str(), player, detail, host, port) {
            (MACHINE_LIMIT, player, Some(detail), ..) => {
                AbortReason::MachineLimit { player, detail }
            }
            (PLAYER_GONE, Some(player), _, Some(host), Some(port)) => {
                AbortReason::PlayerGone { player, host, port }
            }
            (LAUNCH_FAILED, Some(player), Some(detail), ..) => {
                AbortReason::LaunchFailed { player, detail }
            }
            (PORT_TAKEN, Some(player), _, _, Some(port)) => {
                let (name, by) = (self.process_name, self.process_player);
                let by = PortHolder { process: self.process, name, player: by };
                AbortReason::PortTaken { player, port, by }
            }
            (PLAYER_UNUSABLE, Some(player), Some(detail), ..) => {
                AbortReason::PlayerUnusable { player, detail }
            }
            _ => reason.into(),
        })
    }

    fn defect(self) -> Option<RuleDefect> {
        let Self { reason, role, detail, .. } = self;
        let reason = reason?;
        Some(match (reason.as_str(), role, detail) {
            (NO_LEGAL_MOVE, Some(role), _) => RuleDefect::NoLegalMove { role },
            (SEVERAL_GOALS, Some(role), _) => RuleDefect::SeveralGoals { role },
            (NOT_COMPUTABLE, _, Some(detail)) => RuleDefect::NotComputable { detail },
            (MOVES_TOO_LONG, ..) => RuleDefect::MovesTooLong,
            _ => reason.into(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ending_is_read_as_it_was_written() {
        let player = || "p".to_owned();
        let detail = || "why".to_owned();
        let (host, port) = ("::1".to_owned(), 9147);
        let by =
            PortHolder { process: Some(17), name: Some("sh".into()), player: Some("q".into()) };
        let aborted = [
            AbortReason::Interrupted,
            AbortReason::MachineLimit { player: None, detail: detail() },
            AbortReason::MachineLimit { player: Some(player()), detail: detail() },
            AbortReason::PlayerGone { player: player(), host, port },
            AbortReason::LaunchFailed { player: player(), detail: detail() },
            AbortReason::PortTaken { player: player(), port, by },
            AbortReason::PortTaken { player: player(), port, by: PortHolder::default() },
            AbortReason::PlayerUnusable { player: player(), detail: detail() },
            AbortReason::Stated("the host went away".into()),
        ];
        let defects = [
            RuleDefect::NoLegalMove { role: "x".into() },
            RuleDefect::SeveralGoals { role: "x".into() },
            RuleDefect::NotComputable { detail: detail() },
            RuleDefect::MovesTooLong,
            RuleDefect::Stated("something else".into()),
        ];
        let endings = [Ending::Terminal, Ending::StepLimit]
            .into_iter()
            .chain(aborted.map(|reason| Ending::Aborted { reason }))
            .chain(defects.map(|reason| Ending::GameError { reason }));
        for ending in endings {
            let line = serde_json::to_string(&ending).unwrap();
            assert!(line.starts_with(&format!(r#"{{"kind":"{}""#, ending.name())), "{line}");
            assert_eq!(serde_json::from_str::<Ending>(&line).unwrap(), ending, "{line}");
        }
    }

    #[test]
    fn earlier_releases_stated_reasons_in_sentences() {
        let check = |line: &str, expected: Ending, reason: &str| {
            let ending: Ending = serde_json::from_str(line).unwrap();
            assert_eq!(ending, expected, "{line}");
            assert_eq!(ending.reason(), reason, "{line}");
            // What is written down again, as by a merge, stays as it is.
            assert_eq!(serde_json::to_string(&ending).unwrap(), line);
        };
        check(r#"{"kind":"terminal"}"#, Ending::Terminal, "");
        check(r#"{"kind":"step_limit"}"#, Ending::StepLimit, "");
        let interrupted = r#"{"kind":"aborted","reason":"interrupted"}"#;
        check(interrupted, Ending::interrupted(), "interrupted");
        let stated = "player p: nobody answers INFO at ::1:9147";
        let reason = AbortReason::Stated(stated.into());
        let line = format!(r#"{{"kind":"aborted","reason":"{stated}"}}"#);
        check(&line, Ending::Aborted { reason }, stated);
        let reason = RuleDefect::Stated("x has no legal move".into());
        let line = r#"{"kind":"game_error","reason":"x has no legal move"}"#;
        check(line, Ending::GameError { reason }, "x has no legal move");
    }

    #[test]
    fn an_ending_without_its_kind_or_reason_is_no_ending() {
        for line in ["{}", r#"{"kind":"aborted"}"#, r#"{"kind":"game_error"}"#, r#"{"kind":"x"}"#] {
            assert!(serde_json::from_str::<Ending>(line).is_err(), "{line}");
        }
        // A word that lacks its facts.
        let line = r#"{"kind":"aborted","reason":"player_gone"}"#;
        let ending: Ending = serde_json::from_str(line).unwrap();
        assert_eq!(ending.reason(), "player_gone");
    }

    #[test]
    fn whoever_holds_a_port_is_named_first() {
        let reason = |by| AbortReason::PortTaken { player: "honest".into(), port: 9147, by };
        let by = PortHolder { process: Some(17), name: Some("sh".into()), player: None };
        assert!(
            reason(by.clone()).to_string().starts_with("process 17 (sh) listens on port 9147, "),
            "{}",
            reason(by)
        );
        let by = PortHolder { process: Some(17), name: None, player: Some("thief".into()) };
        let named = "process 17 of player thief, which was ended for it, listens on port 9147, \
                     which was given to player honest; ";
        assert!(reason(by.clone()).to_string().starts_with(named), "{}", reason(by));
    }
}
