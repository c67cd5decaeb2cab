//! Whether the cores of this machine are scarce, as the kernel says (pressure stall information,
//! `Documentation/accounting/psi.rst` of Linux).

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

/// How long some task of this machine has waited for a core, in all.
pub(super) struct CpuPressure(File);

impl CpuPressure {
    /// `None` if the kernel does not say.
    pub(super) fn open() -> Option<Self> {
        let pressure = Self(File::open("/proc/pressure/cpu").ok()?);
        pressure.waited().is_some().then_some(pressure)
    }

    /// The time during which some task waited, since the machine started.
    pub(super) fn waited(&self) -> Option<Duration> {
        let mut text = [0; 256];
        let n_bytes = self.0.read_at(&mut text, 0).ok()?;
        waited(std::str::from_utf8(&text[..n_bytes]).ok()?)
    }
}

fn waited(text: &str) -> Option<Duration> {
    let line = text.lines().find(|line| line.starts_with("some "))?;
    let total = line.split_whitespace().find_map(|word| word.strip_prefix("total="))?;
    total.parse().ok().map(Duration::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_is_understood() {
        let text = "some avg10=95.14 avg60=92.24 avg300=95.44 total=3112524230\n\
                    full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";
        assert_eq!(waited(text), Some(Duration::from_micros(3_112_524_230)));
        for strange in ["", "full total=7\n", "some avg10=1\n", "some total=x\n"] {
            assert_eq!(waited(strange), None, "{strange}");
        }
    }
}
