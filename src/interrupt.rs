//! Ctrl-C: the first stops cleanly, the second at once.

use tokio::runtime::Builder;

use crate::exit_code;

/// From now on the first interrupt (or request to terminate) calls `stop`, and
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
}

#[cfg(unix)]
impl Signals {
    fn register() -> std::io::Result<Self> {
        use tokio::signal::unix::{SignalKind, signal};
        let interrupt = signal(SignalKind::interrupt())?;
        Ok(Self { interrupt, terminate: signal(SignalKind::terminate())? })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
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
