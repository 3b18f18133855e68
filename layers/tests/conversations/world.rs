//! A world that changes, the layers that tell of it, and a reader who believes what stands in a request.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use tower_prompt_layers::skill::{ActiveSkill, SkillId};
use tower_prompt_layers::text::{Fitted, Room};
use tower_prompt_layers::{Contribute, Entry, Fragment, Prompt, Text, Tier, Trust, Turn};

/// A fact that is there or not.
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    tier: Tier,
    /// Only the change is told.
    tells_change: bool,
    trust: Trust,
}

const fn kind(name: &'static str, tier: Tier, tells_change: bool, trust: Trust) -> Kind {
    Kind { name, tier, tells_change, trust }
}

/// `late` comes late.
pub(crate) const FACTS: [Kind; 5] = [
    kind("clock", Tier::Turn, false, Trust::Host),
    kind("git", Tier::Turn, true, Trust::User),
    kind("instructions", Tier::Session, true, Trust::Repository),
    kind("locale", Tier::Session, false, Trust::Host),
    kind("late", Tier::Turn, true, Trust::Host),
];
pub(crate) const SKILLS: [&str; 3] = ["rust", "sql", "pdf"];
pub(crate) const NAMES: [&str; 4] = ["a", "b", "c", "d"];

#[derive(Clone, Default)]
pub(crate) struct World {
    pub(crate) facts: BTreeMap<&'static str, String>,
    /// A catalog of names. Where names only went, there is nothing to say.
    pub(crate) catalog: BTreeSet<&'static str>,
    pub(crate) silent: BTreeSet<&'static str>,
}

impl World {
    /// Where `told` is what was told when the world was looked at, and `before` what was told when that was said.
    pub(crate) fn is_told(&self, told: &Belief, before: &Belief, belief: &Belief) -> Result<(), String> {
        for Kind { name, .. } in FACTS {
            let (was, is) = (before.facts.get(name), self.facts.get(name));
            // What another request told meanwhile cannot be known to be gone.
            let stays = self.silent.contains(name) || (is.is_none() && told.facts.get(name) != was);
            let (is, believed) = (if stays { was } else { is }, belief.facts.get(name));
            if believed != is {
                return Err(format!("{name}: a reader believes {believed:?}, it is {is:?}"));
            }
        }
        let stays = self.silent.contains("catalog") || (self.catalog.is_empty() && told.catalog != before.catalog);
        let holds = match &self.catalog {
            _ if stays => belief.catalog == before.catalog,
            names if names.is_empty() => belief.catalog.is_empty(),
            names => names.iter().all(|name| belief.catalog.contains(*name)),
        };
        if holds { Ok(()) } else { Err(format!("catalog: a reader believes {:?}, it is {:?}", belief.catalog, self.catalog)) }
    }
}

struct Fact {
    name: &'static str,
    value: String,
    tells_change: bool,
}

impl Text for Fact {
    fn fit(&self, _: &Room<'_>) -> Fitted<'_> {
        Fitted::whole(format!("F {}=>{}", self.name, self.value))
    }
    fn since(&self, said: &str, room: &Room<'_>) -> Option<Fitted<'_>> {
        let old = said.rsplit('>').next()?;
        Some(if self.tells_change { Fitted::whole(format!("F {}={old}>{}", self.name, self.value)) } else { self.fit(room) })
    }
}

struct Catalog(BTreeSet<&'static str>);

impl Text for Catalog {
    fn fit(&self, _: &Room<'_>) -> Fitted<'_> {
        Fitted::whole(format!("C >{}", self.0.iter().copied().collect::<Vec<_>>().join(",")))
    }
    fn since(&self, said: &str, _: &Room<'_>) -> Option<Fitted<'_>> {
        let said: BTreeSet<&str> = said.trim_start_matches("C >").split(',').collect();
        let join = |a: &BTreeSet<&str>, b: &BTreeSet<&str>| a.difference(b).copied().collect::<Vec<_>>().join(",");
        let (went, came) = (join(&said, &self.0), join(&self.0, &said));
        (!came.is_empty()).then(|| Fitted::whole(format!("C {went}>{came}")))
    }
}

pub(crate) fn facts(world: Arc<Mutex<World>>) -> impl Contribute {
    move |_: &Turn, prompt: &mut Prompt| {
        let world = world.lock().unwrap().clone();
        for Kind { name, tier, tells_change, trust } in FACTS {
            let is_silent = world.silent.contains(name);
            let value = world.facts.get(name).cloned();
            let fragment = value.map(|value| Fragment::new(name, Fact { name, value, tells_change }).trust(trust));
            match fragment {
                fragment if name == "late" => {
                    let entry = fragment.map_or(Entry::Gone(name.into()), Entry::Fragment);
                    prompt.add_later(tier, move || async move { (!is_silent).then_some(entry) });
                }
                _ if is_silent => {}
                Some(fragment) => prompt.add(tier, || fragment),
                None => prompt.gone(name),
            }
        }
        match world.catalog {
            _ if world.silent.contains("catalog") => {}
            names if names.is_empty() => prompt.gone("catalog"),
            names => prompt.add(Tier::Session, || Fragment::new("catalog", Catalog(names))),
        }
    }
}

fn body(skill: &str) -> Fragment {
    Fragment::new(format!("active_skill:{skill}"), format!("S {skill}")).trust(Trust::Skill)
}

pub(crate) fn active_skills(turn: &Turn, prompt: &mut Prompt) {
    turn.active.iter().for_each(|skill| prompt.add(Tier::Step, || body(skill.id.as_str())));
    prompt.only("active_skill:", turn.active.iter().map(|skill| format!("active_skill:{}", skill.id)));
}

pub(crate) fn matched_skill(turn: &Turn, prompt: &mut Prompt) {
    if turn.user_text().is_some_and(|text| text.contains("borrow")) {
        let rust = SkillId::new("rust").expect("it is an id");
        prompt.add(Tier::Step, || body("rust").activating(ActiveSkill::automatic(rust)));
    }
}

/// What a reader holds for true.
#[derive(Clone, Default, PartialEq, Debug)]
pub(crate) struct Belief {
    pub(crate) facts: BTreeMap<String, String>,
    pub(crate) catalog: BTreeSet<String>,
    pub(crate) bodies: BTreeSet<String>,
}

impl Belief {
    pub(crate) fn of(system: &str, texts: &[Option<String>]) -> Result<Self, String> {
        let mut belief = Self::default();
        if !system.is_empty() {
            let behind_the_base = system.strip_prefix("BASE").ok_or("what is Stable doesn't come first")?;
            behind_the_base.lines().filter(|line| !line.is_empty()).try_for_each(|line| belief.read(line, None))?;
        }
        for text in texts.iter().flatten() {
            let mut origins = Vec::new();
            for part in text.split_inclusive("</context>") {
                let block =
                    part.trim_start_matches('\n').strip_prefix("<context origin=\"").and_then(|rest| rest.strip_suffix("\n</context>"));
                let (origin, lines) = block.and_then(|block| block.split_once("\">\n")).ok_or_else(|| format!("{part:?} is no block"))?;
                if origins.contains(&origin) {
                    return Err(format!("two blocks of {origin}"));
                }
                origins.push(origin);
                lines.lines().try_for_each(|line| belief.read(line, Some(origin)))?;
            }
        }
        Ok(belief)
    }
    fn read(&mut self, line: &str, origin: Option<&str>) -> Result<(), String> {
        if origin.is_some_and(|origin| origin != trust(line).as_str()) {
            return Err(format!("{line:?} in a block of {origin:?}"));
        }
        let before = self.clone();
        if self.line(line).unwrap_or(false) { Ok(()) } else { Err(format!("{line:?} makes no sense where a reader believes {before:?}")) }
    }
    fn line(&mut self, line: &str) -> Option<bool> {
        if let Some(skill) = line.strip_prefix("The skill ").and_then(|rest| rest.strip_suffix(" no longer applies.")) {
            return Some(self.bodies.remove(skill));
        }
        if let Some(gone) = line.strip_suffix(" is gone.") {
            let catalog = gone == "catalog" && !std::mem::take(&mut self.catalog).is_empty();
            return Some(catalog || self.facts.remove(gone).is_some());
        }
        if let Some(skill) = line.strip_prefix("S ") {
            return Some(self.bodies.insert(skill.into()));
        }
        if let Some(change) = line.strip_prefix("C ") {
            let (went, came) = change.split_once('>')?;
            let all_went = went.split(',').filter(|name| !name.is_empty()).all(|name| self.catalog.remove(name));
            return Some(all_went && came.split(',').all(|name| self.catalog.insert(name.into())));
        }
        let (name, change) = line.strip_prefix("F ")?.split_once('=')?;
        let (old, new) = change.split_once('>')?;
        let before = self.facts.insert(name.into(), new.into());
        let whole = old.is_empty() && (before.is_none() || FACTS.iter().any(|fact| fact.name == name && !fact.tells_change));
        Some(before.as_deref() != Some(new) && (whole || before.as_deref() == Some(old)))
    }
}

/// Whose words a line is.
fn trust(line: &str) -> Trust {
    let fact = line.strip_prefix("F ").and_then(|fact| fact.split('=').next());
    match FACTS.iter().find(|kind| fact == Some(kind.name)) {
        Some(kind) => kind.trust,
        None if line.starts_with("S ") => Trust::Skill,
        None => Trust::Host,
    }
}
