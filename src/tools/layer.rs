//! Tells the model of code-backed skills.

use super::listing::{Listing, ListingForm};
use super::registry::{CodeSkills, TurnAuthority};
use crate::layers::text::Limit;
use crate::layers::{Contribute, Fragment, Prompt, Source, Tier, Turn};
use std::sync::Arc;

/// The id of the list of code-backed skills.
pub const CODE_SKILLS: &str = "code_skills";
/// The id of what the routing rules say of a message.
pub const CODE_SKILL_ROUTING: &str = "code_skill_routing";

/// Adds the tool definitions of code-backed skills, from the session's start; their list, `Session`, in the form that it is given; and at each message
/// of the user's what the configured rules prefer and avoid for it, `Turn`. Whoever adds it answers the calls: see [`CodeSkills::turn`].
#[derive(Clone, Debug)]
pub struct CodeSkillsLayer {
    skills: CodeSkills,
    form: ListingForm,
    limit: Limit,
}

impl CodeSkillsLayer {
    /// Of these skills, without a list.
    pub fn new(skills: CodeSkills) -> Self {
        Self { skills, form: ListingForm::None, limit: Limit::None }
    }
    /// Those that it tells of.
    pub fn skills(&self) -> &CodeSkills {
        &self.skills
    }
    /// Lists them in this form.
    pub fn listing(mut self, form: ListingForm) -> Self {
        self.form = form;
        self
    }
    /// For the list: in less room it is compact, then ends early.
    pub fn limit(mut self, limit: Limit) -> Self {
        self.limit = limit;
        self
    }
}

impl Contribute for CodeSkillsLayer {
    fn contribute(&self, turn: &Turn, prompt: &mut Prompt) {
        if !prompt.round().collects(Tier::Session) {
            return;
        }
        let authority = TurnAuthority::of(turn);
        self.skills.diagnostics().iter().for_each(|diagnostic| prompt.diagnose(diagnostic.clone()));
        self.skills.definitions(authority).for_each(|definition| prompt.add_tool(definition));
        match Listing::of(&self.skills, authority, self.form) {
            // As the definitions, it stays as the session began with it.
            Some(listing) => {
                prompt.add(Tier::Session, || Fragment::new(CODE_SKILLS, Arc::new(listing)).limit(self.limit).fixed());
            }
            None => prompt.gone(CODE_SKILLS),
        }
        let routing = turn.user_text().map(|text| self.skills.routing(&text, authority)).unwrap_or_default();
        if routing.is_empty() {
            prompt.gone(CODE_SKILL_ROUTING);
        } else {
            prompt.add(Tier::Turn, || Fragment::new(CODE_SKILL_ROUTING, routing.told()).source(Source::Configuration));
        }
    }
}

impl<S> tower::Layer<S> for CodeSkillsLayer {
    type Service = crate::layers::Add<S, Self>;
    fn layer(&self, inner: S) -> Self::Service {
        crate::layers::Add::new(inner, self.clone())
    }
}
