//! Profiles for providers and models: which act, in which order, and on what.

use super::stage::Chat;
use serde_json::json;
use tower_prompt_layers::profile::{BUNDLED_PROFILES, ModelProfile, ModelProfiles, ToolDescription};
use tower_prompt_layers::text::TextMode;
use tower_prompt_layers::wire::OpenAiChat;
use tower_prompt_layers::{Context, PromptStack, Report, Session, Settings, SystemPromptLayer, UserAuthorityLayer};

fn says(mode: TextMode, text: &str) -> ModelProfile {
    ModelProfile::new(mode, text)
}

/// One profile of each table; `mode` is that of the one for the family.
fn profiles(mode: TextMode) -> ModelProfiles {
    let mut all = ModelProfiles::none();
    all.default = says(TextMode::Append, "DEFAULT");
    all.provider.insert("p".into(), says(TextMode::Prepend, "PROVIDER"));
    all.family.insert("f".into(), says(mode, "FAMILY"));
    all.catalog_entry.insert("c".into(), says(TextMode::Append, "ENTRY"));
    all.model.insert("m".into(), says(TextMode::Prepend, "MODEL"));
    all
}

fn stack(profiles: ModelProfiles) -> PromptStack<OpenAiChat> {
    let base = SystemPromptLayer::replaced("BASE").profiles(profiles);
    PromptStack::new(OpenAiChat, Settings::default()).with(base).with(UserAuthorityLayer)
}

fn all_ids() -> Context {
    Context::default().model("p", "m").model_family("f").catalog_entry("c")
}

/// The system prompt, without the policy behind it, and the ids of its fragments.
async fn system(profiles: ModelProfiles, context: Context) -> (String, Vec<String>) {
    let report = Report::default();
    let request = json!({"messages": [{"role": "user", "content": "hi"}]});
    let sent = stack(profiles).assemble(request, context.report(report.clone())).await;
    let text = sent["messages"][0]["content"].as_str().unwrap();
    let (own, policy) = text.split_once("<user_authority>").unwrap();
    assert!(policy.ends_with("</user_authority>"), "the policy stands behind profiles");
    let ids = report.manifest().unwrap().fragments().map(|(_, fragment)| fragment.id.clone()).collect();
    (own.split_whitespace().collect::<Vec<_>>().join(" "), ids)
}

#[tokio::test]
async fn each_acts_in_its_order_on_the_base_alone() {
    let (text, ids) = system(profiles(TextMode::Append), all_ids()).await;
    assert_eq!(text, "MODEL PROVIDER BASE DEFAULT FAMILY ENTRY");
    let own = [
        "model_profile:model.m",
        "model_profile:provider.p",
        "base",
        "model_profile:default",
        "model_profile:family.f",
        "model_profile:catalog_entry.c",
        "user_authority",
    ];
    assert_eq!(ids, own);
}

#[tokio::test]
async fn one_that_replaces_discards_the_base_and_earlier_profiles() {
    let (text, ids) = system(profiles(TextMode::Replace), all_ids()).await;
    assert_eq!(text, "MODEL FAMILY ENTRY");
    assert!(!ids.contains(&"base".to_owned()));
}

#[tokio::test]
async fn only_exact_ids_that_the_host_gives_count() {
    for (context, text) in [
        (Context::default(), "BASE DEFAULT"),
        (Context::default().model("P", "mm"), "BASE DEFAULT"),
        (Context::default().model("p", "x"), "PROVIDER BASE DEFAULT"),
        (Context::default().model_family("f"), "BASE DEFAULT FAMILY"),
    ] {
        assert_eq!(system(profiles(TextMode::Append), context).await.0, text);
    }
}

#[tokio::test]
async fn the_model_that_a_request_names_counts_where_the_host_names_none() {
    let request = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]});
    let sent = stack(profiles(TextMode::Append)).assemble(request.clone(), Context::default()).await;
    assert!(sent["messages"][0]["content"].as_str().unwrap().starts_with("MODEL\n\nBASE"));
    let sent = stack(profiles(TextMode::Append)).assemble(request, Context::default().model("x", "y")).await;
    assert!(sent["messages"][0]["content"].as_str().unwrap().starts_with("BASE"));
}

#[tokio::test]
async fn bundled_profiles_act_first_unless_they_are_off() {
    for bundled in BUNDLED_PROFILES {
        let (text, ids) = system(ModelProfiles::default(), Context::default().model(bundled.provider, "m")).await;
        assert_eq!(text, format!("BASE {}", bundled.text));
        assert_eq!(ids[1], format!("model_profile:bundled.{}", bundled.id));
        let mut off = ModelProfiles::default();
        off.bundled_off.insert(bundled.id.to_owned());
        assert_eq!(system(off, Context::default().model(bundled.provider, "m")).await.0, "BASE");
    }
}

#[tokio::test]
async fn another_model_in_mid_conversation_changes_nothing_until_a_rebase() {
    let stack = stack(profiles(TextMode::Append));
    let session = Session::new();
    let send = async |messages: &[&str], context: Context| {
        let messages: Vec<_> =
            messages.iter().zip(["user", "assistant"].iter().cycle()).map(|(text, role)| json!({"role": role, "content": text})).collect();
        stack.assemble(json!({"messages": messages}), context.session(session.clone())).await["messages"].clone()
    };
    let first = send(&["one"], Context::default()).await;
    let second = send(&["one", "a", "two"], all_ids()).await;
    assert_eq!((&second[0], &second[3]["content"]), (&first[0], &json!("two")));
    session.rebase();
    let third = send(&["one", "a", "two", "b", "three"], all_ids()).await;
    assert!(third[0]["content"].as_str().unwrap().starts_with("MODEL\n\nPROVIDER\n\nBASE"));
}

#[tokio::test]
async fn a_tools_description_changes_as_text_alone() {
    let describes = |mode, text: &str| ModelProfile::default().describe_tool("ls", ToolDescription::new(mode, text));
    let mut all = ModelProfiles::none();
    all.default = describes(TextMode::Replace, "Shows a folder.");
    all.model.insert("m".into(), describes(TextMode::Append, "Hidden files too."));
    let tool =
        |description: &str| json!([{"type": "function", "function": {"name": "ls", "description": description, "parameters": {"a": 1}}}]);
    let request = json!({"tools": tool("Lists."), "messages": [{"role": "user", "content": "hi"}]});
    let sent = stack(all).assemble(request, all_ids()).await;
    assert_eq!(sent["tools"], tool("Shows a folder.\n\nHidden files too."));
}

#[tokio::test]
async fn an_empty_replacement_leaves_no_base_and_a_later_profile_stands_alone() {
    let mut all = ModelProfiles::none();
    all.default = says(TextMode::Replace, " ");
    let base = || SystemPromptLayer::replaced("BASE");
    let stack = |profiles| PromptStack::new(OpenAiChat, Settings::default()).with(base().profiles(profiles));
    assert_eq!(Chat::new(stack(all.clone())).says("hi").await.system, "");
    all.model.insert("m".into(), says(TextMode::Append, "MODEL"));
    let mut chat = Chat::new(stack(all));
    assert_eq!(chat.says("hi").await.system, "");
}
