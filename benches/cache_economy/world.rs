//! What the layers of the conversation see: a clock, a repository, skills.

use crate::script::Happens;
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use tower_prompt::layers::skill::{Skill, SkillId, SkillRegistry, SkillSource, SkillSourceKind, SkillSummary, Skills};
use tower_prompt::layers::text::{Fitted, Room};
use tower_prompt::layers::{Contribute, Fragment, Prompt, Session, Text, Tier, Trust, Turn};

#[derive(Clone, Default)]
pub(crate) struct World(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    at: u64,
    files: BTreeSet<usize>,
    instructions: Vec<String>,
    opened: Option<String>,
    skills: usize,
}

impl World {
    pub(crate) fn new() -> Self {
        let world = Self::default();
        let rule = |n: usize| format!("- Rule {n}: keep what is said in module {n} true to its tests, and say why where it is not plain.");
        let mut state = world.0.lock().expect("no one panicked");
        state.instructions = (0..60).map(rule).collect();
        state.skills = 24;
        drop(state);
        world
    }
    pub(crate) fn goes_on(&self, at: u64, happens: &[Happens], session: &Session) {
        let mut state = self.0.lock().expect("no one panicked");
        state.at = at;
        for event in happens {
            match event {
                Happens::Edit(file) if !state.files.remove(file) => drop(state.files.insert(*file)),
                Happens::Edit(_) => {}
                Happens::Instructions(line) => state.instructions[*line].push_str(" This was agreed upon today."),
                Happens::Reload => state.skills += 1,
                Happens::Activates(skill) => session.activate(SkillId::new(skill).expect("it is an id"), None),
                Happens::Opens(passage) => state.opened = Some(passage.clone()),
            }
        }
    }
}

impl Contribute for World {
    fn contribute(&self, _: &Turn, prompt: &mut Prompt) {
        let state = self.0.lock().expect("no one panicked");
        prompt.add(Tier::Session, || Fragment::new("instructions:AGENTS.md", Lines(state.instructions.clone())).trust(Trust::Repository));
        prompt.add(Tier::Turn, || {
            let (hours, minutes, seconds) = (9 + state.at / 3600, state.at / 60 % 60, state.at % 60);
            Fragment::new("current_datetime", format!("Tuesday, 2026-12-01 {hours:02}:{minutes:02}:{seconds:02} +00:00 (UTC)"))
        });
        prompt.add(Tier::Turn, || {
            let files = state.files.iter().map(|file| format!(" M src/module_{file}/mod.rs"));
            Fragment::new("git_status", Lines(["## main...origin/main".to_owned()].into_iter().chain(files).collect()))
        });
        if let Some(opened) = &state.opened {
            prompt.add(Tier::Turn, || Fragment::new("editor", opened.clone()));
        }
    }
}

/// Of which the lines are told that changed.
struct Lines(Vec<String>);

impl Text for Lines {
    fn fit(&self, _: &Room<'_>) -> Fitted<'_> {
        Fitted::whole(self.0.join("\n"))
    }
    fn since(&self, said: &str, _: &Room<'_>) -> Option<Fitted<'_>> {
        let before: BTreeSet<&str> = said.lines().collect();
        let now: BTreeSet<&str> = self.0.iter().map(String::as_str).collect();
        let went = before.difference(&now).map(|line| format!("- {line}"));
        let changed: Vec<String> = went.chain(now.difference(&before).map(|line| format!("+ {line}"))).collect();
        (!changed.is_empty()).then(|| Fitted::whole(changed.join("\n")))
    }
}

impl SkillRegistry for World {
    fn snapshot(&self) -> Skills {
        let count = self.0.lock().expect("no one panicked").skills;
        let ids = ["rust-debugging", "sql-review", "release-notes"].map(str::to_owned).into_iter();
        let ids = ids.chain((3..count).map(|n| format!("skill-{n:02}")));
        let skill = |id: String| {
            let source = SkillSource::new(SkillSourceKind::Repository, "repository");
            let description =
                format!("What to do with {id}: its steps, its pitfalls, and whom to ask. Use it when the task is about {id}.");
            let mut summary = SkillSummary::new(SkillId::new(&id).expect("it is an id"), description, source);
            summary.location = format!(".agents/skills/{id}/SKILL.md");
            let body: Vec<String> = (1..=40).map(|n| format!("{n}. Of {id}, step {n}: look, say what you saw, and go on.")).collect();
            Skill::new(summary, body.join("\n"))
        };
        Skills::new(ids.map(skill), Vec::new())
    }
}
