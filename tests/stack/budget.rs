//! Budgets, from the configuration to what is sent.

use super::talk::{Talk, id};
use crate::place::Place;
use serde_json::json;
use tower_prompt::Workspace;
use tower_prompt::layers::text::{EstimatedTokens, TokenCounter};

/// Something of each rank.
fn place() -> Place {
    let place = Place::new();
    let lines = |what: &str| (0..30).fold(String::new(), |all, n| format!("{all}* {what} number {n}.\n"));
    place.write("work/AGENTS.md", lines("Far rule"));
    place.write("work/api/AGENTS.md", lines("Near rule"));
    place.write("work/INVARIANTS.md", format!("## Part\n\n{}", lines("Invariant")));
    for n in 0..10 {
        place.skill(&format!("skill-{n}"), "A description that says at some length what this skill is for.", "Body.");
    }
    place.git(&["init", "-q"]);
    (0..30).for_each(|n| drop(place.write(&format!("work/new-file-{n}"), "")));
    place
}
fn talk(place: &Place, config: &str) -> Talk {
    Talk::new(&place.assembly_in(&Workspace::around(place.at("work/api")), config))
}

#[test]
fn what_matters_least_goes_first_and_some_things_never() {
    let place = place();
    // In the order in which they go; each stands whole without a budget.
    let order = ["at some length", "<hosting_environment>", "?? new-file-29", "Invariant number 29", "Far rule number 29"];
    let never = ["You are", "<user_authority>", "Near rule number 29", "<id>skill-9</id>", "<name>skill-9</name>", "Body."];
    let start = |config: &str| {
        let mut talk = talk(&place, config);
        talk.session.activate(id("skill-0"), None);
        let first = talk.say("hi");
        let next = talk.say("go on");
        (first, next)
    };
    let whole = start("").0;
    assert!(order.iter().all(|text| whole.new.contains(text)), "{}", whole.new);
    let all = whole.manifest.tokens();
    let mut gone_before = 0;
    for max in (1..=all + 60).rev().step_by(97) {
        let (first, next) = start(&format!("budget.max_prompt_tokens = {max}"));
        let tokens: usize = first.manifest.texts.iter().map(|text| EstimatedTokens.count(&text.text)).sum();
        let exceeded = first.codes().contains(&"budget-exceeded");
        assert!(tokens <= max || exceeded, "{tokens} of {max}: {:?}", first.codes());
        let gone: Vec<bool> = order.iter().map(|text| !first.new.contains(text)).collect();
        let count = gone.iter().filter(|gone| **gone).count();
        assert!(gone.iter().take(count).all(|gone| *gone), "{max}: {gone:?}");
        assert!(count >= gone_before, "{max}");
        gone_before = count;
        for text in never {
            assert!(first.new.contains(text), "{max}: {text}");
        }
        assert_eq!(next.new.trim(), "Done.\ngo on", "{max}: what was shed is no news");
    }
    assert_eq!(gone_before, order.len());
}

#[test]
fn anchors_that_outgrow_their_budget_lose_the_oldest_facts_at_a_compaction() {
    let place = place();
    let said = |config: &str| {
        let mut talk = talk(&place, config);
        talk.say("hi");
        talk.compact(vec![
            json!({"role": "user", "content": "a summary"}),
            json!({"role": "assistant", "content": "Yes."}),
            json!({"role": "user", "content": "go on"}),
        ]);
        talk.send()
    };
    assert!(said("").new.contains("?? new-file-29"));
    let held = said("budget.max_anchored_tokens = 100");
    assert!(!held.new.contains("new-file-") && held.new.contains("<current_datetime>"), "{}", held.new);
    assert!(held.manifest.budget.is_some_and(|budget| budget.after <= 100 && budget.shed.len() == 1));
}
