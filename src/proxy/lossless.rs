//! JSON that is read and written again without a loss, or not read at all.
//!
//! What a client sent must reach the API as it was meant: a number of 30 digits with all of them, `1e-05` and `1.0` as they were spelled. Where a
//! value can't say what its text said (two keys of one name, half a surrogate pair, nesting beyond the reader's bound), the body isn't ours to write.

use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::HashMap;
use std::io;

/// Numbers that are no whole number of 64 bits, as they were written: by the bits of the value that they were read as.
#[derive(Default)]
pub(super) struct AsWritten(HashMap<u64, Box<str>>);

/// The value of a body, and how its numbers are written. `Err` says why it can't be written again as it was meant; it quotes nothing of it.
pub(super) fn read(body: &[u8]) -> Result<(Value, AsWritten), Cow<'static, str>> {
    let value: Value = serde_json::from_slice(body).map_err(|error| {
        let what = if error.is_eof() { "it ends too early" } else { "it can't be read" };
        format!("{what}: line {}, column {}", error.line(), error.column())
    })?;
    let mut written = AsWritten::default();
    let keys = written.scan(body)?;
    if keys != entries(&value) {
        return Err("a key stands twice in an object".into());
    }
    Ok((value, written))
}

impl AsWritten {
    /// Keeps the numbers of valid JSON, and counts the keys.
    fn scan(&mut self, body: &[u8]) -> Result<usize, Cow<'static, str>> {
        let (mut at, mut keys) = (0, 0);
        while at < body.len() {
            match body[at] {
                b'"' => at = end_of_string(body, at),
                b'-' | b'0'..=b'9' => {
                    let length =
                        body[at..].iter().take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E')).count();
                    self.keep(&body[at..at + length])?;
                    at += length;
                }
                byte => {
                    keys += usize::from(byte == b':');
                    at += 1;
                }
            }
        }
        Ok(keys)
    }
    fn keep(&mut self, number: &[u8]) -> Result<(), Cow<'static, str>> {
        let text = str::from_utf8(number).unwrap_or_default();
        let is_whole = text != "-0" && (text.parse::<u64>().is_ok() || text.parse::<i64>().is_ok());
        if is_whole {
            return Ok(());
        }
        let read: f64 = serde_json::from_str(text).map_err(|_| "a number can't be read")?;
        match self.0.get(&read.to_bits()) {
            Some(written) if **written == *text => {}
            Some(_) => return Err("two numbers that are written differently are read alike".into()),
            None => {
                self.0.insert(read.to_bits(), text.into());
            }
        }
        Ok(())
    }
    /// A body of this value, which comes from the one that was read.
    pub(super) fn write(&self, value: &Value) -> Vec<u8> {
        let mut body = Vec::new();
        // A value has string keys, and a vector takes everything.
        let _ = value.serialize(&mut Serializer::with_formatter(&mut body, Numbers(self)));
        body
    }
}

/// Behind the string that begins here.
fn end_of_string(body: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < body.len() && body[at] != b'"' {
        at += if body[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

fn entries(value: &Value) -> usize {
    let all = |fields: &Map<String, Value>| fields.len() + fields.values().map(entries).sum::<usize>();
    match value {
        Value::Object(fields) => all(fields),
        Value::Array(items) => items.iter().map(entries).sum(),
        _ => 0,
    }
}

struct Numbers<'a>(&'a AsWritten);

impl Formatter for Numbers<'_> {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        match self.0.0.get(&value.to_bits()) {
            Some(text) => writer.write_all(text.as_bytes()),
            None => write!(writer, "{}", Value::from(value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[track_caller]
    fn again(body: &str) -> String {
        let (value, written) = read(body.as_bytes()).unwrap();
        String::from_utf8(written.write(&value)).unwrap()
    }

    #[test]
    fn numbers_are_written_as_they_were() {
        for number in [
            "0",
            "-0",
            "-0.0",
            "1.0",
            "1.10",
            "1e5",
            "1E+5",
            "1e-05",
            "0.1",
            "18446744073709551615",
            "18446744073709551616",
            "-9223372036854775808",
            "-9223372036854775809",
            "123456789012345678901234567890",
            "0.1000000000000000055511151231257827",
            "5e-324",
            "1e-400",
        ] {
            let body = format!(r#"{{"a":[{number},7],"b":"{number}"}}"#);
            assert_eq!(again(&body), body);
        }
    }

    #[test]
    fn strings_mean_the_same() {
        assert_eq!(again("{\"a\" : \"\\u00e9\\/\\\"1.10:\\\\\" }\n"), "{\"a\":\"é/\\\"1.10:\\\\\"}");
        assert_eq!(again(r#"{"b":"\ud83d\ude00\u0000","a":null}"#), "{\"b\":\"😀\\u0000\",\"a\":null}");
    }

    #[test]
    fn what_would_lose_something_is_not_read() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        for body in [
            "",
            "{",
            "no",
            r#"{"a":1,"a":1}"#,
            r#"[{"a":{"b":1,"\u0062":2}}]"#,
            r#"["\ud800"]"#,
            r#"["\udc00"]"#,
            "[1e400]",
            "[0.1, 0.10000000000000000001]",
            &deep,
            "\u{feff}{}",
            "{} {}",
            "{\"a\":\"\n\"}",
            "[01]",
            "[NaN]",
        ] {
            assert!(read(body.as_bytes()).is_err(), "{body}");
        }
        assert!(read(b"[\"\xff\"]").is_err());
    }

    proptest! {
        #[test]
        fn what_was_written_once_is_written_so_again(body in r#"(\{"[a-c]":|\[|[-+0-9.eE]{1,6}|"[\\"a:]{0,3}"|[\]},]){0,12}"#) {
            if let Ok((value, written)) = read(body.as_bytes()) {
                let once = written.write(&value);
                let (again, numbers) = read(&once).unwrap();
                prop_assert_eq!(&again, &value);
                prop_assert_eq!(numbers.write(&again), once);
            }
        }
    }
}
