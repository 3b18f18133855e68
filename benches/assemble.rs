//! What putting a request together costs where nothing changed, with 100 skills in the catalog, all sections, and the bodies of three active skills.
//! `cargo bench --bench assemble` prints `NAME RATIO` lines, by wire format:
//!
//! * `start`: a conversation's first request, in a workspace that the stack knows already;
//! * `turn`: the second message of the user's, to which nothing is said anew;
//! * `tool`: the result of a tool call behind the first message;
//! * `retry`: the request of `turn` once more;
//! * `history`: the fiftieth message of the user's, each answered with a call whose result has 2 KiB.
//!
//! The floor is the copy of the request that leaves (`Value::clone`: each text of it copied once), measured in turns with it. `/texts`: against copying the
//! bytes of all its texts into one buffer that is there already, which is the least that any copy can cost. `/hashed`: against the copy and the hash
//! pass over the caller's history, which is read at each request. Behind `allocations` stands how many a turn makes, and their bytes; of the
//! copy of its output likewise. `-- anthropic/turn 10000` measures one of them alone, so often.
//!
//! Sections that look at the machine or at git are values here: what is measured is the assembly.

mod measure;

use measure::{ready, timed};
use serde_json::{Value, json};
use siphasher::sip128::{Hasher128, SipHasher13};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};
use std::alloc::System;
use std::hash::Hasher;
use std::hint::black_box;
use std::time::{Duration, Instant, UNIX_EPOCH};
use tower_prompt::Environment;
use tower_prompt::layers::skill::{Skill, SkillId, SkillSource, SkillSourceKind, SkillSummary, Skills};
use tower_prompt::layers::wire::{Anthropic, OpenAiChat, Wire};
use tower_prompt::layers::{
    ActiveSkillsLayer, Context, Document, InvariantsLayer, PromptStack, SectionsLayer, Session, Settings, SkillActivationLayer,
    SkillCatalogLayer, SystemPromptLayer, TextSection, Tier, ToolOutputLayer, UserAuthorityLayer,
};
use tower_prompt::sections::{AgentSuffix, CurrentDatetime, RuntimeMode};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

const SKILLS: usize = 100;
const ACTIVE: usize = 3;
const ROUNDS: usize = 301;

fn main() {
    let skills = skills();
    measure(
        "anthropic",
        &stack(Anthropic, &skills),
        &|id, name| json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": {"path": "src/lib.rs"}}]}),
        &|id, text| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": text}]}),
    );
    measure(
        "openai-chat",
        &stack(OpenAiChat, &skills),
        &|id, name| {
            let function = json!({"name": name, "arguments": "{\"path\": \"src/lib.rs\"}"});
            json!({"role": "assistant", "content": null, "tool_calls": [{"id": id, "type": "function", "function": function}]})
        },
        &|id, text| json!({"role": "tool", "tool_call_id": id, "content": text}),
    );
}

/// Builds a message of a format: a call, or its result.
type Build<'a> = &'a dyn Fn(&str, &str) -> Value;

fn measure<W: Wire<Value>>(format: &str, stack: &PromptStack<W>, call: Build<'_>, result: Build<'_>) {
    let user = |n: usize| json!({"role": "user", "content": format!("Please have a look at the parser, for the time number {n}.")});
    let answer = |n: usize| json!({"role": "assistant", "content": format!("I had a look; the parser is as it was, number {n}.")});
    let step = |n: usize| {
        let id = format!("call_{n}");
        [user(n), call(&id, "read"), result(&id, &text(2 * 1024, n as u64)), answer(n)]
    };
    let first = step(0);
    let report = |name: &str, session: &Session, messages: Vec<Value>| {
        let of = Measured { stack, session, request: json!({"model": "claude-sonnet-4", "max_tokens": 1024, "messages": messages}) };
        of.print(&format!("{format}/{name}"));
    };
    let fresh = begun(stack);
    report("start", &fresh, first[..1].to_vec());
    let settle = |session: &Session, messages: &[Value]| {
        let request = json!({"model": "claude-sonnet-4", "max_tokens": 1024, "messages": messages});
        ready(stack.assemble(request, context(session)));
    };
    settle(&fresh, &first[..1]);
    report("tool", &fresh, first[..3].to_vec());
    settle(&fresh, &first[..3]);
    let second: Vec<Value> = first.iter().cloned().chain([user(1)]).collect();
    report("turn", &fresh, second.clone());
    settle(&fresh, &second);
    report("retry", &fresh, second);
    let mut history = first.to_vec();
    for n in 1..50 {
        let [user, call, result, answer] = step(n);
        history.push(user);
        settle(&fresh, &history);
        history.extend([call, result]);
        settle(&fresh, &history);
        history.push(answer);
    }
    history.push(user(50));
    report("history", &fresh, history);
}

/// A session in which the host activated skills and nothing was sent yet.
fn begun<W>(_: &PromptStack<W>) -> Session {
    let session = Session::new();
    (0..ACTIVE).for_each(|n| session.activate(id(n * 7), None));
    session
}

fn context(session: &Session) -> Context {
    Context::default().session(session.clone()).agent("engineer", "build")
}

struct Measured<'a, W> {
    stack: &'a PromptStack<W>,
    session: &'a Session,
    request: Value,
}

impl<W: Wire<Value>> Measured<'_, W> {
    /// On a copy of the session each time: settling changes it.
    fn assembled(&self) -> (Duration, Value) {
        let session = self.session.copy();
        let (request, context) = (self.request.clone(), context(&session));
        let start = Instant::now();
        let sent = black_box(ready(self.stack.assemble(request, context)));
        // A session outlives its requests: taking the copy down is no part of one.
        (start.elapsed(), sent)
    }

    fn print(&self, name: &str) {
        if !chosen(name) {
            return;
        }
        let (_, sent) = self.assembled();
        let (mut all, mut callers) = (Vec::new(), Vec::new());
        texts(&sent, &mut all);
        texts(&self.request, &mut callers);
        let mut buffer = vec![0; all.len()];
        let [mut work, mut copy, mut bytes, mut hash] = [Duration::MAX; 4];
        for _ in 0..rounds() {
            work = work.min(self.assembled().0);
            copy = copy.min(timed(|| sent.clone()));
            bytes = bytes.min(timed(|| black_box(&mut buffer).copy_from_slice(black_box(&all))));
            hash = hash.min(timed(|| {
                let mut hasher = SipHasher13::new();
                hasher.write(black_box(&callers));
                hasher.finish128().as_u128()
            }));
        }
        let over = |floor: Duration| work.as_secs_f64() / floor.as_secs_f64();
        println!("{name} {:.2}", over(copy));
        println!("{name}/texts {:.2}", over(bytes));
        println!("{name}/hashed {:.2}", over(copy + hash));
        let (request, context) = (self.request.clone(), context(&self.session.copy()));
        let (made, taken) = allocated(|| ready(self.stack.assemble(request, context)));
        let (copied, copied_bytes) = allocated(|| sent.clone());
        println!("{name}/allocations {made} ({taken} bytes; the copy {copied}, {copied_bytes} bytes)");
        eprintln!("{name}: {work:.1?}, the copy {copy:.1?}, {} bytes of text {bytes:.1?}, hash {hash:.1?}", all.len());
    }
}

/// What `-- NAME` chooses; all without one.
fn chosen(name: &str) -> bool {
    let mut names = std::env::args().skip(1).filter(|argument| argument.contains('/')).peekable();
    names.peek().is_none() || names.any(|chosen| chosen == name)
}

/// `-- NUMBER` of them, such as for a profiler.
fn rounds() -> usize {
    std::env::args().skip(1).find_map(|argument| argument.parse().ok()).unwrap_or(ROUNDS)
}

fn allocated<T>(work: impl FnOnce() -> T) -> (usize, usize) {
    let region = Region::new(ALLOCATOR);
    let made = work();
    let change = region.change();
    drop(made);
    (change.allocations + change.reallocations, change.bytes_allocated)
}

fn stack<W>(wire: W, skills: &Skills) -> PromptStack<W> {
    let clock = || UNIX_EPOCH + Duration::from_secs(1_782_909_015);
    let environment = Environment::new("/srv/project").home("/home/me").variable("TZ", "UTC").clock(clock);
    let value = |name: &str, tier, body: &str| TextSection::new(name, tier, body);
    let sections = SectionsLayer::default()
        .with(value("instructions", Tier::Session, &text(6 * 1024, 1)))
        .with(AgentSuffix::new("Answer in the language of the question."))
        .with(value("execution_environment", Tier::Stable, "Working directory: /srv/project\nOS: Linux\nShell: bash"))
        .with(value("hosting_environment", Tier::Stable, "Container: yes"))
        .with(value("locale", Tier::Stable, "Language: en_GB.UTF-8"))
        .with(value("toolchain_context", Tier::Session, "Rust 1.88, cargo 1.88\nGit 2.47"))
        .with(value("worktree_context", Tier::Session, "Worktree: /srv/project\nCommon folder: /srv/project/.git"))
        .with(RuntimeMode::default())
        .with(value("config_profile", Tier::Session, "default"))
        .with(CurrentDatetime::new(environment))
        .with(value("git_revision", Tier::Turn, "Branch: main\nCommit: 3f786850e387550fdab836ed7e6dc881de23001b"))
        .with(value("dynamic_repository_context", Tier::Turn, " M src/lib.rs\n M src/parser.rs\n?? notes.md"));
    PromptStack::new(wire, Settings::default().skills(skills.clone()))
        .with(SystemPromptLayer::default())
        .with(UserAuthorityLayer)
        .with(InvariantsLayer::full(Document::new("## Code\n\n* **No panics.** Bad input is a diagnostic.\n* Names are full words.\n")))
        .with(sections)
        .with(SkillCatalogLayer::default())
        .with(ActiveSkillsLayer::default())
        .with(SkillActivationLayer::default())
        .with(ToolOutputLayer::default())
}

fn skills() -> Skills {
    let source = std::sync::Arc::new(SkillSource::new(SkillSourceKind::User, "user:skills"));
    let skill = |n: usize| {
        let mut summary = SkillSummary::new(id(n), text(250, n as u64), source.clone());
        summary.location = format!("/home/me/.config/bcode/skills/{}/SKILL.md", summary.id);
        Skill::new(summary, text(6 * 1024, 1000 + n as u64))
    };
    Skills::new((0..SKILLS).map(skill), Vec::new())
}

fn id(n: usize) -> SkillId {
    SkillId::new(&format!("generated-skill-{n:03}")).expect("such an id is valid")
}

/// Words in lines, the same for the same seed.
fn text(bytes: usize, seed: u64) -> String {
    const WORDS: [&str; 12] =
        ["audit", "build", "check", "commit", "deploy", "error", "format", "index", "migrate", "query", "review", "workflow"];
    let (mut text, mut state) = (String::new(), seed);
    while text.len() < bytes {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        text.push_str(WORDS[usize::try_from(state >> 33).unwrap_or_default() % WORDS.len()]);
        text.push(if (state >> 33).is_multiple_of(16) { '\n' } else { ' ' });
    }
    text.truncate(bytes);
    text.truncate(text.trim_end().len());
    text
}

/// The bytes of all texts in a request.
fn texts(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::String(text) => out.extend_from_slice(text.as_bytes()),
        Value::Array(items) => items.iter().for_each(|item| texts(item, out)),
        Value::Object(fields) => fields.values().for_each(|field| texts(field, out)),
        _ => {}
    }
}
