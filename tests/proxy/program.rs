//! `tower-prompt serve`.

use super::world::{Upstream, within};
use crate::place::Place;
use serde_json::json;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

pub(super) fn serve(place: &Place, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tower-prompt"));
    command.arg("serve").args(arguments).current_dir(place.at("work")).env_clear().env("HOME", place.at("home"));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Its exit code, and what it said.
fn failed(place: &Place, arguments: &[&str]) -> (Option<i32>, String) {
    let output = serve(place, arguments).output().unwrap();
    assert!(output.stdout.is_empty());
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn wrong_usage_says_what_is_wanted() {
    let place = Place::new();
    for (arguments, code, said) in [
        (&[][..], 2, "--upstream URL, or `proxy.upstream`"),
        (&["--upstream", "api.openai.com"], 2, "`http://` or `https://`"),
        (&["--upstream", "https://me:SECRET@api.openai.com"], 2, "credentials belong into the header"),
        (&["--upstream", "http://a", "--listen", "8484"], 2, "such as 127.0.0.1:8484"),
        (&["--upstream", "http://a", "--max-concurrent-requests", "0"], 2, "--max-concurrent-requests"),
        (&["--upstream", "http://a", "--listen", "192.0.2.1:1"], 1, "192.0.2.1:1"),
        (&["--upstream", "http://a", "--store", "postgres://me:SECRET@db/x"], 2, "without a password"),
        (&["--upstream", "http://a", "--store", "sqlite:no/such/folder.db"], 1, "no/such/folder.db"),
        (&["--upstream", "http://a", "--store", "postgres://me@127.0.0.1:1/x"], 1, "postgres"),
    ] {
        let (found, text) = failed(&place, arguments);
        assert!(found == Some(code) && text.contains(said), "{arguments:?}: {found:?} {text}");
        assert!(!(arguments.contains(&"--store") && text.contains("SECRET")), "{text}");
    }
}

/// Ends with the test.
pub(super) struct Server(pub(super) Child);

impl Server {
    /// With where it listens, and what it says behind that.
    pub(super) async fn listening(command: &mut Command) -> (Self, String, impl BufRead + Send + use<>) {
        let mut server = Self(command.spawn().unwrap());
        let mut talk = BufReader::new(server.0.stderr.take().unwrap());
        let mut line = String::new();
        let listening = tokio::task::spawn_blocking(move || {
            while !line.contains("Listening") {
                line.clear();
                assert!(talk.read_line(&mut line).unwrap() > 0, "it ended");
            }
            (talk, line)
        });
        let (talk, line) = within(listening).await.unwrap();
        (server, line, talk)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Out of the line that says where it listens.
pub(super) fn address(line: &str) -> String {
    line.strip_prefix("Listening on http://").unwrap().split(',').next().unwrap().to_owned()
}

/// Such a server, and where it listens.
pub(super) async fn started(place: &Place, arguments: &[&str], variables: &[(&str, &str)]) -> (Server, String) {
    let (server, line, talk) = Server::listening(serve(place, arguments).envs(variables.iter().copied())).await;
    // Read to its end, so that it can always write.
    std::thread::spawn(move || talk.lines().map_while(Result::ok).for_each(drop));
    (server, address(&line))
}

#[tokio::test]
async fn tools_offers_and_answers_the_skill_tool() {
    let (place, mut upstream) = (Place::new(), Upstream::new().await);
    place.skill("frobnicate", "Frobnicates.", "Turn it.");
    for (arguments, is_offered) in [(&["--tools"][..], true), (&[], false)] {
        let url = upstream.url();
        let arguments = [&["--upstream", &url, "--listen", "127.0.0.1:0"], arguments].concat();
        let (_server, address) = started(&place, &arguments, &[]).await;
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).to_string();
        let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let sent: serde_json::Value = serde_json::from_slice(&upstream.seen().await.body).unwrap();
        assert_eq!(sent["tools"][0]["function"]["name"] == "skill", is_offered, "{arguments:?}");
    }
}

#[cfg(unix)]
#[tokio::test]
async fn it_says_where_it_listens_serves_logs_and_ends_at_a_signal() {
    let (place, mut upstream) = (Place::new(), Upstream::new().await);
    place.write("work/bcode.toml", format!("[proxy]\nupstream = '{}'\nlisten = '127.0.0.1:1'\n", upstream.url()));
    let (mut server, first, mut talk) = Server::listening(&mut serve(&place, &["--listen", "127.0.0.1:0"])).await;
    let address = address(&first);
    assert!(!address.ends_with(":0") && first.trim_end().ends_with(&format!("before {}", upstream.url())), "{first}");
    let body = json!({"model": "m", "messages": [{"role": "user", "content": "SECRET"}]}).to_string();
    let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    let head =
        format!("POST /v1/messages?key=SECRET HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n", body.len());
    stream.write_all(format!("{head}{body}").as_bytes()).await.unwrap();
    let mut answer = String::new();
    within(stream.read_to_string(&mut answer)).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("{}"), "{answer}");
    assert!(upstream.seen().await.body.len() > body.len());
    assert!(Command::new("kill").args(["-TERM", &server.0.id().to_string()]).status().unwrap().success());
    let (rest, code) = within(tokio::task::spawn_blocking(move || {
        let mut rest = String::new();
        talk.read_to_string(&mut rest).unwrap();
        (rest, server.0.wait().unwrap().code())
    }))
    .await
    .unwrap();
    assert_eq!(code, Some(0), "{rest}");
    assert!(rest.starts_with("POST /v1/messages 200 2 B ") && rest.contains(" assembled\n") && !rest.contains("SECRET"), "{rest}");
}
