//! The skills in folders as one provider among others.

use crate::blocking::{FILE_DEADLINE, off_the_executor_within};
use crate::layers::skill::SkillRegistry;
use crate::layers::skill::provider::{Answering, SkillContextResponse, SkillError, SkillErrorCode, SkillRequest, SkillResponse};
use crate::skills::FolderSkills;
use std::task::{Context, Poll};
use tower::Service;

/// The skills in folders as a provider. A `list` looks at the folders again first; `invoke` is not supported, since a skill in a folder does nothing
/// by itself and no script of it is run.
#[derive(Clone, Debug)]
pub struct FolderProvider(FolderSkills);

impl FolderProvider {
    /// These.
    pub fn new(skills: FolderSkills) -> Self {
        Self(skills)
    }
}

impl Service<SkillRequest> for FolderProvider {
    type Response = SkillResponse;
    type Error = SkillError;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), SkillError>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: SkillRequest) -> Answering {
        let skills = self.0.clone();
        match request {
            SkillRequest::List => Box::pin(async move {
                let reloading = skills.clone();
                // Where that takes too long, what was read before is told.
                let _ = off_the_executor_within(FILE_DEADLINE, move || reloading.reload()).await;
                Ok(SkillResponse::List(skills.snapshot().list()))
            }),
            SkillRequest::Describe { skill } => Box::pin(async move {
                let id = skill.clone();
                let read = off_the_executor_within(FILE_DEADLINE, move || skills.manifest(id.as_str())).await;
                let late = || SkillError::new(SkillErrorCode::Late, "the skill's folder could not be read in time");
                let manifest = read.ok_or_else(late)?.ok_or_else(|| SkillError::unknown_skill(skill.as_str()))?;
                Ok(SkillResponse::Describe { manifest: manifest.into() })
            }),
            SkillRequest::Context(request) => Box::pin(async move {
                let snapshot = skills.snapshot();
                let skill = snapshot.get(request.skill.as_str()).ok_or_else(|| SkillError::unknown_skill(request.skill.as_str()))?;
                let loading = skill.content.load();
                match loading.await {
                    Ok(text) => Ok(SkillResponse::Context(SkillContextResponse::from(text))),
                    Err(why) => Err(SkillError::new(SkillErrorCode::Failed, why.message)),
                }
            }),
            other => Box::pin(std::future::ready(Err(SkillError::unsupported(other.kind())))),
        }
    }
}
