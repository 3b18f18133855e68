//! Budgets: what is shed at a session's start, what is not said again at a compaction, and what is noted without either.

use crate::common::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tower_prompt_layers::text::{Block, EstimatedTokens, TokenCounter};
use tower_prompt_layers::wire::{Anthropic, Gemini, ModelFacts, ModelTable, OpenAiChat, ToolDefinition, Wire};
use tower_prompt_layers::{
    Budget, BudgetKind, Context, Contribute, Fragment, LimitKind, Manifest, Prompt, PromptStack, Report, Session, Settings, SheddingRank,
    SystemPromptLayer, Tier, Turn,
};

/// A fact of 20 lines that can shed.
fn fact(id: &'static str, tier: Tier, rank: SheddingRank) -> impl Contribute + Clone {
    let text = Block::new(id, &"one line of what is so\n".repeat(20));
    move |_: &Turn, prompt: &mut Prompt| prompt.add(tier, || Fragment::new(id, text.clone()).shedding(rank))
}

fn held_to(budget: Budget) -> Settings {
    Settings::default().budget(budget)
}

async fn sent(stack: &PromptStack<OpenAiChat>, session: &Session, history: &[Value]) -> (Value, Manifest) {
    let report = Report::default();
    let request = stack.assemble(body(history), Context::default().session(session.clone()).report(report.clone())).await;
    (request, report.manifest().unwrap())
}
fn codes(manifest: &Manifest) -> Vec<&str> {
    manifest.diagnostics.iter().map(|found| &*found.code).collect()
}
fn tokens(manifest: &Manifest) -> usize {
    manifest.texts.iter().map(|text| EstimatedTokens.count(&text.text)).sum()
}

#[tokio::test]
async fn for_every_budget_the_start_fits_or_what_never_sheds_is_told_and_the_next_turn_says_nothing() {
    let policy =
        |_: &Turn, prompt: &mut Prompt| prompt.add(Tier::Stable, || Fragment::new("policy", "A policy that is never shed.").fixed());
    for max in (0..700).step_by(7) {
        let stack = PromptStack::new(OpenAiChat, held_to(Budget::default().max_prompt_tokens(Some(max))))
            .with(policy)
            .with(fact("far", Tier::Session, SheddingRank::INSTRUCTIONS))
            .with(fact("git", Tier::Turn, SheddingRank::GIT))
            .with(clock("noon"));
        let session = Session::new();
        let (first, manifest) = sent(&stack, &session, &[user("hi")]).await;
        let budget = manifest.budget.clone().unwrap();
        assert_eq!((budget.kind, budget.limit, budget.after), (BudgetKind::Prompt, max, tokens(&manifest)));
        assert!(budget.after <= max || codes(&manifest).contains(&"budget-exceeded"), "{max}: {codes:?}", codes = codes(&manifest));
        assert_eq!(budget.after > max, codes(&manifest).contains(&"budget-exceeded"), "{max}");
        assert_eq!(codes(&manifest).iter().filter(|code| **code == "budget").count(), budget.shed.len());
        assert!(first.to_string().contains("A policy that is never shed.") && first.to_string().contains("noon"));
        // Git goes first, and the other only where that is gone.
        if budget.shed.iter().any(|shed| shed.id == "far") {
            assert!(budget.shed.iter().any(|shed| shed.id == "git" && shed.after == 0), "{max}");
        }
        for (_, fragment) in manifest.fragments().filter(|(_, fragment)| fragment.id != "policy" && fragment.id != "clock") {
            assert_eq!(
                fragment.limit.is_some_and(|limit| limit.kind == LimitKind::Budget && limit.cut),
                budget.shed.iter().any(|shed| shed.id == fragment.id)
            );
        }
        let again = sent(&stack, &Session::new(), &[user("hi")]).await.0;
        assert_eq!(again, first, "the same for the same");
        let (second, manifest) = sent(&stack, &session, &[user("hi"), says("ok"), user("on")]).await;
        assert_eq!(last(&second), "on", "{max}: what was shed is no news");
        assert!(manifest.budget.is_none() && manifest.diagnostics.is_empty());
    }
}

/// A fact that is what it is set to.
#[derive(Clone, Default)]
struct Told(Arc<Mutex<&'static str>>);
impl Contribute for Told {
    fn contribute(&self, _: &Turn, prompt: &mut Prompt) {
        match *self.0.lock().unwrap() {
            "" => prompt.gone("told"),
            text => prompt.add(Tier::Session, || Fragment::new("told", text).shedding(SheddingRank::OWN)),
        }
    }
}

#[tokio::test]
async fn what_was_shed_whole_is_said_whole_once_it_changes_and_is_not_said_to_be_gone() {
    let told = Told::default();
    *told.0.lock().unwrap() = "a fact of some length that is not to be said at the start";
    let stack = PromptStack::new(OpenAiChat, held_to(Budget::default().max_prompt_tokens(Some(3)))).with(base()).with(told.clone());
    let session = Session::new();
    let mut history = vec![user("hi")];
    assert!(!sent(&stack, &session, &history).await.0.to_string().contains("a fact"));
    for (now, said) in [("", "on".to_owned()), ("another fact", behind("on", "another fact"))] {
        *told.0.lock().unwrap() = now;
        history.extend([says("ok"), user("on")]);
        assert_eq!(last(&sent(&stack, &session, &history).await.0), said);
    }
}

/// Turn facts whose values change with the turn that they are set in.
#[derive(Clone, Default)]
struct Facts(Arc<Mutex<Vec<(&'static str, String)>>>);
impl Contribute for Facts {
    fn contribute(&self, _: &Turn, prompt: &mut Prompt) {
        for (id, text) in self.0.lock().unwrap().clone() {
            prompt.add(Tier::Turn, || Fragment::new(id, text));
        }
    }
}

#[tokio::test]
async fn at_a_compaction_the_oldest_facts_go_and_the_newest_and_active_skills_stay() {
    let long = |what: &str| format!("{what}: {}", "words of a fact ".repeat(10));
    for (max, kept) in [(1_000, "old middle new"), (120, "middle new"), (75, "new"), (0, "")] {
        let facts = Facts::default();
        let stack =
            PromptStack::new(OpenAiChat, held_to(Budget::default().max_anchored_tokens(Some(max)))).with(active_skills).with(facts.clone());
        let session = Session::new();
        let mut history = vec![user("one")];
        let mut outgrown = 0;
        for id in ["old", "middle", "new"] {
            facts.0.lock().unwrap().push((id, long(id)));
            outgrown += codes(&sent(&stack, &session, &history).await.1).iter().filter(|code| **code == "anchors-outgrown").count();
            history.extend([says("ok"), user("on")]);
        }
        assert_eq!(outgrown, usize::from(max < 1_000), "told once, where they grow over it");
        session.activate(id("rust"), None);
        let compacted = [user("summary"), says("go on"), user("on")];
        let (request, manifest) = sent(&stack, &session, &compacted).await;
        let said: Vec<&str> = manifest.said().into_iter().filter(|id| !id.starts_with("active_skill")).collect();
        assert_eq!(said.join(" "), kept, "{max}");
        assert!(last(&request).contains("BODY OF rust"));
        let budget = manifest.budget.clone().unwrap();
        assert_eq!((budget.kind, budget.after), (BudgetKind::Anchored, tokens(&manifest)));
        assert_eq!(budget.after > max, codes(&manifest).contains(&"budget-exceeded"));
        let next = [compacted.to_vec(), vec![says("ok"), user("next")]].concat();
        assert_eq!(last(&sent(&stack, &session, &next).await.0), "next", "what was left out is no news");
    }
}

#[tokio::test]
async fn without_a_budget_more_than_a_fifth_of_a_known_window_is_told_once() {
    let models = ModelTable::default().with("m", ModelFacts::default().with_context_window(1_000));
    let settings = Settings::default().models(models);
    let stack = |settings: Settings| {
        PromptStack::new(OpenAiChat, settings).with(fact("far", Tier::Session, SheddingRank::OWN)).with(fact(
            "git",
            Tier::Turn,
            SheddingRank::GIT,
        ))
    };
    let session = Session::new();
    let history = [user("one"), says("ok"), user("two")];
    let (_, first) = sent(&stack(settings.clone()), &session, &history[..1]).await;
    assert_eq!(codes(&first), ["prompt-large"]);
    assert!(codes(&sent(&stack(settings.clone()), &session, &history[..1]).await.1).is_empty(), "a retry");
    assert!(codes(&sent(&stack(settings.clone()), &session, &history).await.1).is_empty(), "the next turn");
    let held = settings.budget(Budget::default().max_prompt_tokens(Some(5_000)));
    assert!(codes(&sent(&stack(held), &Session::new(), &history[..1]).await.1).is_empty());
    assert!(codes(&sent(&stack(Settings::default()), &Session::new(), &history[..1]).await.1).is_empty(), "an unknown model");
}

#[tokio::test]
async fn a_tool_of_ours_is_part_of_the_prefix_that_may_be_too_short() {
    for (chars, expected) in [(10, &["prefix-too-short"][..]), (5_000, &[])] {
        let tool = move |_: &Turn, prompt: &mut Prompt| {
            prompt.add_tool(ToolDefinition::new("ours", "x".repeat(chars), json!({"type": "object"})));
        };
        let settings = Settings::default().models(ModelTable::default().with("m", ModelFacts::default().with_cache_minimum(1_024)));
        let (stack, report) = (PromptStack::new(Anthropic, settings).with(base()).with(tool), Report::default());
        let request = json!({"model": "m", "messages": [user("one")]});
        let sent = stack.assemble(request, Context::default().report(report.clone())).await;
        assert_eq!(codes(&report.manifest().unwrap()), expected);
        assert_eq!(sent["system"][0].get("cache_control").is_none(), !expected.is_empty(), "and it is marked where it is long enough");
    }
}

#[tokio::test]
async fn a_prefix_too_short_to_be_kept_is_noted_once() {
    let told = |settings: Settings, request: Value| async move {
        let report = Report::default();
        let stack = PromptStack::new(Anthropic, settings).with(base());
        let context = Context::default().session(Session::new()).report(report.clone());
        stack.assemble(request.clone(), context.clone()).await;
        let mut all: Vec<String> = codes(&report.manifest().unwrap()).into_iter().map(str::to_owned).collect();
        let mut longer = request;
        longer["messages"].as_array_mut().unwrap().extend([says("a"), user("two")]);
        stack.assemble(longer, context).await;
        all.extend(codes(&report.manifest().unwrap()).into_iter().map(str::to_owned));
        all
    };
    let minimum = |tokens| Settings::default().models(ModelTable::default().with("m", ModelFacts::default().with_cache_minimum(tokens)));
    let short = json!({"model": "m", "messages": [user("one")]});
    assert_eq!(told(minimum(1_024), short.clone()).await, ["prefix-too-short"]);
    assert!(told(minimum(1), short.clone()).await.is_empty());
    assert!(told(Settings::default().cache_marks(false), short).await.is_empty());
    let long = json!({"model": "m", "system": "word ".repeat(2_000), "messages": [user("one")]});
    assert!(told(minimum(1_024), long).await.is_empty());
    let marked =
        json!({"model": "m", "system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral"}}], "messages": [user("one")]});
    assert!(told(minimum(1_024), marked).await.is_empty(), "who marks decides alone");
}

/// What a session says, by how it is asked: a fact of each place, and the line ahead of bodies, of which there is none.
async fn budgeted<W: Wire<Value>>(wire: W, budget: Budget, session: &Session, request: Value, compacted: bool) -> Manifest {
    let report = Report::default();
    let opening = |_: &Turn, prompt: &mut Prompt| {
        prompt.add(Tier::Step, || Fragment::new("active_skills", "How to read the bodies of skills that there are."));
    };
    let stack = PromptStack::new(wire, held_to(budget))
        .with(fact("far", Tier::Session, SheddingRank::INSTRUCTIONS))
        .with(fact("near", Tier::Session, SheddingRank::INSTRUCTIONS))
        .with(fact("git", Tier::Turn, SheddingRank::GIT))
        .with(opening);
    let context = Context::default().session(session.clone()).compacted(compacted);
    stack.assemble(request, context.report(report.clone())).await;
    report.manifest().unwrap()
}

#[tokio::test]
async fn where_all_of_it_fits_a_budget_counts_what_is_said_and_nothing_else() {
    let prompt = Budget::default().max_prompt_tokens(Some(5_000));
    let anchored = Budget::default().max_anchored_tokens(Some(5_000));
    let fits = |manifest: &Manifest, said: &[&str], case: &str| {
        let budget = manifest.budget.as_ref().unwrap();
        assert_eq!(manifest.said(), said, "{case}");
        assert!(budget.shed.is_empty() && budget.after > 0, "{case}");
        // Each text is counted by itself beforehand, and all of them together behind it.
        assert!(budget.before.abs_diff(budget.after) <= 6, "{case}: {} {}", budget.before, budget.after);
        assert_eq!(budget.after, tokens(manifest), "{case}");
    };
    let start = budgeted(OpenAiChat, prompt, &Session::new(), body(&[user("one")]), false).await;
    fits(&start, &["far", "near", "git"], "a start");
    let results = [user("one"), calls("c"), result("c")];
    let strict = budgeted(StrictResults, prompt, &Session::new(), body(&results), false).await;
    fits(&strict, &["far", "near"], "a start where no text stands at the tail");
    let held = json!({"cachedContent": "c", "contents": [{"role": "user", "parts": [{"text": "one"}]}]});
    fits(&budgeted(Gemini, prompt, &Session::new(), held, false).await, &["git"], "a start whose system prompt the provider holds");
    // At a compaction the system prompt tells what it told, and what still stands in a history that is kept in part is among it.
    for kept in [&[][..], &[user("one"), says("a")]] {
        let session = Session::new();
        budgeted(OpenAiChat, anchored, &session, body(&[user("one")]), false).await;
        let rest = [kept, &[user("go on")]].concat();
        let compacted = budgeted(OpenAiChat, anchored, &session, body(&rest), true).await;
        let budget = compacted.budget.as_ref().unwrap();
        let behind: usize =
            compacted.texts.iter().filter(|text| text.follows.is_some()).map(|text| EstimatedTokens.count(&text.text)).sum();
        assert_eq!((budget.kind, budget.after), (BudgetKind::Anchored, behind), "{kept:?}");
        assert!(budget.before.abs_diff(behind) <= 6, "{kept:?}: {} {behind}", budget.before);
    }
}

#[tokio::test]
async fn of_two_requests_that_start_a_session_the_one_that_renders_its_prompt_is_held_to_the_budget() {
    let stack = PromptStack::new(OpenAiChat, held_to(Budget::default().max_prompt_tokens(Some(5_000)))).with(base()).with(clock("noon"));
    let session = Session::new();
    let (first, second) = (Report::default(), Report::default());
    let begin = |text: &str, report: &Report| {
        let history = [user("one"), says("a"), user(text)];
        stack.begin(body(&history), Context::default().session(session.clone()).report(report.clone()))
    };
    let (one, other) = (begin("two", &first), begin("three", &second));
    stack.finish(one).await;
    stack.finish(other).await;
    let is_held = [first, second].map(|report| report.manifest().unwrap().budget.is_some());
    assert_eq!(is_held, [true, false]);
}

#[tokio::test]
async fn what_comes_to_a_bound_exactly_is_within_it() {
    let history = [user("one")];
    let stack = |budget: Budget| PromptStack::new(OpenAiChat, held_to(budget)).with(base()).with(clock("noon"));
    let (_, manifest) = sent(&stack(Budget::default()), &Session::new(), &history).await;
    let all = tokens(&manifest);
    let behind: usize =
        manifest.texts.iter().filter(|text| text.follows.is_some()).flat_map(|text| text.fragments.iter()).map(|f| f.tokens).sum();
    for (budget, code) in [
        (Budget::default().max_prompt_tokens(Some(all)), None),
        (Budget::default().max_prompt_tokens(Some(all - 1)), Some("budget-exceeded")),
        (Budget::default().max_anchored_tokens(Some(behind)), None),
        (Budget::default().max_anchored_tokens(Some(behind - 1)), Some("anchors-outgrown")),
    ] {
        let (_, manifest) = sent(&stack(budget), &Session::new(), &history).await;
        assert_eq!(codes(&manifest), Vec::from_iter(code), "{budget:?}");
    }
}

#[tokio::test]
async fn within_a_fifth_of_the_window_nothing_is_told() {
    let models = ModelTable::default().with("m", ModelFacts::default().with_context_window(1_000_000));
    let stack = PromptStack::new(OpenAiChat, Settings::default().models(models)).with(fact("far", Tier::Session, SheddingRank::OWN));
    assert!(codes(&sent(&stack, &Session::new(), &[user("one")]).await.1).is_empty());
}

#[tokio::test]
async fn at_a_compaction_age_decides_and_not_the_order_of_the_layers_and_what_a_session_needs_stays() {
    let long = |what: &str| format!("{what}: {}", "words of a fact ".repeat(10));
    let needed = Arc::new(Mutex::new("1"));
    let value = needed.clone();
    let fixed = move |_: &Turn, prompt: &mut Prompt| {
        prompt.add(Tier::Session, || Fragment::new("needed", *value.lock().unwrap()));
        prompt.add(Tier::Turn, || Fragment::new("fixed", "fixed").fixed());
    };
    for (max, kept) in [(1_000, "untold new middle old"), (170, "untold new middle"), (125, "untold new"), (75, "untold"), (0, "")] {
        *needed.lock().unwrap() = "1";
        let facts = Facts::default();
        let stack =
            PromptStack::new(OpenAiChat, held_to(Budget::default().max_anchored_tokens(Some(max)))).with(facts.clone()).with(fixed.clone());
        let session = Session::new();
        let mut history = vec![user("one")];
        for id in ["old", "middle", "new"] {
            facts.0.lock().unwrap().insert(0, (id, long(id)));
            sent(&stack, &session, &history).await;
            history.extend([says("ok"), user("on")]);
        }
        facts.0.lock().unwrap().insert(0, ("untold", long("untold")));
        *needed.lock().unwrap() = "2";
        let (_, manifest) = sent(&stack, &session, &[user("summary"), says("go on"), user("on")]).await;
        let (stay, may_go): (Vec<&str>, Vec<&str>) = manifest.said().into_iter().partition(|id| ["needed", "fixed"].contains(id));
        assert_eq!((may_go.join(" "), stay.len()), (kept.to_owned(), 2), "{max}");
    }
}

#[tokio::test]
async fn how_long_a_prefix_is_is_told_in_tokens() {
    let models = ModelTable::default().with("m", ModelFacts::default().with_cache_minimum(1_024));
    let stack = PromptStack::new(Anthropic, Settings::default().models(models)).with(SystemPromptLayer::replaced("word ".repeat(400)));
    let report = Report::default();
    stack.assemble(json!({"model": "m", "messages": [user("one")]}), Context::default().report(report.clone())).await;
    assert_eq!(codes(&report.manifest().unwrap()), ["prefix-too-short"]);
}
