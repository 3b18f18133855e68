//! A streamed answer cut into its events, each with the bytes that it came in.

use bytes::{Bytes, BytesMut};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use serde_json::Value;

/// How events stand in a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Framing {
    /// Server-sent events.
    Events,
    /// A value a line.
    Lines,
    /// The items of one JSON array, as Gemini streams it.
    Array,
}

impl Framing {
    /// Of an answer with this head; `None`: it is one value.
    pub(super) fn of(headers: &HeaderMap, path: &str) -> Option<Self> {
        let kind = headers.get(CONTENT_TYPE).map(|kind| kind.as_bytes().to_ascii_lowercase()).unwrap_or_default();
        match () {
            () if kind.starts_with(b"text/event-stream") => Some(Self::Events),
            () if kind.starts_with(b"application/x-ndjson") => Some(Self::Lines),
            () if kind.starts_with(b"application/json") && path.ends_with(":streamGenerateContent") => Some(Self::Array),
            () => None,
        }
    }
    /// An event that says this, in place of one that said something else.
    pub(super) fn written(self, name: Option<&str>, value: &Value) -> Bytes {
        match (self, name) {
            (Self::Events, Some(name)) => format!("event: {name}\ndata: {value}\n\n"),
            (Self::Events, None) => format!("data: {value}\n\n"),
            (Self::Lines, _) => format!("{value}\n"),
            (Self::Array, _) => value.to_string(),
        }
        .into()
    }
}

/// One event.
#[derive(Debug)]
pub(super) struct Frame {
    /// As it came; of an array's item, without what stands around it.
    pub(super) raw: Bytes,
    /// Of server-sent events.
    pub(super) name: Option<String>,
    pub(super) data: String,
}

/// Bytes on their way into events.
pub(super) struct Frames {
    framing: Framing,
    buffer: BytesMut,
    /// So far was looked, and what was found there.
    at: usize,
    line: usize,
    depth: usize,
    start: usize,
    in_string: bool,
    is_escaped: bool,
}

impl Frames {
    pub(super) fn new(framing: Framing) -> Self {
        Self { framing, buffer: BytesMut::new(), at: 0, line: 0, depth: 0, start: 0, in_string: false, is_escaped: false }
    }
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }
    /// Bytes that belong to no whole event yet.
    pub(super) fn rest(&mut self) -> Bytes {
        self.at = 0;
        self.buffer.split().freeze()
    }
    /// The next whole event.
    pub(super) fn next(&mut self) -> Option<Frame> {
        match self.framing {
            Framing::Events => self.next_event(),
            Framing::Lines => {
                let length = self.next_line()?;
                Some(self.line_of(length))
            }
            Framing::Array => self.next_item(),
        }
    }
    /// What stands at the end without a mark of its end.
    pub(super) fn last(&mut self) -> Option<Frame> {
        if self.buffer.is_empty() || self.framing == Framing::Array {
            return None;
        }
        let raw = self.rest();
        Some(if self.framing == Framing::Lines { line(raw) } else { event(&raw) })
    }

    /// The length of the first line whose end is there, with its end.
    fn next_line(&mut self) -> Option<usize> {
        let end = self.buffer[self.at..].iter().position(|byte| *byte == b'\n').map(|end| self.at + end + 1);
        self.at = end.unwrap_or(self.buffer.len());
        end
    }
    fn line_of(&mut self, length: usize) -> Frame {
        self.at = 0;
        line(self.buffer.split_to(length).freeze())
    }
    fn next_event(&mut self) -> Option<Frame> {
        loop {
            let end = self.next_line()?;
            let is_blank = self.buffer[self.line..end].iter().all(|byte| matches!(byte, b'\r' | b'\n'));
            self.line = end;
            if is_blank {
                (self.at, self.line) = (0, 0);
                return Some(event(&self.buffer.split_to(end).freeze()));
            }
        }
    }
    fn next_item(&mut self) -> Option<Frame> {
        while self.at < self.buffer.len() {
            let byte = self.buffer[self.at];
            self.at += 1;
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.in_string => self.is_escaped = true,
                b'"' => self.in_string = !self.in_string,
                _ if self.in_string => {}
                b'{' | b'[' => {
                    self.depth += 1;
                    if self.depth == 2 {
                        self.start = self.at - 1;
                    }
                }
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 1 {
                        let raw = self.buffer.split_to(self.at).split_off(self.start).freeze();
                        self.at = 0;
                        return Some(Frame { data: String::from_utf8_lossy(&raw).into_owned(), raw, name: None });
                    }
                }
                _ => {}
            }
        }
        None
    }
}

fn line(raw: Bytes) -> Frame {
    Frame { data: String::from_utf8_lossy(&raw).trim().to_owned(), raw, name: None }
}

fn event(raw: &Bytes) -> Frame {
    let text = String::from_utf8_lossy(raw);
    let (mut name, mut data) = (None, Vec::new());
    for line in text.lines() {
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => name = Some(value.to_owned()),
            "data" => data.push(value),
            _ => {}
        }
    }
    Frame { data: data.join("\n"), name, raw: raw.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(framing: Framing, text: &str, step: usize) -> (Vec<(String, Option<String>)>, String) {
        let (mut frames, mut found, mut raw) = (Frames::new(framing), Vec::new(), String::new());
        let mut take = |frame: Frame| {
            raw.push_str(str::from_utf8(&frame.raw).unwrap());
            found.push((frame.data, frame.name));
        };
        for bytes in text.as_bytes().chunks(step) {
            frames.push(bytes);
            while let Some(frame) = frames.next() {
                take(frame);
            }
        }
        if let Some(last) = frames.last() {
            take(last);
        }
        (found, raw)
    }

    #[test]
    fn events_are_found_however_they_come() {
        let named = |data: &str, name: &str| (data.to_owned(), Some(name.to_owned()));
        let plain = |data: &str| (data.to_owned(), None);
        let events = ": hi\n\nevent: a\ndata: {\"é\":\ndata: 1}\n\ndata:[DONE]\r\n\r\n\ndata: end";
        let lines = "{\"a\":1}\r\n\n{\"b\":\"é\"}";
        let array = "[{\"a\": \"}\\\"]\"},\r\n {\"b\": [{}]}]";
        for step in [1, 2, 3, 1000] {
            let found = vec![plain(""), named("{\"é\":\n1}", "a"), plain("[DONE]"), plain(""), plain("end")];
            assert_eq!(cut(Framing::Events, events, step), (found, events.to_owned()));
            let found = vec![plain("{\"a\":1}"), plain(""), plain("{\"b\":\"é\"}")];
            assert_eq!(cut(Framing::Lines, lines, step), (found, lines.to_owned()));
            let found = vec![plain("{\"a\": \"}\\\"]\"}"), plain("{\"b\": [{}]}")];
            assert_eq!(cut(Framing::Array, array, step).0, found);
            for framing in [Framing::Events, Framing::Lines] {
                for end in ["\n", "\r\n", "{}\n\n\r", "{}\n \t"] {
                    assert_eq!(cut(framing, end, step).1, end);
                }
            }
        }
    }
}
