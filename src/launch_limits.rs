//! What a launched player may use of this machine.

use std::fmt;
use std::str::FromStr;

use bytesize::ByteSize;
use results::counted::counted;

/// Limits of a launched program and of all processes that it starts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LaunchLimits {
    /// Bytes of memory that they may hold at once, together.
    pub memory: Option<u64>,
    /// Number of processes at once.
    pub processes: Option<u32>,
    /// Number of CPU cores that they may run on.
    pub cpus: Option<u32>,
}

/// A limit that a program went beyond, with its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExceededLimit {
    /// Bytes of memory.
    Memory(u64),
    /// Number of processes.
    Processes(u32),
    /// Number of CPU cores.
    Cpus(u32),
}

impl LaunchLimits {
    /// No limits.
    pub const NONE: Self = Self { memory: None, processes: None, cpus: None };

    /// The limit that is exceeded by programs with `n_processes` processes, if one is; `cores`
    /// returns the most that one of their threads may run on, `memory` the bytes that they hold.
    pub(crate) fn exceeded(
        self,
        n_processes: usize,
        cores: impl FnOnce() -> u32,
        memory: impl FnOnce() -> u64,
    ) -> Option<ExceededLimit> {
        if let Some(most) = self.processes.filter(|&most| n_processes > most as usize) {
            return Some(ExceededLimit::Processes(most));
        }
        if let Some(most) = self.cpus.filter(|&most| cores() > most) {
            return Some(ExceededLimit::Cpus(most));
        }
        let most = self.memory.filter(|&most| memory() > most)?;
        Some(ExceededLimit::Memory(most))
    }
}

/// As a supervisor reports it, such as `memory=1048576`.
impl fmt::Display for ExceededLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory(most) => write!(f, "memory={most}"),
            Self::Processes(most) => write!(f, "processes={most}"),
            Self::Cpus(most) => write!(f, "cpus={most}"),
        }
    }
}

impl FromStr for ExceededLimit {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        match text.split_once('=') {
            Some(("memory", most)) => most.parse().map(Self::Memory).map_err(|_| ()),
            Some(("processes", most)) => most.parse().map(Self::Processes).map_err(|_| ()),
            Some(("cpus", most)) => most.parse().map(Self::Cpus).map_err(|_| ()),
            _ => Err(()),
        }
    }
}

impl ExceededLimit {
    /// What the program did, in words.
    pub(crate) fn sentence(self) -> String {
        match self {
            Self::Memory(most) => {
                format!("its processes held more than {}", ByteSize(most).display().iec())
            }
            Self::Processes(1) => "it had more than 1 process".to_owned(),
            Self::Processes(most) => format!("it had more than {most} processes"),
            Self::Cpus(most) => format!("it took more than {}", counted(most, "core", "cores")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_exceeded_by_more_than_it() {
        let limits = LaunchLimits { memory: Some(100), processes: Some(2), cpus: Some(1) };
        for (n_processes, bytes, expected) in [
            (2, 100, None),
            (3, 0, Some(ExceededLimit::Processes(2))),
            (1, 101, Some(ExceededLimit::Memory(100))),
        ] {
            assert_eq!(limits.exceeded(n_processes, || 1, || bytes), expected);
        }
        let exceeded = limits.exceeded(2, || 2, || 0);
        assert_eq!(exceeded, Some(ExceededLimit::Cpus(1)));
        assert_eq!(exceeded.unwrap().sentence(), "it took more than 1 core");
        assert_eq!(LaunchLimits::NONE.exceeded(1000, || 64, || u64::MAX), None);
    }

    #[test]
    fn reports_are_read_as_written() {
        for limit in
            [ExceededLimit::Memory(1 << 30), ExceededLimit::Processes(64), ExceededLimit::Cpus(2)]
        {
            assert_eq!(limit.to_string().parse(), Ok(limit));
        }
        assert_eq!("memory".parse::<ExceededLimit>(), Err(()));
        assert_eq!(
            ExceededLimit::Memory(1 << 30).sentence(),
            "its processes held more than 1.0 GiB"
        );
    }
}
