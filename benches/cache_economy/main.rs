//! What our text costs, with the provider's cache as it is: a conversation of 50 turns in each format, under a model of the provider's cache (see
//! [`prices`]), for each placement. `cargo bench --bench cache_economy` prints `NAME RATIO` lines:
//!
//! * `cache_economy/PROVIDER/PLACEMENT`: over the floor, which is the bare conversation, cached as well as it can be, and each fact once at its place,
//!   without what our blocks stand in;
//! * `.../over-bare`: over the bare conversation, cached as well as it can be;
//! * `.../added-token`: what each token costs that we said, in tokens at the full price, for the whole conversation;
//! * `.../breaks`: how many requests do not begin with an earlier one, though the caller's own words do;
//! * `cache_economy/talk/...`: the same of a conversation without tools, with a long passage of another text at each message;
//! * `cache_economy/anthropic/hour`: the floor with a time to live of an hour, over the floor with five minutes.
//!
//! Time is made up, and nothing is measured, so each run prints the same. It fails where `append` breaks a prefix, says a thing twice, or costs
//! more than 1.02 of the floor.
#![allow(clippy::cast_precision_loss, reason = "a conversation has far fewer tokens than 2^52")]

mod bodies;
mod prices;
mod script;
mod world;

use bodies::{blocks, body, facts_alone};
use prices::{Cache, FIVE_MINUTES, Ledger, ONE_HOUR, Sent};
use script::Request;
use std::collections::HashMap;
use std::future::Future;
use std::pin::pin;
use std::process::ExitCode;
use std::task::{Context as Waking, Poll, Waker};
use tower_prompt::layers::wire::Format;
use tower_prompt::layers::{
    ActiveSkillsLayer, Context, FirstChange, Manifest, PromptStack, Report, Session, Settings, SkillActivationLayer, SkillCatalogLayer,
    SystemPromptLayer, TextPlacement, UserAuthorityLayer,
};
use world::World;

const PROVIDERS: [(&str, Format, Cache); 6] = [
    ("openai-chat", Format::OpenAiChat, Cache::OPENAI),
    ("openai-responses", Format::OpenAiResponses, Cache::OPENAI),
    ("anthropic", Format::Anthropic, Cache::Marked),
    ("gemini", Format::Gemini, Cache::GEMINI),
    ("ollama", Format::Ollama, Cache::LOCAL),
    ("uncached", Format::OpenAiChat, Cache::None),
];
const PLACEMENTS: [(&str, TextPlacement); 3] =
    [("append", TextPlacement::Append), ("latest", TextPlacement::Latest), ("front", TextPlacement::Front)];

fn main() -> ExitCode {
    let mut faults = 0;
    for (prefix, requests) in [("cache_economy", script::work()), ("cache_economy/talk", script::talk())] {
        for (name, format, cache) in PROVIDERS {
            faults += measure(&format!("{prefix}/{name}"), format, cache, &requests);
        }
    }
    if faults == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// One conversation over one format.
struct Run {
    sent: Vec<Sent>,
    facts: Vec<Sent>,
    /// Tokens of ours, each counted where it was said first.
    said: usize,
    faults: Vec<String>,
}

fn measure(name: &str, format: Format, cache: Cache, requests: &[Request]) -> usize {
    let mut ledger = Ledger::default();
    let bare: Vec<Sent> = requests.iter().map(|request| ledger.sent(request.at, &blocks(&body(format, &request.messages)))).collect();
    let runs = PLACEMENTS.map(|(label, placement)| (label, run(&mut ledger, format, placement, requests)));
    let at_best = |all: &[Sent]| if cache == Cache::Marked { ledger.marked_at_best(all, FIVE_MINUTES) } else { ledger.cost(cache, all) };
    let floor = at_best(&runs[0].1.facts);
    let bare_cost = at_best(&bare);
    let mut faults = 0;
    for (label, run) in &runs {
        let cost = ledger.cost(cache, &run.sent);
        let breaks = breaks(&bare, &run.sent);
        println!("{name}/{label} {:.3}", cost / floor);
        println!("{name}/{label}/over-bare {:.3}", cost / bare_cost);
        println!("{name}/{label}/added-token {:.2}", (cost - bare_cost) / run.said as f64);
        println!("{name}/{label}/breaks {breaks}");
        if *label == "append" {
            run.faults.iter().for_each(|fault| eprintln!("{name}: {fault}"));
            faults += breaks + run.faults.len() + usize::from(cost > floor * 1.02);
        }
    }
    if cache == Cache::Marked {
        println!("{name}/hour {:.3}", ledger.marked_at_best(&runs[0].1.facts, ONE_HOUR) / floor);
    }
    faults
}

fn run(ledger: &mut Ledger, format: Format, placement: TextPlacement, requests: &[Request]) -> Run {
    let (world, session) = (World::new(), Session::new());
    let stack = PromptStack::new(format, Settings::default().skills(world.clone()).placement(placement))
        .with(SystemPromptLayer::default())
        .with(UserAuthorityLayer)
        .with(SkillCatalogLayer::default())
        .with(SkillActivationLayer::default())
        .with(ActiveSkillsLayer::default())
        .with(world.clone());
    let mut run = Run { sent: Vec::new(), facts: Vec::new(), said: 0, faults: Vec::new() };
    for (n, request) in requests.iter().enumerate() {
        world.goes_on(request.at, &request.happens, &session);
        let report = Report::default();
        let context = Context::default().session(session.clone()).report(report.clone());
        let assembled = blocks(&ready(stack.assemble(body(format, &request.messages), context)));
        run.sent.push(ledger.sent(request.at, &assembled));
        run.facts.push(ledger.sent(request.at, &facts_alone(assembled)));
        let manifest = report.manifest().expect("it was filled");
        let new = manifest.texts.iter().filter(|text| text.is_new).flat_map(|text| text.fragments.iter());
        run.said += new.map(|fragment| fragment.tokens).sum::<usize>();
        run.faults.extend(faults(&manifest).map(|fault| format!("request {n}: {fault}")));
    }
    run
}

/// What `append` must not do, as the manifest tells it.
fn faults(manifest: &Manifest) -> impl Iterator<Item = String> {
    let change = manifest.foreseen.as_ref().and_then(|foreseen| foreseen.first_change.as_ref());
    let change = change.filter(|change| matches!(change, FirstChange::Us { .. })).map(ToString::to_string);
    let mut said = HashMap::new();
    let twice: Vec<String> = manifest
        .fragments()
        .filter(|(_, fragment)| said.insert(fragment.id.clone(), fragment.hash) == Some(fragment.hash))
        .map(|(_, fragment)| format!("`{}` says the same again", fragment.id))
        .collect();
    change.into_iter().chain(twice)
}

/// Requests whose bare form begins with an earlier one's, and which do not.
fn breaks(bare: &[Sent], sent: &[Sent]) -> usize {
    let is_broken = |n: usize| (0..n).rev().find(|m| bare[n].extends(&bare[*m])).is_some_and(|m| !sent[n].extends(&sent[m]));
    (0..sent.len()).filter(|n| is_broken(*n)).count()
}

/// Nothing waits here.
fn ready<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Waking::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("no layer of this stack waits"),
    }
}
