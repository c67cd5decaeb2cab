//! The listeners on a port, asked of the kernel by `NETLINK_SOCK_DIAG`.
//!
//! `/proc/net/tcp` tells the same, but whoever reads it walks through all buckets of
//! the kernel's table of connections, which takes milliseconds. The messages are those
//! of `linux/netlink.h` and `linux/inet_diag.h`.

use std::collections::BTreeSet;
use std::io::{self, Read as _, Write as _};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use socket2::{Domain, Protocol, Socket, Type};

use super::{Listener, takes_local};

const AF_NETLINK: i32 = 16;
const NETLINK_SOCK_DIAG: i32 = 4;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const AF_INET: u8 = 2;
const AF_INET6: u8 = 10;
const IPPROTO_TCP: u8 = 6;
/// `NLM_F_REQUEST` and `NLM_F_DUMP`.
const FLAGS: u16 = 0x301;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
/// A bit for each state of a socket; this is `TCP_LISTEN`.
const LISTENING: u32 = 1 << 10;

/// Bytes of `nlmsghdr`.
const HEADER_BYTES: usize = 16;
/// Bytes of `inet_diag_req_v2`.
const REQUEST_BYTES: usize = 56;
/// Bytes of `inet_diag_msg`.
const ANSWER_BYTES: usize = 72;

/// The sockets that connections to this port of 127.0.0.1 may reach.
///
/// # Errors
/// If the kernel does not answer such questions.
pub(super) fn on_port(port: u16) -> io::Result<BTreeSet<Listener>> {
    let (domain, protocol) = (Domain::from(AF_NETLINK), Protocol::from(NETLINK_SOCK_DIAG));
    let mut socket = Socket::new(domain, Type::DGRAM, Some(protocol))?;
    let mut found = BTreeSet::new();
    ask(&mut socket, AF_INET, port, &mut found)?;
    // An error where IPv6 is switched off.
    let _ = ask(&mut socket, AF_INET6, port, &mut found);
    Ok(found)
}

fn ask(
    socket: &mut Socket,
    family: u8,
    port: u16,
    found: &mut BTreeSet<Listener>,
) -> io::Result<()> {
    socket.write_all(&request(family, port))?;
    let mut buffer = vec![0; 32 << 10];
    loop {
        let n = socket.read(&mut buffer)?;
        if read_messages(&buffer[..n], port, found)? {
            return Ok(());
        }
    }
}

fn request(family: u8, port: u16) -> Vec<u8> {
    let n_bytes = u32::try_from(HEADER_BYTES + REQUEST_BYTES).expect("it is small");
    let mut request = Vec::with_capacity(HEADER_BYTES + REQUEST_BYTES);
    request.extend(n_bytes.to_ne_bytes());
    request.extend(SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    request.extend(FLAGS.to_ne_bytes());
    // Number of the request, and who asks.
    request.extend([0; 8]);
    request.extend([family, IPPROTO_TCP, 0, 0]);
    request.extend(LISTENING.to_ne_bytes());
    request.extend(port.to_be_bytes());
    request.resize(HEADER_BYTES + REQUEST_BYTES, 0);
    request
}

/// Reads what came in one piece; whether it is the end.
fn read_messages(mut rest: &[u8], port: u16, found: &mut BTreeSet<Listener>) -> io::Result<bool> {
    let broken = || io::Error::from(io::ErrorKind::InvalidData);
    while !rest.is_empty() {
        let word = |at: usize| Some(u32::from_ne_bytes(rest.get(at..at + 4)?.try_into().ok()?));
        let n_bytes = word(0).ok_or_else(broken)? as usize;
        let kind = word(4).ok_or_else(broken)?.to_ne_bytes();
        let message = rest.get(HEADER_BYTES..n_bytes).ok_or_else(broken)?;
        match u16::from_ne_bytes([kind[0], kind[1]]) {
            NLMSG_DONE => return Ok(true),
            NLMSG_ERROR => return Err(io::ErrorKind::Unsupported.into()),
            SOCK_DIAG_BY_FAMILY => found.extend(listener(message, port).ok_or_else(broken)?),
            _ => {}
        }
        rest = rest.get(n_bytes.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(false)
}

/// One answer; none if it is about a socket that connections from here do not reach.
fn listener(message: &[u8], port: u16) -> Option<Option<Listener>> {
    let message: &[u8; ANSWER_BYTES] = message.get(..ANSWER_BYTES)?.try_into().ok()?;
    let word = |at: usize| message.get(at..at + 4)?.try_into().ok().map(u32::from_ne_bytes);
    let address = match message[0] {
        AF_INET => IpAddr::from(Ipv4Addr::from(<[u8; 4]>::try_from(&message[8..12]).ok()?)),
        _ => IpAddr::from(Ipv6Addr::from(<[u8; 16]>::try_from(&message[8..24]).ok()?)),
    };
    let is_there = u16::from_be_bytes([message[4], message[5]]) == port;
    let (user, inode) = (word(64)?, word(68)?.into());
    Some((is_there && takes_local(address)).then_some(Listener { inode, user }))
}
