//! Players that misbehave, as raw servers on loopback. Each accepts one
//! connection after the other, reads the message, and does what its behaviour
//! says. Dropping it ends it.

use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// What is done with a connection once the message is read.
pub(crate) type Behaviour = fn(&str, &mut TcpStream) -> std::io::Result<()>;

pub(crate) struct FakePlayer {
    pub(crate) port: u16,
    heard: Arc<Mutex<Vec<String>>>,
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl FakePlayer {
    pub(crate) fn start(behaviour: Behaviour) -> Self {
        Self::start_on(0, behaviour)
    }

    /// At this port, or any if it is 0.
    pub(crate) fn start_on(port: u16, behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
        let port = listener.local_addr().unwrap().port();
        let (heard, stop) = (Arc::new(Mutex::new(Vec::new())), Arc::new(AtomicBool::new(false)));
        let (log, stopped) = (Arc::clone(&heard), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            for stream in listener.incoming() {
                if stopped.load(Ordering::SeqCst) {
                    return;
                }
                let Ok(mut stream) = stream else { return };
                let Some(message) = read_message(&mut stream) else { continue };
                log.lock().unwrap().push(message.clone());
                // Whoever is cut off gets an error here.
                let _ = behaviour(&message, &mut stream);
                let _ = stream.shutdown(Shutdown::Both);
            }
        });
        Self { port, heard, stop, thread: Some(thread) }
    }

    /// The bodies of all messages so far.
    pub(crate) fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

impl Drop for FakePlayer {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(("127.0.0.1", self.port));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn read_message(stream: &mut TcpStream) -> Option<String> {
    let mut read = Vec::new();
    loop {
        let mut chunk = [0; 65_536];
        let n = stream.read(&mut chunk).ok().filter(|&n| n > 0)?;
        read.extend_from_slice(&chunk[..n]);
        let text = String::from_utf8_lossy(&read);
        if let Some((header, body)) = text.split_once("\r\n\r\n") {
            let (_, length) = header.split_once("Content-Length: ")?;
            if body.len() >= length.lines().next()?.parse().ok()? {
                return Some(body.to_owned());
            }
        }
    }
}

/// What a well-behaved player says: `ready`, a legal move of three steps, `done`.
pub(crate) fn words(message: &str) -> &'static str {
    if message.starts_with("( PLAY") {
        "(add 1)"
    } else if message.starts_with("( START") {
        "ready"
    } else {
        "done"
    }
}

pub(crate) fn well(stream: &mut TcpStream, body: &str) -> std::io::Result<()> {
    write!(stream, "HTTP/1.0 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len())
}

/// Waits until the other side has enough.
pub(crate) fn until_cut(stream: &mut TcpStream) -> std::io::Result<()> {
    while stream.read(&mut [0; 64])? > 0 {}
    Ok(())
}
