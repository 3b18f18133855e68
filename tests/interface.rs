//! What the public types promise by themselves: a host may hold, share, clone, print, store and compare them, and keep its own behind traits. Checked
//! when this is compiled.

use serde_json::Value;
use std::convert::Infallible;
use std::fmt::{Debug, Display};
use std::hash::Hash;
use std::str::FromStr;
use std::sync::Arc;
use tower::{Layer, Service, ServiceExt, service_fn};
use tower_prompt::config::{
    Config, ConfigError, ConfigValue, ConfigValues, ConfigurationLayer, Key, Loaded, Loader, Origin, OriginKind, SkillsConfig,
};
use tower_prompt::invariants::RelevantInvariants;
use tower_prompt::layers::invariant::{
    CatalogSource, ChooseInvariants, Guidance, InvariantCatalog, InvariantSelector, SelectByWords, SelectionRequest, SelectionResponse,
};
use tower_prompt::layers::profile::{ModelProfile, ModelProfiles};
use tower_prompt::layers::skill::provider::{
    MergedSkills, SharedProvider, SkillError, SkillErrorCode, SkillProvider, SkillRequest, SkillResponse,
};
use tower_prompt::layers::skill::{
    ActiveSkill, Advice, CatalogFormat, CatalogMode, CatalogOptions, HintEvaluator, InvalidSkillId, LoadSkill, Matcher,
    PermissionSuggestion, Skill, SkillActivationMode, SkillEvidenceKind, SkillId, SkillList, SkillManifest, SkillMatch, SkillRegistry,
    SkillResource, SkillSource, SkillSourceKind, SkillSummary, SkillText, SkillTool, SkillToolCall, SkillToolOptions, SkillToolResult,
    SkillVisibility, Skills,
};
use tower_prompt::layers::text::{Block, EstimatedTokens, Fitted, Limit, Room, TextChange, TextMode, TokenCounter};
use tower_prompt::layers::wire::{
    Anthropic, Append, Conversation, Edits, Format, Gemini, HeldHistory, Message, ModelFacts, ModelTable, OllamaChat, OllamaGenerate,
    OpenAiChat, OpenAiResponses, Removal, Role, Spot, ToolAnswer, ToolCalls, ToolDefinition, ToolOutputArchive, ToolOutputBound,
    UnansweredCalls, UnknownFormat, Wire,
};
use tower_prompt::layers::{
    ActiveSkillsLayer, AnchorKey, AutoActivate, Budget, Call, ClassifierError, ClassifyByModel, Context, Contribute, Diagnostic, Document,
    DocumentSource, Entry, Event, EventSink, Fragment, Host, InvariantsLayer, JournalError, Lines, Manifest, ManifestDiff, MatchEffect,
    PerCall, Placement, Prompt, PromptRequest, PromptStack, Purpose, ReplayError, Report, Round, Section, SectionsLayer, Session,
    SessionEvent, SessionJournal, SessionKey, Sessions, Settings, Severity, SharedService, SkillActivationLayer, SkillCatalogLayer,
    SkillToolLayer, Source, SystemPromptLayer, Text, Tier, TokenUsage, ToolOutputLayer, Trust, Turn, UserAuthorityLayer, WeakSession,
};
use tower_prompt::providers::{FolderProvider, ProcessProvider, ProvidedSkills, ProviderProgram};
use tower_prompt::sections::{CurrentDatetime, GitRevision, RepositoryContext};
use tower_prompt::sessions::{
    EventChannel, InvalidSessionId, LoggedMessage, MemoryStore, OpenSessions, OpenedLog, SessionId, SessionLog, SessionStore, Speaker,
    StoreError, TracedEvents,
};
use tower_prompt::skills::front_matter::FrontMatter;
use tower_prompt::skills::validation::{RuleSet, UnknownRuleSet, Validation};
use tower_prompt::skills::{Described, DiscoveryOptions, FolderSkills, Resource, Root, RootRules};
use tower_prompt::{Assembly, Environment, RecentSessions, Workspace};

/// Whether each of these types is all of that.
macro_rules! each {
    ($is:ident: $($type:ty),+ $(,)?) => {{ $($is::<$type>();)+ }};
}

fn sent<T: Send + Debug>() {}
fn held<T: Send + Sync + Debug + 'static>() {}
fn shared<T: Clone + Send + Sync + Debug + 'static>() {}
fn value<T: Clone + PartialEq + Send + Sync + Debug>() {}
fn word<T: Copy + Eq + Hash + Send + Sync + Debug>() {}
fn named<T: Display + FromStr>() {}
fn stored<T: serde::Serialize + serde::de::DeserializeOwned>() {}
fn error<T: std::error::Error + Send + Sync + 'static>() {}
fn behind_a_pointer<T: ?Sized>() {}

#[test]
fn what_a_host_holds_is_cloned_sent_and_printed() {
    each!(shared: Assembly, Environment, Workspace, Config, Loaded, Loader<'static>, Settings, Context, Session, WeakSession, Report);
    each!(shared: Fragment, Entry, PromptStack<Format>, PerCall<Format>, Call<Value>, SharedService<String, String, String>);
    each!(shared: FolderSkills, Skills, Skill, SkillTool, SkillToolCall, InvariantSelector, CatalogSource, RelevantInvariants, SelectByWords);
    each!(shared: SelectionRequest, ClassifyByModel<EstimatedTokens>, SharedProvider, MergedSkills, FolderProvider, ProcessProvider);
    each!(shared: ProvidedSkills, ProviderProgram, SessionLog, MemoryStore, OpenSessions, EventChannel, TracedEvents);
    each!(shared: CurrentDatetime, GitRevision, RepositoryContext, ToolOutputBound, Room<'static>, Key);
    each!(held: RecentSessions, OpenedLog, Matcher, Turn, Validation, StoreError);
    each!(sent: Prompt, PromptRequest<Value>);
}

#[test]
fn each_layer_is_one() {
    fn layer<L: Contribute + Layer<()> + Clone + Debug + Send + Sync + 'static>() {}
    each!(layer: SystemPromptLayer, UserAuthorityLayer, InvariantsLayer, SectionsLayer, SkillCatalogLayer, SkillToolLayer);
    each!(layer: ActiveSkillsLayer, SkillActivationLayer, ToolOutputLayer);
}

#[test]
fn values_are_compared_and_words_are_keys() {
    each!(value: Config, SkillsConfig, ConfigValue, ConfigValues, Origin, Manifest, ManifestDiff, Event, SessionEvent, Diagnostic, Document);
    each!(value: Conversation, Message, Edits, Append, Removal, HeldHistory, ToolCalls, ToolDefinition, ToolAnswer, ModelFacts, ModelTable);
    each!(value: SkillSummary, SkillManifest, SkillList, SkillSource, SkillText, SkillResource, SkillMatch, SkillToolOptions, SkillToolResult);
    each!(value: ActiveSkill, Advice, HintEvaluator, CatalogOptions, Host, SessionKey, AnchorKey, Source, Block, Fitted<'static>, TextChange);
    each!(value: Guidance, InvariantCatalog, SelectionResponse, ModelProfile, ModelProfiles, SkillRequest, SkillResponse, Budget);
    each!(value: DiscoveryOptions, Root, Described, Resource, FrontMatter, LoggedMessage, ConfigurationLayer, Workspace);
    each!(word: Tier, Round, Trust, Purpose, Severity, Placement, Lines, Limit, TextMode, AutoActivate, MatchEffect, Role, Spot, Format);
    each!(word: SkillActivationMode, SkillEvidenceKind, SkillSourceKind, SkillVisibility, CatalogFormat, CatalogMode, PermissionSuggestion);
    each!(word: OriginKind, RootRules, RuleSet, Speaker, SkillErrorCode);
    value::<TokenUsage>();
}

#[test]
fn what_is_kept_is_read_back_and_errors_are_errors() {
    each!(stored: Config, Manifest, SessionEvent, Diagnostic, SkillList, SkillSummary, SkillManifest, SkillId, SessionId, ActiveSkill);
    each!(stored: Format, ToolDefinition, SelectionResponse, ModelProfile, TokenUsage, LoggedMessage);
    each!(named: SkillId, SessionId, Format, RuleSet, ConfigurationLayer);
    each!(error: ConfigError, StoreError, JournalError, ReplayError, InvalidSessionId, InvalidSkillId, UnknownFormat, UnknownRuleSet);
    each!(error: UnansweredCalls, SkillError, ClassifierError<StoreError>);
}

/// A host keeps what it implements behind a pointer, and gives a stack what it keeps so.
#[test]
fn traits_are_objects_and_their_pointers_are_as_good() {
    fn registry<T: SkillRegistry>() {}
    fn section<T: Section>() {}
    fn text<T: Text>() {}
    fn source<T: LoadSkill + DocumentSource>() {}
    fn store<T: SessionStore>() {}
    fn journal<T: SessionJournal>() {}
    fn sessions<T: Sessions>() {}
    fn counter<T: TokenCounter>() {}
    fn chooser<T: ChooseInvariants>() {}
    fn provider<T: SkillProvider>() {}
    /// Never made.
    trait Both: LoadSkill + DocumentSource {}
    each!(behind_a_pointer: dyn Contribute, dyn Text, dyn Section, dyn Wire<Value>, dyn TokenCounter, dyn EventSink, dyn SessionJournal);
    each!(behind_a_pointer: dyn Sessions, dyn SessionStore, dyn SkillRegistry, dyn LoadSkill, dyn DocumentSource, dyn ChooseInvariants);
    each!(behind_a_pointer: dyn ToolOutputArchive);

    registry::<Arc<dyn SkillRegistry>>();
    section::<Arc<dyn Section>>();
    text::<Arc<dyn Text>>();
    source::<Arc<dyn Both>>();
    store::<Arc<dyn SessionStore>>();
    journal::<Arc<dyn SessionJournal>>();
    sessions::<Arc<dyn Sessions>>();
    counter::<Arc<dyn TokenCounter>>();
    chooser::<Arc<dyn ChooseInvariants>>();
    each!(provider: SharedProvider, MergedSkills, FolderProvider, ProcessProvider);
}

#[test]
fn each_format_is_a_wire_of_json() {
    fn wire<W: Wire<Value> + Clone + Send + Sync + 'static>() {}
    each!(wire: Format, OpenAiChat, OpenAiResponses, Anthropic, Gemini, OllamaChat, OllamaGenerate);
}

#[cfg(feature = "tools")]
#[test]
fn tools_of_the_hosts_are_shared() {
    use tower_prompt::tools::{CodeSkill, CodeSkillCall, CodeSkillTurn, CodeSkills, CodeSkillsLayer, Confirmation, Usage, UsageError};
    each!(shared: CodeSkill, CodeSkills, CodeSkillsLayer, CodeSkillTurn);
    each!(value: CodeSkillCall, Confirmation, Usage);
    named::<Usage>();
    error::<UsageError>();
}

#[cfg(feature = "install")]
#[test]
fn an_installation_is_a_value_and_its_failures_are_errors() {
    use tower_prompt::skills::install::{Install, InstallError, InstallReport, Limits, Refusal, RemoveError, Source};
    each!(shared: Install, InstallReport);
    each!(value: Limits, Source, Refusal);
    each!(error: InstallError, RemoveError, Refusal);
}

#[cfg(feature = "proxy")]
#[test]
fn the_proxy_is_a_service_of_any_body() {
    use tower_prompt::proxy::{Access, InvalidUpstream, Limits, Proxy, ProxyBody, ProxyService, Upstream};
    fn serves<S, B>()
    where
        S: Service<http::Request<B>, Response = http::Response<ProxyBody>, Error = Infallible, Future: Send>
            + Clone
            + Send
            + Sync
            + 'static,
    {
    }
    fn body<B: http_body::Body<Data = bytes::Bytes, Error: Into<tower::BoxError>> + Send + 'static>() {}
    each!(shared: Proxy, ProxyService, Access, Limits, Upstream);
    serves::<ProxyService, String>();
    serves::<ProxyService, ProxyBody>();
    body::<ProxyBody>();
    named::<Upstream>();
    error::<InvalidUpstream>();
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
