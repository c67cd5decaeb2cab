//! Servers that ask who one is, over TLS.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::nats::{NatsServer, SPEC, all_of_a_run, all_text, coordinate};
use crate::workspace::Workspace;

const PASSWORD: &str = "sesame@poppy%";

/// The password as a part of an address.
const IN_ADDRESS: &str = "sesame%40poppy%25";

/// Makes `ca.pem`, a certificate of an authority of its own, and `server.pem` and
/// `server.key` of a server on loopback. `false` without `openssl`.
fn make_certificates(folder: &Path) -> bool {
    use std::io::Write as _;
    if Command::new("openssl").arg("version").output().is_err() {
        writeln!(std::io::stderr(), "skipped: openssl is not installed").unwrap();
        return false;
    }
    let names = "subjectAltName=DNS:localhost,IP:127.0.0.1\n";
    std::fs::write(folder.join("names.txt"), names).unwrap();
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let authority = ["-x509", "-days", "2", "-subj", "/CN=tests", "-keyout", "ca.key", "-out"];
    let request = ["-subj", "/CN=server", "-keyout", "server.key", "-out", "server.csr"];
    let signed = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2"];
    let commands = [
        [&["req"], &key[..], &authority, &["ca.pem"]].concat(),
        [&["req"], &key[..], &request].concat(),
        [&["x509", "-req", "-in", "server.csr", "-out", "server.pem"], &signed[..]].concat(),
    ];
    for (index, command) in commands.iter().enumerate() {
        let mut openssl = Command::new("openssl");
        openssl.args(command).current_dir(folder);
        if index == 2 {
            openssl.args(["-extfile", "names.txt"]);
        }
        let ran = openssl.output().unwrap();
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    }
    true
}

#[test]
fn a_run_over_tls_with_a_password_leaves_no_secret() {
    let certificates = tempfile::tempdir().unwrap();
    if !make_certificates(certificates.path()) {
        return;
    }
    let file = |name: &str| certificates.path().join(name).display().to_string();
    let (pem, key, ca) = (file("server.pem"), file("server.key"), file("ca.pem"));
    let options =
        ["--tls", "--tlscert", &pem, "--tlskey", &key, "--user", "me", "--pass", PASSWORD];
    let Some(server) = NatsServer::start_with(&options) else { return };
    let with = |who: &str| server.url().replace("nats://", &format!("nats://{who}@"));
    let (right, wrong) = (with(&format!("me:{IN_ADDRESS}")), with("me:open-up"));

    // One clear error each, and nothing secret in it.
    let other_ca = tempfile::tempdir().unwrap();
    assert!(make_certificates(other_ca.path()));
    let other_ca = other_ca.path().join("ca.pem").display().to_string();
    let check = |url: &str, ca: &str, expected: &str| {
        let workspace = Workspace::with_spec(SPEC);
        let ran = workspace.run(&coordinate(url, &["--quiet", "--tls-ca", ca])).code(1);
        let error = ran.stderr();
        assert_eq!(error.lines().count(), 1, "{error}");
        assert!(error.contains("cannot connect to nats://127.0.0.1:"), "{error}");
        assert!(error.contains(expected), "{error}");
        let all = error + &ran.stdout() + &all_text(&workspace.path("."));
        assert!(!all.contains("sesame") && !all.contains("open-up"), "{all}");
        // A worker says the same, and goes on trying.
        let worker = ["worker", "--queue", url, "--tls-ca", ca, "--cache", "cache"];
        let mut command = workspace.command(&worker);
        let mut worker = command.stderr(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let stderr = worker.stderr.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(stderr), &mut line).unwrap();
        worker.kill().unwrap();
        worker.wait().unwrap();
        assert!(line.contains(expected), "{line}");
        assert!(!line.contains("sesame") && !line.contains("open-up"), "{line}");
    };
    check(&wrong, &ca, "authorization violation");
    check(&right, &other_ca, "certificate");
    let workspace = Workspace::with_spec(SPEC);
    let missing = coordinate(&right, &["--tls-ca", "none.pem"]);
    let error = workspace.run(&missing).code(2).stderr();
    assert!(error.contains("cannot read `none.pem`") && !error.contains("sesame"), "{error}");

    let all = all_of_a_run(&right, &["--tls-ca", &ca]);
    assert!(!all.contains("sesame"), "{all}");
}
