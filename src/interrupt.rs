//! Ctrl-C: the first stops cleanly, the second at once.

use tokio::runtime::Builder;

use crate::exit_code;

/// From now on the first interrupt (or request to terminate, or closed terminal) calls `stop`, and
/// the second ends the process.
///
/// # Errors
/// The system has no thread or no signal handler left for us.
pub fn on_interrupt(stop: impl FnOnce() + Send + 'static) -> std::io::Result<()> {
    let runtime = Builder::new_current_thread().enable_io().build()?;
    // Registered before the thread runs, so that no signal is missed.
    let signals = runtime.block_on(async { Signals::register() })?;
    let listen = move || {
        let mut signals = signals;
        runtime.block_on(signals.next());
        stop();
        runtime.block_on(signals.next());
        leave();
    };
    std::thread::Builder::new().name("interrupt".into()).spawn(listen)?;
    Ok(())
}

#[cfg(unix)]
struct Signals {
    interrupt: tokio::signal::unix::Signal,
    terminate: tokio::signal::unix::Signal,
    /// `None` if it is ignored, as under `nohup`.
    hangup: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    fn register() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let interrupt = signal(SignalKind::interrupt())?;
        let hangup = (!ignores_hangup()).then(|| signal(SignalKind::hangup())).transpose()?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())?, hangup })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = received(self.hangup.as_mut()) => {}
        }
    }
}

/// Waits for a signal, or for ever.
#[cfg(unix)]
async fn received(signal: Option<&mut tokio::signal::unix::Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

/// Whether this process is to outlive the terminal, as under `nohup`.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask & 1 == 1)
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn register() -> std::io::Result<Self> {
        Ok(Self)
    }

    async fn next(&mut self) {
        let _ = tokio::signal::ctrl_c().await;
    }
}

#[expect(clippy::exit, reason = "asked twice, the user wants us gone whatever is lost")]
fn leave() -> ! {
    std::process::exit(exit_code::INTERRUPTED.into());
}
