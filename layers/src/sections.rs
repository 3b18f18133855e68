//! Sections: named facts about the machine, the repository and the host, each of which can be switched off.

use crate::prompt::{Contribute, Fragment, FragmentId, Prompt, Shedding, Source, Tier, Turn, impl_tower_layer};
use crate::text::{Block, Limit};
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

/// A section: what it is called, and what it adds.
///
/// A section whose text is a value is a [`Block`]; one that must look something up gives a future ([`Prompt::add_later`]) with its deadline in it.
/// What isn't there is said to be gone ([`Prompt::gone`]), at every collection.
pub trait Section: Send + Sync {
    /// Its name, as in `system_prompt.sections`, and the id of its fragment where it has one.
    fn name(&self) -> &str;
    /// Adds what there is to say.
    fn add(&self, turn: &Turn, prompt: &mut Prompt);
}

impl<T: Section + ?Sized> Section for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }
    fn add(&self, turn: &Turn, prompt: &mut Prompt) {
        (**self).add(turn, prompt);
    }
}

/// Adds sections, in their order, but for those that are switched off.
///
/// ```
/// use tower_prompt_layers::{Prompt, Section, SectionsLayer, Tier, Turn, sections};
///
/// struct Release;
/// impl Section for Release {
///     fn name(&self) -> &str {
///         "release"
///     }
///     fn add(&self, _: &Turn, prompt: &mut Prompt) {
///         prompt.add(Tier::Session, || sections::fragment("release", "The next release is 2.0."));
///     }
/// }
///
/// let layer = SectionsLayer::default().with(Release);
/// assert_eq!(layer.names().collect::<Vec<_>>(), ["release"]);
/// assert_eq!(layer.without("release").names().count(), 0);
/// ```
#[derive(Clone, Default)]
pub struct SectionsLayer {
    sections: Vec<Arc<dyn Section>>,
    off: BTreeSet<String>,
}

impl SectionsLayer {
    /// With this section behind the others.
    pub fn with(mut self, section: impl Section + 'static) -> Self {
        self.sections.push(Arc::new(section));
        self
    }
    /// With the sections of this name switched off: they start no process and read no file.
    pub fn without(mut self, name: impl Into<String>) -> Self {
        self.off.insert(name.into());
        self
    }
    /// The names of the sections that are on.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.on().map(Section::name)
    }

    fn on(&self) -> impl Iterator<Item = &dyn Section> {
        self.sections.iter().map(|section| &**section).filter(|section| !self.off.contains(section.name()))
    }
}

impl Contribute for SectionsLayer {
    fn contribute(&self, turn: &Turn, prompt: &mut Prompt) {
        self.on().for_each(|section| section.add(turn, prompt));
    }
}

impl_tower_layer!(SectionsLayer);

impl fmt::Debug for SectionsLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.names()).finish()
    }
}

/// The usual fragment of a section: `body` in a block of this name.
pub fn fragment(name: impl Into<FragmentId>, body: &str) -> Fragment {
    let name = name.into();
    let block = Block::new(&name, body);
    Fragment::new(name, block).source(Source::Probe)
}

/// A section whose text is a value.
#[derive(Clone, Debug)]
pub struct TextSection {
    name: String,
    tier: Tier,
    /// Put together once; none where there is nothing to say.
    fragment: Option<Fragment>,
}

impl TextSection {
    /// An empty text is absent.
    pub fn new(name: impl Into<String>, tier: Tier, body: impl AsRef<str>) -> Self {
        let (name, body) = (name.into(), body.as_ref());
        let fragment = (!body.trim().is_empty()).then(|| Fragment::new(name.clone(), Block::new(&name, body)));
        Self { name, tier, fragment }
    }
    /// At most so much of it.
    pub fn limit(self, limit: Limit) -> Self {
        self.with(|fragment| fragment.limit(limit))
    }
    /// Says less where the budget of a session's start is short: see [`Fragment::shedding`].
    pub fn shedding(self, shedding: impl Into<Shedding>) -> Self {
        self.with(|fragment| fragment.shedding(shedding))
    }
    /// Where it came from.
    pub fn source(self, source: Source) -> Self {
        self.with(|fragment| fragment.source(source))
    }

    fn with(self, change: impl FnOnce(Fragment) -> Fragment) -> Self {
        Self { fragment: self.fragment.map(change), ..self }
    }
}

impl Section for TextSection {
    fn name(&self) -> &str {
        &self.name
    }
    fn add(&self, _: &Turn, prompt: &mut Prompt) {
        match &self.fragment {
            Some(fragment) => prompt.add(self.tier, || fragment.clone()),
            None => prompt.gone(self.name.clone()),
        }
    }
}
