//! Resources that this machine lacks (file descriptors, ports, memory, threads) and what to
//! do about it. This is no fault of a player.

use std::io;

use rustix::io::Errno;

use crate::descriptors;

/// What this machine lacks and what to do, if that is what `error` says.
pub(crate) fn lack(error: &io::Error) -> Option<String> {
    let is = |errno: Errno| error.raw_os_error() == Some(errno.raw_os_error());
    if is(Errno::MFILE) {
        return Some(format!(
            "no file descriptor is left (this process may have {}); raise the limit with \
             `ulimit -n`, or play fewer matches at once with --jobs",
            descriptors::limit()
        ));
    }
    let (what, advice) = match error {
        _ if is(Errno::NFILE) => {
            ("no file descriptor is left on this machine", "raise fs.file-max")
        }
        _ if is(Errno::ADDRNOTAVAIL) => {
            ("no local port is left", "widen net.ipv4.ip_local_port_range")
        }
        _ if is(Errno::NOBUFS) => ("no memory is left for sockets", "free some"),
        _ if is(Errno::NOMEM) => ("no memory is left", "free some"),
        _ => return None,
    };
    Some(format!("{what}; {advice}, or play fewer matches at once with --jobs"))
}

/// What keeps a socket from getting any port of its own.
pub(crate) fn no_port(error: &io::Error) -> String {
    lack(error).unwrap_or_else(|| {
        format!(
            "no local port is left ({error}); widen net.ipv4.ip_local_port_range, or play fewer \
             matches at once with --jobs"
        )
    })
}

/// What keeps a thread or a process from being started, if it is this machine.
pub(crate) fn no_thread(error: &io::Error) -> String {
    lack(error).unwrap_or_else(|| {
        format!(
            "no thread can be started ({error}); raise the limit with `ulimit -u`, or play fewer \
             matches at once with --jobs"
        )
    })
}

/// What keeps a process from being started, if it is not the program itself.
pub(crate) fn no_process(error: &io::Error) -> Option<String> {
    let is_limit = error.raw_os_error() == Some(Errno::AGAIN.raw_os_error());
    if is_limit {
        return Some(format!(
            "no process can be started ({error}); raise the limit with `ulimit -u`, or play fewer \
             matches at once with --jobs"
        ));
    }
    lack(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_this_machine_lacks_is_told_apart() {
        for (errno, expected) in [
            (Errno::MFILE, Some("no file descriptor is left (this process may have ")),
            (Errno::NFILE, Some("no file descriptor is left on this machine; raise fs.file-max")),
            (Errno::NOBUFS, Some("no memory is left for sockets; ")),
            (Errno::ADDRNOTAVAIL, Some("no local port is left; widen net.ipv4.")),
            (Errno::NOMEM, Some("no memory is left; ")),
            (Errno::CONNREFUSED, None),
            (Errno::CONNRESET, None),
            (Errno::HOSTUNREACH, None),
            (Errno::TIMEDOUT, None),
        ] {
            let found = lack(&errno.into());
            assert_eq!(found.is_some(), expected.is_some(), "{errno:?}");
            let (found, expected) = (found.unwrap_or_default(), expected.unwrap_or_default());
            assert!(found.starts_with(expected), "{found}");
        }
        assert_eq!(lack(&io::Error::other("no number")), None);
    }

    #[test]
    fn descriptors_and_ports_are_not_mixed_up() {
        assert!(no_port(&Errno::MFILE.into()).starts_with("no file descriptor"));
        assert!(no_port(&Errno::ADDRINUSE.into()).starts_with("no local port"));
        assert!(no_process(&Errno::AGAIN.into()).is_some());
        assert_eq!(no_process(&Errno::NOENT.into()), None);
    }
}
