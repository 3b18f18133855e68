//! What comes into effect by being said: the events of a request, and what a skill asks of the host.

use super::event::SessionEvent;
use super::said::{Piece, Said};
use crate::prompt::Turn;
use crate::prompt::fragment::{ACTIVE_SKILL, Effect, Fragment, Source};
use crate::prompt::manifest::Event;
use crate::skill::{ActiveSkill, ExecutionOptions, SkillId};
use crate::text::shorten;

impl Said<'_> {
    /// What the session's log tells of it, beside what is anchored.
    pub(super) fn happened(&mut self) -> Vec<SessionEvent> {
        let events = self.events.iter().map(|event| match event {
            Event::SkillPutDown { id } => SessionEvent::SkillDeactivated { id: id.clone(), everywhere: false },
            Event::SkillSuggested { id } => SessionEvent::SkillSuggested { id: id.clone() },
            Event::InvariantsSelected { numbers } => SessionEvent::InvariantsSelected { numbers: numbers.clone() },
            Event::SkillActivated { id, mode } => {
                let skill = ActiveSkill { id: id.clone(), arguments: None, mode: *mode };
                SessionEvent::SkillActivated { skill, everywhere: false }
            }
        });
        events.chain(std::mem::take(&mut self.loaded)).collect()
    }
    pub(super) fn loads(&mut self, piece: &Piece<'_>) {
        self.loaded.extend(self.loading(piece.fragment, &piece.text, piece.limit.is_some_and(|limit| limit.cut)));
    }
    pub(super) fn loading(&self, fragment: &Fragment, text: &str, truncated: bool) -> Option<SessionEvent> {
        let id = SkillId::new(fragment.id.strip_prefix(ACTIVE_SKILL)?).ok()?;
        let source = match &fragment.source {
            Source::File { path, .. } => path.clone(),
            other => other.to_string(),
        };
        let preview = shorten(text, self.settings.preview_max_chars).into_owned();
        Some(SessionEvent::SkillContextLoaded { id, source, bytes: text.len(), truncated, preview })
    }

    pub(super) fn takes_effect(&mut self, fragment: &Fragment, turn: &Turn) {
        let Some(effect) = &fragment.effect else { return };
        self.events.push(match effect {
            Effect::Suggests(id) => Event::SkillSuggested { id: id.clone() },
            Effect::Selects(numbers) => Event::InvariantsSelected { numbers: numbers.clone() },
            Effect::Activates(skill) => return self.activates(skill, turn),
        });
    }
    pub(super) fn activates(&mut self, skill: &ActiveSkill, turn: &Turn) {
        if let Some(known) = turn.skills.get(skill.id.as_str()) {
            let ExecutionOptions { model, thinking_effort } = (*known.summary.execution).clone();
            self.execution.model = self.execution.model.take().or(model);
            self.execution.thinking_effort = self.execution.thinking_effort.take().or(thinking_effort);
        }
        self.events.push(Event::SkillActivated { id: skill.id.clone(), mode: skill.mode });
    }
}
