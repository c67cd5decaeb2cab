//! Servers that know people by signed credentials, in a file as NATS writes them.

use std::path::Path;

use data_encoding::BASE64URL_NOPAD;
use nkeys::KeyPair;
use serde_json::{Value, json};

use crate::nats::{NatsServer, SPEC, all_of_a_run, coordinate};
use crate::workspace::Workspace;

/// What `issuer` says of `subject`, signed.
fn signed(issuer: &KeyPair, subject: &KeyPair, name: &str, claims: &Value) -> String {
    let header = json!({ "typ": "JWT", "alg": "ed25519-nkey" });
    let claims = json!({
        "jti": name, "iat": 1_700_000_000, "name": name, "nats": claims,
        "iss": issuer.public_key(), "sub": subject.public_key(),
    });
    let encoded = |part: &Value| BASE64URL_NOPAD.encode(part.to_string().as_bytes());
    let text = format!("{}.{}", encoded(&header), encoded(&claims));
    let signature = issuer.sign(text.as_bytes()).unwrap();
    format!("{text}.{}", BASE64URL_NOPAD.encode(&signature))
}

/// Credentials of a new user of the account.
fn credentials(account: &KeyPair, file: &Path) -> KeyPair {
    let user = KeyPair::new_user();
    let claims = json!({
        "type": "user", "version": 2, "pub": {}, "sub": {}, "subs": -1, "data": -1, "payload": -1,
    });
    let token = signed(account, &user, "worker", &claims);
    let seed = user.seed().unwrap();
    let text = format!(
        "-----BEGIN NATS USER JWT-----\n{token}\n------END NATS USER JWT------\n\n\
         -----BEGIN USER NKEY SEED-----\n{seed}\n------END USER NKEY SEED------\n"
    );
    std::fs::write(file, text).unwrap();
    user
}

/// The configuration of a server that trusts an operator with one account, and the account.
fn configuration() -> (String, KeyPair) {
    let operator = KeyPair::new_operator();
    let account = |name, storage: i64| {
        let account = KeyPair::new_account();
        let limits = json!({
            "subs": -1, "data": -1, "payload": -1, "imports": -1, "exports": -1, "wildcards": true,
            "conn": -1, "leaf": -1, "mem_storage": storage, "disk_storage": storage,
            "streams": -1, "consumer": -1,
        });
        let claims = json!({ "type": "account", "version": 2, "limits": limits });
        let token = signed(&operator, &account, name, &claims);
        (account, token)
    };
    let claims = json!({ "type": "operator", "version": 2 });
    let trusted = signed(&operator, &operator, "tests", &claims);
    let (system, system_token) = account("system", 0);
    let (players, players_token) = account("players", -1);
    let [system, known] = [&system, &players].map(KeyPair::public_key);
    let text = format!(
        "operator: {trusted}\nsystem_account: {system}\nresolver: MEMORY\n\
         resolver_preload: {{\n  {system}: {system_token}\n  {known}: {players_token}\n}}\n"
    );
    (text, players)
}

#[test]
fn a_run_with_credentials_leaves_no_secret() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).display().to_string();
    let (configuration, account) = configuration();
    std::fs::write(file("server.conf"), configuration).unwrap();
    let user = credentials(&account, &folder.path().join("right.creds"));
    credentials(&KeyPair::new_account(), &folder.path().join("stranger.creds"));
    std::fs::write(file("empty.creds"), "").unwrap();
    let Some(server) = NatsServer::start_with(&["-c", &file("server.conf")]) else { return };
    let url = server.url();

    // One clear error each.
    let refused = |options: &[&str], code: i32, expected: &str| {
        let workspace = Workspace::with_spec(SPEC);
        let options = [&["--quiet"], options].concat();
        let error = workspace.run(&coordinate(&url, &options)).code(code).stderr();
        assert!(error.contains(expected) && error.lines().count() == 1, "{error}");
    };
    refused(&[], 1, "authorization violation");
    refused(&["--creds", &file("stranger.creds")], 1, "authorization violation");
    refused(&["--creds", &file("none.creds")], 2, "none.creds");
    refused(&["--creds", &file("empty.creds")], 2, "empty.creds");

    let all = all_of_a_run(&url, &["--creds", &file("right.creds")]);
    assert!(!all.contains(&user.seed().unwrap()), "{all}");
}
