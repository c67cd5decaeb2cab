//! A headless Chromium, driven over its DevTools protocol.

use std::io::{BufRead as _, BufReader};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::{Message, WebSocket, client};

/// What Chromium is called.
const NAMES: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "chrome"];
/// Answers that take longer mean that the browser hangs.
const PATIENCE: Duration = Duration::from_secs(120);

/// A browser with one page.
pub(crate) struct Browser {
    child: Child,
    socket: WebSocket<TcpStream>,
    session: String,
    n_sent: u64,
    /// What came that was no answer.
    events: Vec<Value>,
    _profile: TempDir,
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Browser {
    /// Starts Chromium; `None` if there is none here.
    ///
    /// # Panics
    /// If there is none under `CI=true`, or it does not start.
    #[expect(clippy::print_stderr, reason = "a test that does not run must say so")]
    pub(crate) fn start() -> Option<Self> {
        let profile = tempfile::tempdir().unwrap();
        let Some(mut child) = NAMES.iter().find_map(|name| spawn(name, profile.path())) else {
            let is_ci = std::env::var("CI").is_ok_and(|ci| ci == "true");
            assert!(!is_ci, "there is no Chromium, which CI needs: apt-get install chromium");
            eprintln!("NOT TESTED: there is no Chromium here (apt-get install chromium)");
            return None;
        };
        let address = listening(&mut child);
        let host = address.strip_prefix("ws://").unwrap().split('/').next().unwrap();
        let stream = TcpStream::connect(host).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = client(&*address, stream).unwrap();
        let session = String::new();
        let mut browser =
            Self { child, socket, session, n_sent: 0, events: vec![], _profile: profile };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let target = &target["targetId"];
        let attach = json!({ "targetId": target, "flatten": true });
        let attached = browser.call("Target.attachToTarget", attach);
        browser.session = attached["sessionId"].as_str().unwrap().to_owned();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// The result of a command.
    ///
    /// # Panics
    /// If the browser calls it an error, or does not answer.
    pub(crate) fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.n_sent += 1;
        let mut command = json!({ "id": self.n_sent, "method": method, "params": parameters });
        if !self.session.is_empty() {
            command["sessionId"] = self.session.as_str().into();
        }
        self.socket.send(Message::text(command.to_string())).unwrap();
        loop {
            let message = self.next();
            if message["id"] == self.n_sent {
                assert!(message["error"].is_null(), "{method}: {}", message["error"]);
                return message["result"].clone();
            }
            self.events.push(message);
        }
    }

    fn next(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    /// Opens a file and waits until it is loaded.
    pub(crate) fn open(&mut self, file: &Path) {
        let url = format!("file://{}", file.canonicalize().unwrap().display());
        self.events.clear();
        self.call("Page.navigate", json!({ "url": url }));
        while !self.events.iter().any(|event| event["method"] == "Page.loadEventFired") {
            let event = self.next();
            self.events.push(event);
        }
    }

    /// The value of an expression of JavaScript, or of what it promises.
    ///
    /// # Panics
    /// If it throws.
    pub(crate) fn evaluate(&mut self, expression: &str) -> Value {
        let parameters =
            json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let found = self.call("Runtime.evaluate", parameters);
        assert!(found["exceptionDetails"].is_null(), "{expression}: {found}");
        found["result"]["value"].clone()
    }

    /// Presses a key on whatever has the focus.
    pub(crate) fn press(&mut self, key: &str) {
        for kind in ["rawKeyDown", "keyUp"] {
            self.call("Input.dispatchKeyEvent", json!({ "type": kind, "key": key, "code": key }));
        }
    }

    /// All that went wrong since the page was opened, and all that it asked for
    /// beside itself.
    pub(crate) fn complaints(&mut self) -> Vec<String> {
        // Answers come after what happened before.
        self.evaluate("0");
        let complaint = |event: &Value| {
            let parameters = &event["params"];
            let is_bad = match event["method"].as_str()? {
                "Runtime.exceptionThrown" | "Log.entryAdded" => true,
                "Runtime.consoleAPICalled" => parameters["type"] != "debug",
                "Network.requestWillBeSent" => {
                    let url = parameters["request"]["url"].as_str()?;
                    !["file:", "blob:", "data:"].iter().any(|scheme| url.starts_with(scheme))
                }
                _ => false,
            };
            is_bad.then(|| event.to_string())
        };
        self.events.iter().filter_map(complaint).collect()
    }
}

fn spawn(name: &str, profile: &Path) -> Option<Child> {
    Command::new(name)
        .args(["--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"])
        .args(["--disable-dev-shm-usage", "--remote-debugging-port=0"])
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("about:blank")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .ok()
}

/// Where the browser says that it listens.
fn listening(child: &mut Child) -> String {
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let mut said = String::new();
    let address = loop {
        let Some(Ok(line)) = lines.next() else { panic!("Chromium does not start:\n{said}") };
        if let Some(address) = line.strip_prefix("DevTools listening on ") {
            break address.trim().to_owned();
        }
        said += &format!("{line}\n");
    };
    // It must never wait for somebody to read what it says.
    std::thread::spawn(move || lines.count());
    address
}
