//! The catalog: the metadata of the skills that the model may load.

use crate::prompt::{Contribute, Diagnostic, Fragment, Prompt, Source, Tier, Trust, Turn, impl_tower_layer};
use crate::skill::{Catalog, CatalogOptions, Skills};
use crate::text::{Limit, escape};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// The id of the catalog's fragment.
pub const SKILL_CATALOG: &str = "skill_catalog";

/// Adds the catalog, `Session`. Hidden, disabled and manual skills are absent; where no skill is left there is no byte of it. Later in a
/// conversation only skills that are new or described anew are told.
#[derive(Clone, Default)]
pub struct SkillCatalogLayer {
    options: CatalogOptions,
    last: Arc<Mutex<Option<PutTogether>>>,
}

/// A snapshot, and its catalog if it has one.
type PutTogether = (Skills, Option<Arc<Catalog>>);

impl SkillCatalogLayer {
    /// With these options and limits.
    pub fn new(options: CatalogOptions) -> Self {
        Self { options, last: Arc::default() }
    }

    /// Put together once a snapshot.
    fn catalog(&self, skills: &Skills) -> Option<Arc<Catalog>> {
        // What is under the lock is replaced whole.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((of, catalog)) if of.is_same(skills) => catalog.clone(),
            _ => {
                let catalog = Catalog::new(skills, &self.options).map(Arc::new);
                *last = Some((skills.clone(), catalog.clone()));
                catalog
            }
        }
    }
}

impl Contribute for SkillCatalogLayer {
    fn contribute(&self, turn: &Turn, prompt: &mut Prompt) {
        if !prompt.round().collects(Tier::Session) {
            return;
        }
        let Some(catalog) = self.catalog(&turn.skills) else { return prompt.gone(SKILL_CATALOG) };
        let shown = turn.skills.iter().map(|skill| &skill.summary).filter(|summary| summary.is_in_the_catalog());
        for summary in shown.filter(|summary| escape::has_invisible(&summary.description) || escape::has_invisible(&summary.name)) {
            let message = format!("`{}` holds invisible characters in its name or description; the catalog drops them", summary.id);
            prompt.diagnose(Diagnostic::warning("invisible-characters", message).at(summary.location.clone()));
        }
        let limit = self.options.max_bytes.map_or(Limit::None, |max| Limit::Bytes(max.get()));
        prompt.add(Tier::Session, || Fragment::new(SKILL_CATALOG, catalog).limit(limit).trust(Trust::Skill).source(Source::Skills));
    }
}

impl_tower_layer!(SkillCatalogLayer);

impl fmt::Debug for SkillCatalogLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillCatalogLayer").field("options", &self.options).finish_non_exhaustive()
    }
}
