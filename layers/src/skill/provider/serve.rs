//! A provider's side of the pipe.

use super::{MAX_ANSWER_BYTES, SkillError, SkillRequest, SkillResponse, read_line, read_request, write_answer};
use std::io::{self, BufRead, Write};

/// Answers the requests of `input`, a line each, until it ends. A line that is no request, and has no id to answer to, is passed over.
///
/// ```
/// use tower_prompt_layers::skill::SkillList;
/// use tower_prompt_layers::skill::provider::{SkillError, SkillRequest, SkillResponse, serve};
///
/// let mut answers = Vec::new();
/// let requests = br#"{"api": "bcode.skill/v1", "id": 7, "kind": "list"}"#;
/// serve(&requests[..], &mut answers, |request| match request {
///     SkillRequest::List => Ok(SkillResponse::List(SkillList::default())),
///     other => Err(SkillError::unsupported(other.kind())),
/// })?;
/// let answers = String::from_utf8(answers)?;
/// assert_eq!(answers, "{\"api\":\"bcode.skill/v1\",\"id\":7,\"kind\":\"list\",\"skills\":[],\"diagnostics\":[]}\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn serve(
    mut input: impl BufRead,
    mut output: impl Write,
    mut answer: impl FnMut(SkillRequest) -> Result<SkillResponse, SkillError>,
) -> io::Result<()> {
    while let Some(line) = read_line(&mut input, MAX_ANSWER_BYTES)? {
        let Ok(line) = read_request(&line) else { continue };
        let answer = line.request.and_then(&mut answer);
        for line in write_answer(line.id, &answer) {
            output.write_all(line.as_bytes())?;
        }
        output.flush()?;
    }
    Ok(())
}
