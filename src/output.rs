//! Standard output for commands that print data.

use std::io::{ErrorKind, StdoutLock, Write as _};

use crate::exit_code;
use crate::failure::{CommandResult, Failure};

/// Lets `write` print to the locked standard output. When the reader goes away
/// (`gamemaster ... | head`), the command ends there and then, successfully.
pub fn to_stdout(write: impl FnOnce(&mut StdoutLock<'static>) -> CommandResult) -> CommandResult {
    let mut stdout = std::io::stdout().lock();
    let outcome = write(&mut stdout).and_then(|code| {
        stdout.flush()?;
        Ok(code)
    });
    match outcome {
        Err(failure) if is_broken_pipe(&failure) => Ok(exit_code::OK),
        Err(Failure { code, error }) if is_bare(&error) => {
            Err(Failure { code, error: error.context("cannot write to standard output") })
        }
        outcome => outcome,
    }
}

fn is_broken_pipe(failure: &Failure) -> bool {
    let error = failure.error.downcast_ref::<std::io::Error>();
    error.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Whether it is an error of reading or writing that does not say of what.
fn is_bare(error: &anyhow::Error) -> bool {
    error.chain().next().is_some_and(|error| error.is::<std::io::Error>())
}

/// Prints what was found to standard output: as a line of JSON, or else with `print`.
///
/// # Errors
/// If standard output cannot be written to.
pub fn json_or_text<T: serde::Serialize>(
    json: bool,
    found: &T,
    print: impl FnOnce(&mut StdoutLock<'static>, &T) -> std::io::Result<()>,
) -> CommandResult {
    to_stdout(|stdout| {
        if json {
            json_line(stdout, found)?;
        } else {
            print(stdout, found)?;
        }
        Ok(exit_code::OK)
    })
}

/// Prints `value` as one line of JSON.
pub fn json_line(
    stdout: &mut impl std::io::Write,
    value: &impl serde::Serialize,
) -> std::io::Result<()> {
    // The error of the writer itself, so that a closed pipe is recognised.
    serde_json::to_writer(&mut *stdout, value).map_err(std::io::Error::from)?;
    writeln!(stdout)
}
