//! How well the best suggestion alone hits, on a labelled set of skills and of prompts as users type them.

use std::collections::BTreeSet;
use tower_prompt::layers::skill::{Matcher, SUGGESTION_THRESHOLD, Skill, SkillId, SkillSource, SkillSourceKind, SkillSummary, Skills};

/// A prompt, and the ids of which each fits it; none where no skill does.
pub(crate) struct Prompt {
    pub(crate) text: String,
    pub(crate) fitting: Vec<&'static str>,
    /// Not looked at while weights were chosen.
    pub(crate) is_kept_aside: bool,
}

/// In percent.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figures {
    /// Of the suggestions to all prompts, those that fit.
    pub(crate) precision: f64,
    /// Of the prompts that a skill of the registry fits, those with the right suggestion.
    pub(crate) recall: f64,
    /// Of the prompts that fit no skill at all, those with a suggestion.
    pub(crate) no_fit: f64,
    /// Of the prompts whose skill is not in the registry, those with a suggestion.
    pub(crate) absent: f64,
}

pub(crate) fn prompts() -> Vec<Prompt> {
    let (mut prompts, mut fitting) = (Vec::new(), Vec::new());
    for line in include_str!("prompts.txt").lines().filter(|line| !line.is_empty() && !line.starts_with("# ")) {
        if let Some(ids) = line.strip_prefix("== ") {
            fitting = ids.split('|').filter(|id| *id != "-").collect();
        } else {
            let text = line.replace("\\n", "\n");
            let hash = text.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
            prompts.push(Prompt { text, fitting: fitting.clone(), is_kept_aside: hash & 1 == 1 });
        }
    }
    prompts
}

pub(crate) fn skills() -> Vec<Skill> {
    let lines = include_str!("skills.tsv").lines().filter(|line| !line.starts_with("# "));
    let read = |line: &str| {
        let mut fields = line.split('\t');
        let mut next = || fields.next().expect("a skill has four fields");
        let (id, name, keywords, description) = (next(), next(), next(), next());
        let keywords = keywords.split(',').map(str::trim).filter(|keyword| !keyword.is_empty()).map(str::to_owned).collect();
        skill(id, name, keywords, description.to_owned())
    };
    lines.map(read).collect()
}

pub(crate) fn skill(id: &str, name: &str, keywords: Vec<String>, description: String) -> Skill {
    let source = SkillSource::new(SkillSourceKind::User, "user:skills");
    let mut summary = SkillSummary::new(SkillId::new(id).expect("ids of the set are valid"), description, source);
    name.clone_into(&mut summary.name);
    summary.activation.keywords = keywords;
    Skill::new(summary, String::new())
}

/// `SplitMix64`.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % bound as u64).expect("a remainder is less than its divisor, which was a usize")
    }
    pub(crate) fn pick<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// Words of skills about work with a computer.
pub(crate) const WORDS: &[&str] = &[
    "analyze",
    "apply",
    "api",
    "assistant",
    "audit",
    "build",
    "cache",
    "check",
    "code",
    "commit",
    "component",
    "config",
    "configure",
    "container",
    "context",
    "create",
    "data",
    "database",
    "debug",
    "deploy",
    "design",
    "detect",
    "document",
    "edit",
    "error",
    "evaluate",
    "event",
    "example",
    "execute",
    "export",
    "extract",
    "feature",
    "file",
    "filter",
    "fix",
    "flow",
    "format",
    "generate",
    "graph",
    "guide",
    "handle",
    "import",
    "improve",
    "index",
    "inspect",
    "install",
    "integrate",
    "interface",
    "invoke",
    "issue",
    "layout",
    "library",
    "lint",
    "list",
    "load",
    "log",
    "manage",
    "merge",
    "metric",
    "migrate",
    "model",
    "module",
    "monitor",
    "network",
    "optimize",
    "option",
    "output",
    "package",
    "page",
    "parse",
    "pattern",
    "pipeline",
    "plan",
    "plugin",
    "policy",
    "profile",
    "project",
    "prompt",
    "protocol",
    "query",
    "queue",
    "read",
    "record",
    "refactor",
    "release",
    "render",
    "report",
    "request",
    "resolve",
    "resource",
    "response",
    "review",
    "route",
    "rule",
    "run",
    "runtime",
    "scan",
    "schema",
    "script",
    "search",
    "security",
    "server",
    "service",
    "session",
    "setup",
    "skill",
    "source",
    "stream",
    "structure",
    "style",
    "sync",
    "system",
    "task",
    "template",
    "terminal",
    "test",
    "token",
    "tool",
    "trace",
    "track",
    "transform",
    "type",
    "update",
    "upgrade",
    "user",
    "validate",
    "value",
    "version",
    "view",
    "visualize",
    "web",
    "workflow",
    "write",
];

/// A skill that fits none of the prompts, in the words that skills are written in.
fn distractor(number: usize, random: &mut Random) -> Skill {
    let id = format!("{}-{}-{number:05}", random.pick(WORDS), random.pick(WORDS));
    let length = [8, 15, 25, 37, 50, 80][random.below(6)];
    let description: Vec<&str> = (0..length).map(|_| random.pick(WORDS)).collect();
    skill(&id, &id, Vec::new(), description.join(" "))
}

/// So many skills, drawn from the set; where it has fewer, all of it and distractors.
fn registry(size: usize, random: &mut Random) -> Skills {
    let mut all = skills();
    for number in all.len()..size {
        all.push(distractor(number, random));
    }
    while all.len() > size {
        all.swap_remove(random.below(all.len()));
    }
    Skills::new(all, Vec::new())
}

/// Over so many registries of this size.
#[expect(clippy::cast_precision_loss, reason = "counts are small")]
pub(crate) fn figures(size: usize, registries: usize, kept_aside: bool) -> Figures {
    let mut random = Random(size as u64);
    let prompts: Vec<Prompt> = prompts().into_iter().filter(|prompt| prompt.is_kept_aside == kept_aside).collect();
    let (mut right, mut wrong, mut fit) = (0, 0, 0);
    let (mut no_fit, mut to_no_fit, mut absent, mut to_absent) = (0, 0, 0, 0);
    for _ in 0..registries {
        let skills = registry(size, &mut random);
        let ids: BTreeSet<&str> = skills.iter().map(|skill| skill.summary.id.as_str()).collect();
        for prompt in &prompts {
            let best = best(skills.matcher(), &prompt.text);
            let is_said = usize::from(best.is_some());
            if prompt.fitting.is_empty() {
                (no_fit, to_no_fit) = (no_fit + 1, to_no_fit + is_said);
            } else if prompt.fitting.iter().any(|id| ids.contains(id)) {
                let is_right = best.is_some_and(|id| prompt.fitting.contains(&id.as_str()));
                (fit, right, wrong) = (fit + 1, right + usize::from(is_right), wrong + is_said - usize::from(is_right));
            } else {
                (absent, to_absent) = (absent + 1, to_absent + is_said);
            }
        }
    }
    let percent = |part: usize, of: usize| 100.0 * part as f64 / of.max(1) as f64;
    Figures {
        precision: percent(right, right + wrong + to_no_fit),
        recall: percent(right, fit),
        no_fit: percent(to_no_fit, no_fit),
        absent: percent(to_absent, absent),
    }
}

fn best(matcher: &Matcher, text: &str) -> Option<SkillId> {
    let found = matcher.find(text).into_iter().next()?;
    (found.score >= SUGGESTION_THRESHOLD).then_some(found.id)
}
