//! What providers list, as the registry that a stack takes its skills from.

use crate::layers::Diagnostic;
use crate::layers::skill::provider::{MergedSkills, SharedProvider, SkillContextRequest, SkillError};
use crate::layers::skill::{LoadSkill, LoadingSkill, Skill, SkillRegistry, SkillSummary, SkillText, Skills};
use crate::layers::text::{Edge, Limit, Room, cut};
use crate::skills::{DiscoveryOptions, configure, unknown};
use std::sync::{Arc, PoisonError, RwLock};

/// The skills of several providers as one registry: a snapshot that never changes, swapped whole when they are asked again. Bodies are asked for when
/// a skill comes into force. Cheap to clone; clones share their state.
///
/// ```
/// use tower_prompt::layers::skill::SkillRegistry;
/// use tower_prompt::layers::skill::provider::SharedProvider;
/// use tower_prompt::providers::{FolderProvider, ProcessProvider, ProvidedSkills, ProviderProgram};
/// use tower_prompt::skills::{DiscoveryOptions, FolderSkills};
/// use tower_prompt::{Environment, Workspace};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let (environment, workspace) = (Environment::new("/"), Workspace::at("/nowhere"));
/// let options = DiscoveryOptions::default();
/// let folders = FolderProvider::new(FolderSkills::discover(&options, &environment, &workspace));
/// let program = ProcessProvider::new(ProviderProgram::new("plugin:notes", "/nowhere/notes", &environment));
/// let providers = [("folders", SharedProvider::new(folders)), ("plugin:notes", SharedProvider::new(program))];
///
/// let skills = ProvidedSkills::load(providers, &options).await;
/// assert_eq!(skills.snapshot().diagnostics()[0].code, "provider-unavailable");
/// # }
/// ```
#[derive(Clone)]
pub struct ProvidedSkills(Arc<Inner>);

struct Inner {
    provider: SharedProvider,
    options: DiscoveryOptions,
    skills: RwLock<Skills>,
    /// Two reloads stand in line.
    reloading: tokio::sync::Mutex<()>,
}

impl ProvidedSkills {
    /// What these list now, highest precedence first, each provider with the label that diagnostics call it by. Of the options count those that are
    /// about single skills (`skills.disabled.ids`, `skills.overrides`, `skills.matching.patterns`) and `skills.max_skill_file_bytes`, which bounds a
    /// body here too.
    pub async fn load<L: Into<String>>(providers: impl IntoIterator<Item = (L, SharedProvider)>, options: &DiscoveryOptions) -> Self {
        let provider = SharedProvider::new(MergedSkills::new(providers));
        let (skills, reloading) = (RwLock::default(), tokio::sync::Mutex::default());
        let skills = Self(Arc::new(Inner { provider, options: options.clone(), skills, reloading }));
        skills.reload().await;
        skills
    }
    /// Asks all of them again, then swaps the snapshot. Of a provider that fails the last list stays, with a diagnostic. Where nothing changed, the
    /// snapshot is the very same.
    pub async fn reload(&self) {
        let _one = self.0.reloading.lock().await;
        let Ok(list) = self.0.provider.list().await else {
            // Several providers as one never fail.
            return;
        };
        let mut diagnostics = list.diagnostics;
        let mut skills: Vec<Skill> = list.skills.into_iter().map(|summary| self.skill(summary)).collect();
        // A provider that knows its own skills alone may have said so of another's.
        diagnostics.retain(|found| found.code != "skill-unknown");
        diagnostics.extend(unknown(&skills, &self.0.options));
        configure(&mut skills, &self.0.options);
        let skills = Skills::new(skills, diagnostics);
        if !is_shown_as(&self.snapshot(), &skills) {
            *self.0.skills.write().unwrap_or_else(PoisonError::into_inner) = skills;
        }
    }

    fn skill(&self, summary: SkillSummary) -> Skill {
        let max_bytes = self.0.options.max_skill_file_bytes.get();
        let request = SkillContextRequest::new(summary.id.clone()).max_bytes(max_bytes);
        let (label, location) = (summary.source.label.clone(), summary.location.clone());
        Skill::new(summary, Body { provider: self.0.provider.clone(), request, max_bytes, label, location })
    }
}

fn is_shown_as(before: &Skills, now: &Skills) -> bool {
    before.iter().map(|skill| &skill.summary).eq(now.iter().map(|skill| &skill.summary)) && before.diagnostics() == now.diagnostics()
}

impl SkillRegistry for ProvidedSkills {
    fn snapshot(&self) -> Skills {
        self.0.skills.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for ProvidedSkills {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ProvidedSkills").field("skills", &self.snapshot()).finish_non_exhaustive()
    }
}

/// How a body is asked for.
struct Body {
    provider: SharedProvider,
    request: SkillContextRequest,
    max_bytes: usize,
    label: String,
    location: String,
}

impl LoadSkill for Body {
    fn load(&self) -> LoadingSkill {
        let (provider, request, max_bytes) = (self.provider.clone(), self.request.clone(), self.max_bytes);
        let (label, location) = (self.label.clone(), self.location.clone());
        Box::pin(async move {
            let asked = provider.context(request.clone()).await;
            let failed = |error: SkillError| error.diagnostic(&label).at(location.clone());
            let mut text = SkillText::from(asked.map_err(failed)?);
            let fitted = cut(&text.body, Edge::Line, &Room::UNLIMITED.with(Limit::Bytes(max_bytes)));
            if fitted.is_cut {
                let message = format!(
                    "the body of skill `{}` has more than {max_bytes} bytes, the limit of `skills.max_skill_file_bytes`; it was cut",
                    request.skill
                );
                text.diagnostics.push(Diagnostic::warning("provider-text-cut", message).at(location));
                text.body = fitted.text.into_owned();
            }
            Ok(text)
        })
    }
}
