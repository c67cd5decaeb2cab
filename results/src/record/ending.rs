//! How a match ended, and why: facts in the record, sentences made of them here
//! and nowhere else.
//!
//! On the wire an ending is flat: its `kind`, a `reason` in one word where there is
//! one, and the facts that belong to it. Journals of earlier releases state the
//! reason in a sentence instead; it is kept as it stands.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// How a match ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Ending {
    /// A terminal state was reached.
    Terminal,
    /// The step limit was reached first; the match is unscored.
    StepLimit,
    /// The match was stopped from outside; it is unscored.
    Aborted {
        /// Why.
        #[serde(flatten)]
        reason: AbortReason,
    },
    /// The rules failed in play; the match is unscored.
    GameError {
        /// What failed.
        #[serde(flatten)]
        reason: RuleDefect,
    },
}

/// Why a match was aborted. Its text names the player that it is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum AbortReason {
    /// By the user.
    #[error("interrupted")]
    Interrupted,
    /// This machine lacked what the match takes, such as a file descriptor.
    #[error("{}{detail}", not_asked(player.as_deref()))]
    MachineLimit {
        /// The player that could not be asked, if it was for one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        player: Option<String>,
        /// What was lacking, and what to do.
        detail: String,
    },
    /// A remote player did not reply before the match.
    #[error("player `{player}` does not reply to INFO at {host}:{port}")]
    PlayerGone {
        /// The player.
        player: String,
        /// Its host.
        host: String,
        /// Its port.
        port: u16,
    },
    /// A player's program could not be launched.
    #[error("player `{player}` is not ready: {detail}")]
    LaunchFailed {
        /// The player.
        player: String,
        /// Why.
        detail: String,
    },
    /// Another process listened on the port of a player's program.
    #[error(
        "{by} listens on port {port}, which was given to player `{player}`; this is no fault of the \
         player (a program that takes `{{socket}}` instead of `{{port}}` cannot lose its port)"
    )]
    PortTaken {
        /// The player whose program was given the port.
        player: String,
        /// The port.
        port: u16,
        /// The process that listened there.
        #[serde(flatten)]
        by: PortHolder,
    },
    /// A player cannot be made from its configuration.
    #[error("player `{player}` cannot be used: {detail}")]
    PlayerUnusable {
        /// The player.
        player: String,
        /// Why.
        detail: String,
    },
    /// A sentence of an earlier release.
    #[error("{reason}")]
    #[serde(untagged)]
    Stated {
        /// The sentence.
        reason: String,
    },
}

/// A process that listens on a port that was given to a player's program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortHolder {
    /// Its number; `None` if the process of another user hides it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub process: Option<i32>,
    /// The name of its executable, if it can be read.
    #[serde(default, rename = "process_name", skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The launched player that it belongs to, if any. That player is ended.
    #[serde(default, rename = "process_player", skip_serializing_if = "Option::is_none")]
    pub player: Option<String>,
}

/// What failed in the rules of a game that was played.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum RuleDefect {
    /// A role has no legal move in a state that is not terminal.
    #[error("{role} has no legal move")]
    NoLegalMove {
        /// The role.
        role: String,
    },
    /// A role has several goals, and the spec says that this is an error.
    #[error("{role} has several goals")]
    SeveralGoals {
        /// The role.
        role: String,
    },
    /// A state cannot be computed.
    #[error("{detail}")]
    NotComputable {
        /// Why.
        detail: String,
    },
    /// The moves are too long for a record.
    #[error("the moves are too long to be recorded")]
    MovesTooLong,
    /// A sentence of an earlier release.
    #[error("{reason}")]
    #[serde(untagged)]
    Stated {
        /// The sentence.
        reason: String,
    },
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
        self.into()
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
}

/// The words before what a machine lacked.
fn not_asked(player: Option<&str>) -> String {
    player.map_or_else(String::new, |player| format!("player {player} could not be asked: "))
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
            AbortReason::Stated { reason: "the host went away".into() },
        ];
        let defects = [
            RuleDefect::NoLegalMove { role: "x".into() },
            RuleDefect::SeveralGoals { role: "x".into() },
            RuleDefect::NotComputable { detail: detail() },
            RuleDefect::MovesTooLong,
            RuleDefect::Stated { reason: "something else".into() },
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
        let reason = AbortReason::Stated { reason: stated.into() };
        let line = format!(r#"{{"kind":"aborted","reason":"{stated}"}}"#);
        check(&line, Ending::Aborted { reason }, stated);
        let reason = RuleDefect::Stated { reason: "x has no legal move".into() };
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
                     which was given to player `honest`; ";
        assert!(reason(by.clone()).to_string().starts_with(named), "{}", reason(by));
    }
}
