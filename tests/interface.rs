//! What the public types promise by themselves: a host may hold, share, clone and print them. Checked when this is compiled.

use serde_json::Value;
use std::convert::Infallible;
use std::fmt::Debug;
use tower::{Layer, Service, ServiceExt, service_fn};
use tower_prompt::config::{Config, ConfigError, Loaded};
use tower_prompt::layers::skill::{HintEvaluator, Skill, SkillId, SkillList, SkillSummary, SkillTool, Skills};
use tower_prompt::layers::wire::{Conversation, Edits, Format, OpenAiChat};
use tower_prompt::layers::{
    ActiveSkillsLayer, Call, Context, Diagnostic, Fragment, InvariantsLayer, Manifest, ManifestDiff, PromptStack, Report, SectionsLayer,
    Session, SessionEvent, Settings, SkillActivationLayer, SkillCatalogLayer, SkillToolLayer, SystemPromptLayer, ToolOutputLayer,
    UserAuthorityLayer,
};
use tower_prompt::providers::{ProcessProvider, ProvidedSkills};
use tower_prompt::sessions::{MemoryStore, OpenedLog, SessionLog, StoreError};
use tower_prompt::skills::{DiscoveryOptions, FolderSkills, Root};
use tower_prompt::{Assembly, Environment, RecentSessions, Workspace};

fn held<T: Send + Sync + Debug + 'static>() {}
fn shared<T: Clone + Send + Sync + Debug + 'static>() {}
fn stored<T: serde::Serialize + serde::de::DeserializeOwned>() {}
fn error<T: std::error::Error + Send + Sync + 'static>() {}

#[test]
fn what_a_host_holds_is_cloned_sent_and_printed() {
    shared::<Assembly>();
    shared::<Environment>();
    shared::<Workspace>();
    shared::<Config>();
    held::<Loaded>();
    shared::<Settings>();
    shared::<Context>();
    shared::<Session>();
    shared::<Report>();
    shared::<Manifest>();
    shared::<ManifestDiff>();
    shared::<Diagnostic>();
    shared::<Fragment>();
    shared::<Conversation>();
    held::<Edits>();
    shared::<PromptStack<Format>>();
    shared::<Call<Value>>();
    shared::<FolderSkills>();
    shared::<DiscoveryOptions>();
    shared::<Root>();
    shared::<Skills>();
    shared::<Skill>();
    shared::<SkillTool>();
    held::<HintEvaluator>();
    held::<RecentSessions>();
    shared::<SessionLog>();
    held::<OpenedLog>();
    shared::<MemoryStore>();
    shared::<ProvidedSkills>();
    held::<ProcessProvider>();
}

#[test]
fn each_layer_is_one() {
    shared::<SystemPromptLayer>();
    shared::<UserAuthorityLayer>();
    shared::<InvariantsLayer>();
    shared::<SectionsLayer>();
    shared::<SkillCatalogLayer>();
    shared::<SkillToolLayer>();
    shared::<ActiveSkillsLayer>();
    shared::<SkillActivationLayer>();
    shared::<ToolOutputLayer>();
}

#[test]
fn what_is_kept_is_read_back_and_errors_are_errors() {
    stored::<Manifest>();
    stored::<SessionEvent>();
    stored::<Diagnostic>();
    stored::<SkillList>();
    stored::<SkillSummary>();
    stored::<SkillId>();
    stored::<Format>();
    error::<ConfigError>();
    error::<StoreError>();
}

/// Around a client that is cloned and sent, the stack is too, and its future runs on any executor.
#[test]
fn a_stack_around_a_client_is_a_client() {
    fn client<S>(service: S) -> S
    where
        S: Service<Value, Response = Value, Error = Infallible, Future: Send> + Clone + Send + Sync + 'static,
    {
        service
    }
    let echo = service_fn(|request: Value| async move { Ok::<_, Infallible>(request) });
    let stack = PromptStack::new(OpenAiChat, Settings::default());
    let boxed = client(stack.layer(echo)).boxed_clone();
    drop(boxed);
}
