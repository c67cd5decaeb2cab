//! The processes that listen on a port of this machine.

mod socket_diag;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader};
use std::net::{IpAddr, Ipv4Addr};
use std::os::unix::fs::MetadataExt;

use rustix::process::Pid;

/// The state of a socket that listens, as `/proc/net/tcp` writes it.
const LISTEN: &str = "0A";

/// A socket that takes connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Listener {
    /// The number by which processes that hold it are found.
    pub(super) inode: u64,
    /// The user that opened it.
    user: u32,
}

/// The sockets that connections to this port of 127.0.0.1 may reach.
///
/// # Errors
/// If that cannot be found out.
pub(super) fn on_port(port: u16) -> io::Result<BTreeSet<Listener>> {
    socket_diag::on_port(port).or_else(|_| by_tables(port))
}

/// The same, by the tables that are there for people to read.
fn by_tables(port: u16) -> io::Result<BTreeSet<Listener>> {
    let mut found = BTreeSet::new();
    read_table(File::open("/proc/net/tcp")?, port, &mut found)?;
    // Absent where IPv6 is switched off.
    if let Ok(table) = File::open("/proc/net/tcp6") {
        read_table(table, port, &mut found)?;
    }
    Ok(found)
}

/// Sockets that listen come first, and there may be many others.
fn read_table(table: impl io::Read, port: u16, found: &mut BTreeSet<Listener>) -> io::Result<()> {
    for line in BufReader::new(table).lines().skip(1) {
        let line = line?;
        let fields: Vec<&str> = line.split_whitespace().collect();
        let &[_, local, _, LISTEN, _, _, _, user, _, inode, ..] = fields.as_slice() else {
            return Ok(());
        };
        let Some((address, at)) = local.split_once(':') else { continue };
        if u16::from_str_radix(at, 16) == Ok(port)
            && read_address(address).is_some_and(takes_local)
            && let (Ok(inode), Ok(user)) = (inode.parse(), user.parse())
        {
            found.insert(Listener { inode, user });
        }
    }
    Ok(())
}

/// Whether connections to 127.0.0.1 may reach a socket that is bound to this address.
fn takes_local(address: IpAddr) -> bool {
    let is_v4 = |address: Ipv4Addr| address == Ipv4Addr::LOCALHOST || address.is_unspecified();
    match address {
        IpAddr::V4(address) => is_v4(address),
        IpAddr::V6(address) => {
            address.is_unspecified() || address.to_ipv4_mapped().is_some_and(is_v4)
        }
    }
}

/// An address as `/proc/net` writes it: in words of 32 bits as this machine stores them.
fn read_address(text: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let digits = text.get(at * 8..at * 8 + 8)?;
        Some(u32::from_str_radix(digits, 16).ok()?.to_ne_bytes())
    };
    let bytes: Vec<u8> = (0..text.len() / 8).map_while(word).flatten().collect();
    match bytes.len() {
        4 => Some(<[u8; 4]>::try_from(bytes).ok()?.into()),
        16 => Some(<[u8; 16]>::try_from(bytes).ok()?.into()),
        _ => None,
    }
}

/// The listeners that none of these processes holds. A process into which we may
/// not look, because it runs as another user, is taken to hold what that user opened.
pub(super) fn foreign(
    listeners: &BTreeSet<Listener>,
    processes: impl Iterator<Item = Pid>,
) -> BTreeSet<Listener> {
    let mut foreign = listeners.clone();
    for process in processes {
        if foreign.is_empty() {
            break;
        }
        match sockets(process) {
            Ok(held) => foreign.retain(|listener| !held.contains(&listener.inode)),
            Err(_) => {
                let user = fs::metadata(format!("/proc/{process}")).map(|it| it.uid());
                foreign.retain(|listener| !user.as_ref().is_ok_and(|&user| user == listener.user));
            }
        }
    }
    foreign
}

/// Whether this process holds one of the listeners, as far as one may look.
pub(super) fn holds(process: Pid, listeners: &BTreeSet<Listener>) -> bool {
    sockets(process)
        .is_ok_and(|held| listeners.iter().any(|listener| held.contains(&listener.inode)))
}

/// The sockets that a process holds.
fn sockets(process: Pid) -> io::Result<BTreeSet<u64>> {
    let mut held = BTreeSet::new();
    for entry in fs::read_dir(format!("/proc/{process}/fd"))? {
        // Files come and go while we look.
        let Ok(target) = entry.and_then(|entry| fs::read_link(entry.path())) else { continue };
        let inode = target.to_str().and_then(|name| name.strip_prefix("socket:["));
        held.extend(inode.and_then(|name| name.strip_suffix(']')?.parse::<u64>().ok()));
    }
    Ok(held)
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv6Addr, TcpListener};

    use rustix::process::getpid;

    use super::*;

    #[test]
    fn a_listener_is_found_with_its_owner() {
        for address in ["127.0.0.1:0", "0.0.0.0:0", "[::]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().unwrap().port();
            let found = by_tables(port).unwrap();
            assert_eq!(found.len(), 1, "{address}");
            assert_eq!(socket_diag::on_port(port).unwrap(), found);
            assert!(foreign(&found, [getpid()].into_iter()).is_empty());
            assert!(holds(getpid(), &found));
            assert_eq!(foreign(&found, std::iter::empty()), found);
        }
        let elsewhere = TcpListener::bind("127.0.0.2:0").unwrap();
        let found = on_port(elsewhere.local_addr().unwrap().port()).unwrap();
        assert!(found.is_empty(), "connections to 127.0.0.1 do not get there");
    }

    #[test]
    fn addresses_are_read_by_this_table() {
        let written = |bytes: &[u8]| {
            let words = bytes.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap()));
            words.map(|word| format!("{word:08X}")).collect::<String>()
        };
        let check = |address: IpAddr, bytes: &[u8], expected: bool| {
            assert_eq!(read_address(&written(bytes)), Some(address));
            assert_eq!(takes_local(address), expected, "{address}");
        };
        for (address, expected) in
            [("127.0.0.1", true), ("0.0.0.0", true), ("127.0.0.2", false), ("10.0.0.1", false)]
        {
            let v4: Ipv4Addr = address.parse().unwrap();
            check(v4.into(), &v4.octets(), expected);
            let mapped = v4.to_ipv6_mapped();
            check(mapped.into(), &mapped.octets(), expected);
        }
        for (v6, expected) in [(Ipv6Addr::UNSPECIFIED, true), (Ipv6Addr::LOCALHOST, false)] {
            check(v6.into(), &v6.octets(), expected);
        }
        assert_eq!(read_address("").or(read_address("not an address")), None);
    }
}
