//! The layers of configuration: the active profile, what profiles extend, and what stands over what.

use super::model::ConfigurationLayer;
use super::nearest::nearest;
use super::place::KeyPath;
use super::source::{Numbered, Source, number_of};
use super::text::{quoted, shown};
use crate::layers::Diagnostic;
use figment::Figment;
use figment::value::{Dict, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

/// A table that is merged over the ones before it.
pub(super) struct Layer<'s> {
    /// Which source wrote it.
    pub(super) source: usize,
    /// Where it stands in that source.
    pub(super) prefix: KeyPath,
    pub(super) table: Cow<'s, toml::Table>,
}

/// Merges; the tags carry the tables' numbers.
pub(super) fn merge<'t>(tables: impl IntoIterator<Item = &'t toml::Table>) -> Figment {
    let numbered = tables.into_iter().enumerate().map(|(number, table)| Numbered { number, table });
    numbered.fold(Figment::new(), |merged, table| merged.merge(table))
}

/// Problems beyond these are counted, not told.
const MOST_PROBLEMS: usize = 100;

/// Finds what is wrong between the sources and takes those keys out, until nothing is: what a lower source says stands then.
pub(super) fn settle(sources: &mut [Source]) {
    loop {
        let problems = Composed::of(sources).problems();
        if problems.is_empty() {
            return;
        }
        let mut untold = BTreeMap::<usize, usize>::new();
        // Each round takes a key out of some source, so that the rounds end.
        for (number, Problem { source: at, key, element, finding }) in problems.into_iter().enumerate() {
            let source = &mut sources[at];
            if number < MOST_PROBLEMS {
                let place = source.place(&element).or_else(|| source.place(&key));
                let finding = source.origin.locate(finding, place);
                source.checked.findings.push(finding);
            } else {
                *untold.entry(at).or_default() += 1;
            }
            source.drop_key(&key);
        }
        for (at, count) in untold {
            let source = &mut sources[at];
            let finding = Diagnostic::error("findings-not-told", format!("{count} more of `composition` are not told"));
            source.checked.findings.push(source.origin.locate(finding, None));
        }
    }
}

/// What is merged, the lowest first. The first source is the built-in defaults.
pub(super) fn layers(sources: &[Source]) -> (Vec<Layer<'_>>, Vec<Diagnostic>) {
    let composed = Composed::of(sources);
    let whole = |number: usize| Layer { source: number, prefix: KeyPath::default(), table: Cow::Borrowed(&sources[number].checked.table) };
    // From the last layer on, since of a layer that stands twice the first time makes no difference: a long order costs no more than its parts.
    let mut groups: Vec<Vec<Layer<'_>>> = Vec::new();
    let mut seen = BTreeSet::new();
    let mut walk = Walk::default();
    for layer in composed.layer_order.iter().rev().filter(|layer| seen.insert(layer.to_string())) {
        let id = match layer {
            ConfigurationLayer::Defaults => {
                groups.push(vec![whole(0)]);
                continue;
            }
            ConfigurationLayer::Config => {
                groups.push((1..sources.len()).map(whole).collect());
                continue;
            }
            ConfigurationLayer::Profile(id) => Some(id),
            ConfigurationLayer::ActiveProfile => composed.active_profile.as_ref().map(|(id, _)| id),
        };
        let before = walk.order.len();
        if let Some(id) = id {
            walk.from(id, &composed.profiles);
        }
        groups.push(walk.order[before..].iter().flat_map(|id| patches(id, sources)).collect());
    }
    // Whatever the order leaves out, every key needs a value.
    let mut layers = vec![whole(0)];
    layers.extend(groups.into_iter().rev().flatten());
    // What composes is no matter of the order that it sets.
    layers.extend(sources.iter().enumerate().filter_map(|(source, written)| {
        let composition = written.checked.table.get("composition")?;
        Some(Layer { source, prefix: KeyPath::default(), table: Cow::Owned(KeyPath::from(["composition"]).holding(composition.clone())) })
    }));
    (layers, composed.left_out(sources))
}

/// `[composition]` of all sources together, with the number of the source that set each value.
struct Composed {
    active_profile: Option<(String, usize)>,
    layer_order: Vec<ConfigurationLayer>,
    layer_order_source: usize,
    /// What each profile extends.
    profiles: BTreeMap<String, (Vec<String>, usize)>,
}

struct Problem {
    source: usize,
    /// Which key cannot stand.
    key: KeyPath,
    /// The element of its array that it is about, or the key.
    element: KeyPath,
    finding: Diagnostic,
}

fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap_or_default().iter().filter_map(|text| text.as_str().map(str::to_owned)).collect()
}

fn extends_of(id: &str) -> KeyPath {
    KeyPath::from(["composition", "profiles", id, "extends"])
}

/// A profile's own patch, each source's by itself.
fn patches<'s>(id: &str, sources: &'s [Source]) -> Vec<Layer<'s>> {
    let of_source = |source: usize| {
        let composition = sources[source].checked.table.get("composition")?;
        let patch = composition.get("profiles")?.get(id)?.get("patch")?.as_table()?;
        Some(Layer { source, prefix: KeyPath::from(["composition", "profiles", id, "patch"]), table: Cow::Borrowed(patch) })
    };
    (0..sources.len()).filter_map(of_source).collect()
}

impl Composed {
    fn of(sources: &[Source]) -> Self {
        let merged = merge(sources.iter().map(|source| &source.checked.table));
        let composition = merged.find_value("composition").ok().and_then(Value::into_dict).unwrap_or_default();
        let source = |value: &Value| number_of(value, &merged).unwrap_or_default();
        let profile = |(id, profile): (&String, &Value)| {
            let extends = profile.as_dict().and_then(|profile| profile.get("extends"));
            (id.clone(), extends.map(|extends| (texts(extends), source(extends))).unwrap_or_default())
        };
        let order = composition.get("layer_order");
        Self {
            active_profile: composition.get("active_profile").and_then(|active| Some((active.as_str()?.to_owned(), source(active)))),
            layer_order: order.map(texts).unwrap_or_default().iter().filter_map(|layer| layer.parse().ok()).collect(),
            layer_order_source: order.map(source).unwrap_or_default(),
            profiles: composition.get("profiles").and_then(Value::as_dict).unwrap_or(&Dict::new()).iter().map(profile).collect(),
        }
    }

    fn problems(&self) -> Vec<Problem> {
        let mut problems = Problems { known: self.profiles.keys().map(String::as_str).collect(), found: Vec::new(), keys: BTreeSet::new() };
        if let Some((id, source)) = &self.active_profile {
            problems.unless_known(id, *source, &KeyPath::from(["composition", "active_profile"]), None);
        }
        for (number, layer) in self.layer_order.iter().enumerate() {
            if let ConfigurationLayer::Profile(id) = layer {
                problems.unless_known(id, self.layer_order_source, &KeyPath::from(["composition", "layer_order"]), Some(number));
            }
        }
        for (id, (extends, source)) in &self.profiles {
            for (number, extended) in extends.iter().enumerate() {
                problems.unless_known(extended, *source, &extends_of(id), Some(number));
            }
        }
        let mut walk = Walk::default();
        for id in self.profiles.keys() {
            walk.from(id, &self.profiles);
        }
        for Cycle { closed_by, number, members } in walk.cycles {
            let key = extends_of(closed_by);
            let finding = || {
                let shown: Vec<String> = members.iter().map(|id| shown(id)).collect();
                Diagnostic::error("profile-cycle", format!("`{key}` closes a cycle of profiles: {}", shown.join(" extends ")))
            };
            problems.add(self.profiles[closed_by].1, &key, Some(number), finding);
        }
        problems.found
    }

    fn left_out(&self, sources: &[Source]) -> Vec<Diagnostic> {
        let key = KeyPath::from(["composition", "layer_order"]);
        let source = &sources[self.layer_order_source];
        let warning = |message: String| source.origin.locate(Diagnostic::warning("layer-left-out", message), source.place(&key));
        let applies = |id: &str| self.layer_order.iter().any(|layer| matches!(layer, ConfigurationLayer::Profile(other) if other == id));
        let mut warnings = Vec::new();
        if !self.layer_order.contains(&ConfigurationLayer::Config) {
            warnings.push(warning(format!("`{key}` has no \"config\": nothing but `composition` and the profiles counts")));
        }
        if let Some((id, _)) = &self.active_profile
            && !self.layer_order.contains(&ConfigurationLayer::ActiveProfile)
            && !applies(id)
        {
            warnings.push(warning(format!("`{key}` has no \"profile:active\": the active profile {} adds nothing", shown(id))));
        }
        // Of a layer that stands twice the last time counts.
        let defaults = self.layer_order.iter().rposition(|layer| *layer == ConfigurationLayer::Defaults).unwrap_or_default();
        let (below, above) = self.layer_order.split_at(defaults);
        let above: BTreeSet<String> = above.iter().map(ToString::to_string).collect();
        let below: BTreeSet<String> = below.iter().map(ToString::to_string).filter(|layer| !above.contains(layer)).collect();
        if !below.is_empty() {
            let below: Vec<String> = below.iter().take(8).map(|layer| quoted(layer)).collect();
            warnings.push(warning(format!("`{key}` has \"defaults\" above {}: no key with a default is set there", below.join(", "))));
        }
        warnings
    }
}

struct Problems<'p> {
    known: BTreeSet<&'p str>,
    found: Vec<Problem>,
    /// A key that has two problems is taken out once.
    keys: BTreeSet<(usize, KeyPath)>,
}

impl Problems<'_> {
    fn unless_known(&mut self, id: &str, source: usize, key: &KeyPath, number: Option<usize>) {
        if self.known.contains(id) {
            return;
        }
        let nearest = if self.found.len() < MOST_PROBLEMS { nearest(id, self.known.iter().copied()) } else { None };
        let nearest = nearest.map(|nearest| format!("; the nearest is {}", shown(nearest))).unwrap_or_default();
        let message = || format!("`{key}` names the profile {}, which is not in `composition.profiles`{nearest}", shown(id));
        self.add(source, key, number, || Diagnostic::error("profile-unknown", message()));
    }
    fn add(&mut self, source: usize, key: &KeyPath, number: Option<usize>, finding: impl FnOnce() -> Diagnostic) {
        if self.keys.insert((source, key.clone())) {
            let element = number.map_or_else(|| key.clone(), |number| key.join(number.to_string()));
            self.found.push(Problem { source, key: key.clone(), element, finding: finding() });
        }
    }
}

/// Profiles behind all that they extend, each once. Without recursion: a chain of profiles may be as long as a file.
#[derive(Default)]
struct Walk<'p> {
    order: Vec<&'p str>,
    states: BTreeMap<&'p str, State>,
    cycles: Vec<Cycle<'p>>,
}

enum State {
    /// On the way, so deep.
    Open(usize),
    Done,
}

struct Cycle<'p> {
    closed_by: &'p str,
    /// Which element of its `extends` does it.
    number: usize,
    /// The first eight.
    members: Vec<&'p str>,
}

impl<'p> Walk<'p> {
    fn from(&mut self, start: &str, profiles: &'p BTreeMap<String, (Vec<String>, usize)>) {
        let Some((start, _)) = profiles.get_key_value(start).filter(|(start, _)| !self.states.contains_key(start.as_str())) else { return };
        self.states.insert(start, State::Open(0));
        let mut open: Vec<(&'p str, usize)> = vec![(start, 0)];
        while let Some((id, next)) = open.last_mut() {
            let id = *id;
            let Some(extended) = profiles[id].0.get(*next) else {
                self.order.push(id);
                self.states.insert(id, State::Done);
                open.pop();
                continue;
            };
            let number = *next;
            *next += 1;
            let Some((extended, _)) = profiles.get_key_value(extended) else { continue };
            match self.states.get(extended.as_str()) {
                Some(State::Done) => {}
                Some(State::Open(depth)) => {
                    let members = open[*depth..].iter().take(8).map(|(id, _)| *id).collect();
                    self.cycles.push(Cycle { closed_by: id, number, members });
                }
                None => {
                    self.states.insert(extended, State::Open(open.len()));
                    open.push((extended, 0));
                }
            }
        }
    }
}
