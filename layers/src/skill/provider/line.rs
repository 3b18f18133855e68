//! A message a line: JSON both ways, bounded, and never a panic whatever stands in it.

use super::error::told;
use super::said;
use super::{API, SkillError, SkillErrorCode, SkillRequest, SkillResponse};
use crate::prompt::Diagnostic;
use crate::skill::{SkillList, SkillSource, SkillSummary};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::io::{self, BufRead, Read};
use std::sync::Arc;

/// Bytes of a line of a list. A list may have many lines.
pub const MAX_LIST_LINE_BYTES: usize = 64 * 1024;
/// Bytes of any other line.
pub const MAX_ANSWER_BYTES: usize = 1024 * 1024;

#[derive(Serialize)]
struct Envelope<'a, T> {
    api: &'static str,
    id: u64,
    #[serde(flatten)]
    message: &'a T,
}

/// A request as it was read.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct RequestLine {
    /// To be repeated in the answer.
    pub id: u64,
    /// What is asked, or what is to be answered since that can't be told.
    pub request: Result<SkillRequest, SkillError>,
}

/// A line of an answer as it was read.
#[derive(Clone, PartialEq, Debug)]
#[non_exhaustive]
pub struct AnswerLine {
    /// Of the request that it answers.
    pub id: u64,
    /// The answer, or why there is none.
    pub answer: Result<SkillResponse, SkillError>,
    /// It is a part of a list, and another line of the same id follows.
    pub more: bool,
}

/// A request as a line, its end included; an error where it is over [`MAX_ANSWER_BYTES`].
pub fn write_request(id: u64, request: &SkillRequest) -> Result<String, SkillError> {
    one_line(id, request).filter(|line| line.len() <= MAX_ANSWER_BYTES).ok_or_else(|| too_large(MAX_ANSWER_BYTES))
}

/// What a line asks. An error where it has no id to answer to.
pub fn read_request(line: &[u8]) -> Result<RequestLine, SkillError> {
    let (id, mut said) = open(line)?;
    let request = version(&mut said).and_then(|()| {
        let kind = said.get("kind").and_then(Value::as_str).unwrap_or_default();
        if !SkillRequest::KINDS.contains(&kind) {
            return Err(SkillError::unsupported(kind));
        }
        SkillRequest::deserialize(Value::Object(said)).map_err(|error| SkillError::invalid(told(&error.to_string())))
    });
    Ok(RequestLine { id, request })
}

/// What a line answers. An error where it has no id: it may be no answer at all. Skills in it bear this source.
pub fn read_answer(line: &[u8], source: &Arc<SkillSource>) -> Result<AnswerLine, SkillError> {
    let (id, mut said) = open(line)?;
    let more = said.remove("more") == Some(Value::Bool(true)) && said.get("kind").is_some_and(|kind| kind == "list");
    let answer = version(&mut said).and_then(|()| answer(said, source));
    let is_list = matches!(answer, Ok(SkillResponse::List(_)));
    if is_list && line.len() > MAX_LIST_LINE_BYTES {
        return Ok(AnswerLine { id, answer: Err(too_large(MAX_LIST_LINE_BYTES)), more: false });
    }
    Ok(AnswerLine { id, more: more && answer.is_ok(), answer })
}

fn answer(mut said: Map<String, Value>, source: &Arc<SkillSource>) -> Result<SkillResponse, SkillError> {
    let kind = said.remove("kind");
    match kind.as_ref().and_then(Value::as_str).unwrap_or_default() {
        "list" => said::list(said, source).map(SkillResponse::List),
        "describe" => said::manifest(said, source).map(|manifest| SkillResponse::Describe { manifest: manifest.into() }),
        "context" => {
            let diagnostics = said::diagnostics(said.remove("diagnostics"));
            let mut context: super::SkillContextResponse = read(said)?;
            context.diagnostics = diagnostics;
            // There is no file that it could be a line of.
            context.first_line = None;
            Ok(SkillResponse::Context(context))
        }
        "invoke" => read(said).map(SkillResponse::Invoke),
        "error" => Err(read::<SkillError>(said)?.told()),
        other => Err(SkillError::invalid(format!("an answer of no known kind (`{}`)", told(other)))),
    }
}

fn read<T: for<'de> Deserialize<'de>>(said: Map<String, Value>) -> Result<T, SkillError> {
    T::deserialize(Value::Object(said)).map_err(|error| SkillError::invalid(told(&error.to_string())))
}

/// A line's id and what else it says.
fn open(line: &[u8]) -> Result<(u64, Map<String, Value>), SkillError> {
    if line.len() > MAX_ANSWER_BYTES {
        return Err(too_large(MAX_ANSWER_BYTES));
    }
    let said: Value = serde_json::from_slice(line).map_err(|error| SkillError::invalid(format!("a line that is no JSON: {error}")))?;
    let Value::Object(mut said) = said else { return Err(SkillError::invalid("a line that is no JSON object")) };
    let id = said.remove("id").and_then(|id| id.as_u64()).ok_or_else(|| SkillError::invalid("a line without an id"))?;
    Ok((id, said))
}

/// An error where it is another than ours.
fn version(said: &mut Map<String, Value>) -> Result<(), SkillError> {
    match said.remove("api") {
        Some(Value::String(api)) if api == API => Ok(()),
        Some(Value::String(api)) => {
            Err(SkillError::new(SkillErrorCode::Version, format!("it speaks `{}`, and `{API}` is spoken here", told(&api))))
        }
        _ => Err(SkillError::new(SkillErrorCode::Version, format!("a line without `\"api\": \"{API}\"`"))),
    }
}

fn too_large(max_bytes: usize) -> SkillError {
    SkillError::new(SkillErrorCode::TooLarge, format!("a line of more than {max_bytes} bytes"))
}

/// An answer as lines, their ends included: as many as a list needs, else one. What is too large for a line is answered with an error, and a skill
/// that is, with a diagnostic in its place.
pub fn write_answer(id: u64, answer: &Result<SkillResponse, SkillError>) -> Vec<String> {
    match answer {
        Ok(SkillResponse::List(list)) => write_list(id, list),
        Ok(response) => {
            let line = one_line(id, response).filter(|line| line.len() <= MAX_ANSWER_BYTES);
            vec![line.unwrap_or_else(|| write_error(id, too_large(MAX_ANSWER_BYTES)))]
        }
        Err(error) => vec![write_error(id, error.clone())],
    }
}

fn write_error(id: u64, error: SkillError) -> String {
    #[derive(Serialize)]
    struct Failure {
        kind: &'static str,
        #[serde(flatten)]
        error: SkillError,
    }
    // Short texts always make a line.
    one_line(id, &Failure { kind: "error", error: error.told() }).unwrap_or_default()
}

#[derive(Serialize)]
struct Part<'a> {
    kind: &'static str,
    skills: &'a [SkillSummary],
    diagnostics: &'a [Diagnostic],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    more: bool,
}

fn write_list(id: u64, list: &SkillList) -> Vec<String> {
    let part = |skills: &[SkillSummary], diagnostics: &[Diagnostic]| {
        let line = one_line(id, &Part { kind: "list", skills, diagnostics, more: true });
        line.filter(|line| line.len() <= MAX_LIST_LINE_BYTES)
    };
    let mut lines = Vec::new();
    in_parts(
        &list.skills,
        &mut |skills| part(skills, &[]),
        &mut |skill: &SkillSummary| {
            let left_out =
                Diagnostic::warning("provider-skill-invalid", format!("skill `{}` is too large for a line and left out", skill.id));
            lines_of(part(&[], &[left_out]))
        },
        &mut lines,
    );
    in_parts(&list.diagnostics, &mut |diagnostics| part(&[], diagnostics), &mut |_| Vec::new(), &mut lines);
    let last = Part { kind: "list", skills: &[], diagnostics: &[], more: false };
    lines.extend(one_line(id, &last));
    lines
}

fn lines_of(line: Option<String>) -> Vec<String> {
    line.into_iter().collect()
}

/// Lines of as many items as one holds; an item that no line holds is handed to `alone`.
fn in_parts<T>(
    items: &[T],
    line: &mut impl FnMut(&[T]) -> Option<String>,
    alone: &mut impl FnMut(&T) -> Vec<String>,
    lines: &mut Vec<String>,
) {
    match items {
        [] => {}
        items => match (line(items), items) {
            (Some(whole), _) => lines.push(whole),
            (None, [item]) => lines.extend(alone(item)),
            (None, _) => {
                let (first, second) = items.split_at(items.len() / 2);
                in_parts(first, line, alone, lines);
                in_parts(second, line, alone, lines);
            }
        },
    }
}

fn one_line<T: Serialize>(id: u64, message: &T) -> Option<String> {
    // Keys are texts and there is no map of another kind, so this can't fail; if it did, there would be no line.
    let mut line = serde_json::to_string(&Envelope { api: API, id, message }).ok()?;
    line.push('\n');
    Some(line)
}

/// The next line without its end, `None` behind the last; an error of kind `InvalidData` for one of more than `max_bytes`, of which no more is read.
/// Of a blank line nothing is left.
pub fn read_line(from: &mut impl BufRead, max_bytes: usize) -> io::Result<Option<Vec<u8>>> {
    let longest = u64::try_from(max_bytes).unwrap_or(u64::MAX).saturating_add(1);
    let mut line = Vec::new();
    if from.by_ref().take(longest).read_until(b'\n', &mut line)? == 0 {
        return Ok(None);
    }
    if line.last() != Some(&b'\n') && line.len() > max_bytes {
        return Err(io::Error::new(io::ErrorKind::InvalidData, too_large(max_bytes)));
    }
    let text = line.trim_ascii_end().len();
    line.truncate(text);
    Ok(Some(line))
}
