//! The catalog: the metadata of the skills that the model may load.

use crate::prompt::{Contribute, Diagnostic, Fragment, Prompt, SheddingRank, Source, Tier, Trust, Turn, impl_tower_layer};
use crate::skill::{Catalog, CatalogOptions, Skills};
use crate::sync::Mutex;
use crate::text::{Limit, escape};
use std::fmt;
use std::sync::{Arc, PoisonError};

/// The id of the catalog's fragment.
pub const SKILL_CATALOG: &str = "skill_catalog";

/// Adds the catalog, `Session`. Hidden, disabled and manual skills are absent; where no skill is left there is no byte of it. Later in a
/// conversation only skills that are new or described anew are told.
///
/// ```
/// use serde_json::json;
/// use std::num::NonZeroUsize;
/// use tower_prompt_layers::skill::{CatalogOptions, Skill, SkillSource, SkillSourceKind, SkillSummary, Skills};
/// use tower_prompt_layers::{Context, PromptStack, Settings, SkillCatalogLayer, wire::OpenAiChat};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), tower_prompt_layers::skill::InvalidSkillId> {
/// let source = SkillSource::new(SkillSourceKind::User, "own");
/// let summary = SkillSummary::new("deploy".parse()?, "Deploys to staging & production.", source);
/// let skills = Skills::new([Skill::new(summary, String::new())], Vec::new());
/// let mut options = CatalogOptions::default();
/// options.max_bytes = NonZeroUsize::new(8192);
/// let stack = PromptStack::new(OpenAiChat, Settings::default().skills(skills)).with(SkillCatalogLayer::new(options));
///
/// let sent = stack.assemble(json!({"messages": [{"role": "user", "content": "Go."}]}), Context::default()).await;
/// let system = sent["messages"][0]["content"].as_str().unwrap();
/// assert!(system.contains("<description>Deploys to staging &amp; production.</description>"));
/// # Ok(()) }
/// ```
#[derive(Clone, Default)]
pub struct SkillCatalogLayer {
    options: CatalogOptions,
    last: Arc<Mutex<Option<PutTogether>>>,
}

/// A snapshot, and what is told of it.
type PutTogether = (Skills, Told);

/// A catalog, if there is one, and what was found in it.
type Told = (Option<Arc<Catalog>>, Arc<[Diagnostic]>);

impl SkillCatalogLayer {
    /// With these options and limits.
    pub fn new(options: CatalogOptions) -> Self {
        Self { options, last: Arc::default() }
    }

    /// Put together once a snapshot.
    fn catalog(&self, skills: &Skills) -> Told {
        // What is under the lock is replaced whole.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        match &*last {
            Some((of, told)) if of.is_same(skills) => told.clone(),
            _ => {
                let told = (Catalog::new(skills, &self.options).map(Arc::new), invisible(skills, &self.options));
                *last = Some((skills.clone(), told.clone()));
                told
            }
        }
    }
}

/// What the catalog drops of its skills' texts.
fn invisible(skills: &Skills, options: &CatalogOptions) -> Arc<[Diagnostic]> {
    let shown = skills.iter().map(|skill| &skill.summary).filter(|summary| summary.is_in_the_catalog());
    let found = shown.filter_map(|summary| {
        let any = |included: bool, texts: &[String]| included && texts.iter().any(|text| escape::has_invisible(text));
        let fields = [
            ("name", escape::has_invisible(&summary.name)),
            ("description", escape::has_invisible(&summary.description)),
            ("source", options.include_sources && escape::has_invisible(&summary.source.label)),
            ("keywords", any(options.include_keywords, &summary.activation.keywords)),
            ("scripts", any(options.include_resources, &summary.resources.scripts)),
            ("references", any(options.include_resources, &summary.resources.references)),
        ];
        let marked: Vec<&str> = fields.into_iter().filter_map(|(field, is_marked)| is_marked.then_some(field)).collect();
        let message = || format!("`{}` holds invisible characters ({}); the catalog drops them", summary.id, marked.join(", "));
        (!marked.is_empty()).then(|| Diagnostic::warning("characters-invisible", message()).at(summary.location.clone()))
    });
    found.collect()
}

impl Contribute for SkillCatalogLayer {
    fn contribute(&self, turn: &Turn, prompt: &mut Prompt) {
        if !prompt.round().collects(Tier::Session) {
            return;
        }
        // Silence: what a conversation was told under another provider stays.
        if turn.provider().is_some_and(|provider| self.options.without_for.contains(provider)) {
            return;
        }
        let (Some(catalog), found) = self.catalog(&turn.skills) else { return prompt.gone(SKILL_CATALOG) };
        found.iter().for_each(|diagnostic| prompt.diagnose(diagnostic.clone()));
        let limit = self.options.max_bytes.map_or(Limit::None, |max| Limit::Bytes(max.get()));
        prompt.add(Tier::Session, || {
            Fragment::of_shared(SKILL_CATALOG, catalog)
                .limit(limit)
                .shedding(SheddingRank::CATALOG)
                .trust(Trust::Skill)
                .source(Source::Skills)
        });
    }
}

impl_tower_layer!(SkillCatalogLayer);

impl fmt::Debug for SkillCatalogLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SkillCatalogLayer").field("options", &self.options).finish_non_exhaustive()
    }
}
