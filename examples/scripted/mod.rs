//! A server of the examples and tests that stands in for a provider: answers as it was told, and keeps what it was sent.
#![allow(dead_code, reason = "each program uses its part")]

use std::io;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

/// An answer: a body of JSON, or the events of a stream.
pub(crate) enum Answer {
    Json(String),
    Events(Vec<String>),
}

/// A running server.
#[derive(Clone)]
pub(crate) struct Scripted {
    /// Where it listens.
    pub(crate) url: String,
    sent: Arc<Mutex<Vec<String>>>,
    events: Arc<Semaphore>,
}

impl Scripted {
    /// Answers one request with each of these, in their order.
    pub(crate) async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let url = format!("http://{}", listener.local_addr().expect("it is bound"));
        let server = Self { url, sent: Arc::default(), events: Arc::new(Semaphore::new(0)) };
        let (this, answers) = (server.clone(), answers.into_iter().collect::<Vec<_>>());
        tokio::spawn(async move {
            for answer in answers {
                let (mut connection, _) = listener.accept().await?;
                this.serve(&mut connection, answer).await?;
            }
            io::Result::Ok(())
        });
        server
    }
    /// Lets so many more events of streams out.
    pub(crate) fn let_out(&self, events: usize) {
        self.events.add_permits(events);
    }
    /// The bodies that came.
    pub(crate) fn sent(&self) -> Vec<String> {
        self.sent.lock().expect("nothing panics while it holds this").clone()
    }

    async fn serve(&self, connection: &mut TcpStream, answer: Answer) -> io::Result<()> {
        let body = read(connection).await?;
        self.sent.lock().expect("nothing panics while it holds this").push(body);
        match answer {
            Answer::Json(body) => {
                let head = head("application/json");
                connection.write_all(format!("{head}Content-Length: {}\r\n\r\n{body}", body.len()).as_bytes()).await?;
            }
            Answer::Events(events) => {
                connection.write_all(format!("{}\r\n", head("text/event-stream")).as_bytes()).await?;
                for event in events {
                    self.events.acquire().await.expect("it is never closed").forget();
                    connection.write_all(event.as_bytes()).await?;
                }
            }
        }
        connection.shutdown().await
    }
}

fn head(kind: &str) -> String {
    format!("HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nConnection: close\r\n")
}

/// A request's body, whose length its head says.
async fn read(connection: &mut TcpStream) -> io::Result<String> {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length:")?.trim().parse().ok());
            let begin = head.len() + 4;
            if bytes.len() >= begin + length.unwrap_or(0) {
                return Ok(String::from_utf8_lossy(&bytes[begin..]).into_owned());
            }
        }
        if connection.read_buf(&mut bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}
