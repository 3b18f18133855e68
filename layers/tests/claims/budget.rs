//! Budgets: what is shed at a session's start, what is not said again at a compaction, and what is noted without either.

use crate::common::*;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tower_prompt_layers::text::{Block, EstimatedTokens, TokenCounter};
use tower_prompt_layers::wire::{Anthropic, ModelFacts, ModelTable, OpenAiChat};
use tower_prompt_layers::{
    Budget, BudgetKind, Context, Contribute, Fragment, LimitKind, Manifest, Prompt, PromptStack, Report, Session, Settings, SheddingRank,
    Tier, Turn,
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
