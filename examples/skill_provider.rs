//! A provider of skills in a program of its own: requests and answers of `bcode.skill/v1`, a line each, over standard input and output.
//!
//!     echo '{"api": "bcode.skill/v1", "id": 1, "kind": "list"}' | cargo run --quiet --example skill_provider

use std::io;
use tower_prompt::layers::skill::provider::{
    InvokeSkillRequest, InvokeSkillResponse, SkillContextResponse, SkillError, SkillRequest, SkillResponse, serve,
};
use tower_prompt::layers::skill::{SkillId, SkillList, SkillManifest, SkillSource, SkillSourceKind, SkillSummary};

const BODY: &str = "# Units\n\nGive lengths in metres. Invoke this skill with a number of feet to have them converted.\n";

fn units() -> Result<SkillSummary, SkillError> {
    // The host puts its own name for this provider in the place of the source.
    let source = SkillSource::new(SkillSourceKind::Plugin, "units");
    let id = SkillId::new("units").map_err(|_| SkillError::unknown_skill("units"))?;
    let mut summary = SkillSummary::new(id, "Convert feet to metres. Use when the user gives lengths in feet.", source);
    summary.activation.keywords = vec!["feet".to_owned(), "metres".to_owned()];
    Ok(summary)
}

fn answer(request: &SkillRequest) -> Result<SkillResponse, SkillError> {
    let summary = units()?;
    match (request.skill(), request) {
        (Some(skill), _) if *skill != summary.id => Err(SkillError::unknown_skill(skill.as_str())),
        (_, SkillRequest::List) => Ok(SkillResponse::List(SkillList::new([summary]))),
        (_, SkillRequest::Describe { .. }) => Ok(SkillResponse::Describe { manifest: SkillManifest::new(summary).into() }),
        (_, SkillRequest::Context(_)) => Ok(SkillResponse::Context(SkillContextResponse::new(BODY))),
        (_, SkillRequest::Invoke(InvokeSkillRequest { input, .. })) => {
            let feet: Result<f64, _> = input.as_deref().unwrap_or_default().trim().parse();
            Ok(SkillResponse::Invoke(match feet {
                Ok(feet) => InvokeSkillResponse::new(format!("{:.2} m", feet * 0.3048)),
                Err(why) => InvokeSkillResponse::error(why.to_string()),
            }))
        }
        (_, other) => Err(SkillError::unsupported(other.kind())),
    }
}

fn main() -> io::Result<()> {
    // Where the host went away there is nobody to tell.
    match serve(io::stdin().lock(), io::stdout().lock(), |request| answer(&request)) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        served => served,
    }
}
