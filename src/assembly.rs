//! From configuration to a stack.

use crate::config::{self, CompatibleSystem, Config, ConfigError, InvariantsMode, SystemPromptMode};
use crate::files::RepositoryFile;
use crate::invariants::{self, RelevantInvariants};
use crate::layers::invariant::{CatalogSource, InvariantSelector, SelectByWords};
use crate::layers::profile::ModelProfiles;
use crate::layers::skill::{CatalogMode, CatalogOptions, LoadSkillsBy, SkillContextOptions, SkillTool, SkillToolOptions};
use crate::layers::text::Limit;
use crate::layers::{
    ActiveSkillsLayer, Budget, InvariantsLayer, PromptStack, SectionsLayer, Settings, SkillActivationLayer, SkillCatalogLayer,
    SkillToolLayer, Source, SystemPromptLayer, TextSection, Tier, ToolOutputLayer, UserAuthorityLayer,
};
use crate::providers::ProvidedSkills;
use crate::sections::{
    self, AgentSuffix, CurrentDatetime, DynamicRepositoryContext, ExecutionEnvironment, GitRevision, HostingEnvironment, Locale,
    RepositoryContext, RuntimeMode, ToolchainContext, WorktreeContext,
};
use crate::sessions::RecentSessions;
use crate::skills::{DiscoveryOptions, FolderSkills, RootRules};
use crate::{Environment, Workspace};
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Bytes of `INVARIANTS.md` that are read.
const MAX_INVARIANTS_BYTES: usize = 1024 * 1024;

/// What a configuration makes of an environment and a workspace: the skills in its folders, and each layer with its settings. [`stack`](Self::stack)
/// puts all of them together; who wants another order, or leaves one out, takes them one by one.
///
/// ```no_run
/// use tower_prompt::layers::wire::Anthropic;
/// use tower_prompt::{Assembly, Environment, Workspace};
///
/// let environment = Environment::of_process();
/// let workspace = Workspace::around(environment.working_directory());
/// let stack = Assembly::load(&environment, &workspace)?.stack(Anthropic);
/// # let _ = stack;
/// # Ok::<(), tower_prompt::config::ConfigError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Assembly {
    config: Config,
    environment: Environment,
    workspace: Workspace,
    skills: FolderSkills,
    provided: Option<ProvidedSkills>,
    sessions: Arc<RecentSessions>,
    load_by: LoadSkillsBy,
    tool_names: Vec<(String, String)>,
    answers_skill_tool: bool,
    relevant: Option<RelevantInvariants>,
    #[cfg(feature = "tools")]
    code_skills: Option<crate::tools::CodeSkillsLayer>,
}

impl Assembly {
    /// With the configuration of this environment and workspace: see [`config::load`]. Blocks while files are read. What was found in discovered
    /// files goes to `tracing`; who wants it as values loads the configuration by itself.
    pub fn load(environment: &Environment, workspace: &Workspace) -> Result<Self, ConfigError> {
        let loaded = config::load(environment, workspace)?;
        loaded.findings.iter().for_each(|finding| tracing::warn!("{finding}"));
        Ok(Self::new(loaded.config, environment, workspace))
    }
    /// With this configuration. Finds the skills, and blocks while it does.
    pub fn new(config: Config, environment: &Environment, workspace: &Workspace) -> Self {
        let options = DiscoveryOptions::from(&config.skills);
        let skills = if config.skills.enabled {
            FolderSkills::discover(&options, environment, workspace)
        } else {
            FolderSkills::in_roots(Vec::new(), &DiscoveryOptions::default())
        };
        let (environment, workspace) = (environment.clone(), workspace.clone());
        let sessions = Arc::new(RecentSessions::new(config.context.unnamed_sessions));
        Self {
            config,
            environment,
            workspace,
            skills,
            provided: None,
            sessions,
            load_by: LoadSkillsBy::default(),
            tool_names: Vec::new(),
            answers_skill_tool: false,
            relevant: None,
            #[cfg(feature = "tools")]
            code_skills: None,
        }
    }
    /// With the skills of this registry instead.
    pub fn with_skills(mut self, skills: FolderSkills) -> Self {
        self.skills = skills;
        self
    }
    /// Takes the skills of requests from these providers instead, the folders among them where they shall count; from nobody where `skills.enabled` is
    /// off. [`skills`](Self::skills) are the folders' still.
    pub fn provided_skills(mut self, skills: ProvidedSkills) -> Self {
        self.provided = Some(skills).filter(|_| self.config.skills.enabled);
        self
    }
    /// How the model loads a skill; by its own file tool unless told otherwise.
    pub fn load_skills_by(mut self, way: LoadSkillsBy) -> Self {
        self.load_by = way;
        self
    }
    /// The host answers calls of the skill tool, by [`skill_tool`](Self::skill_tool): its definition is offered, and the catalog says to load skills by
    /// it. Without this the model is offered no tool that nobody answers.
    pub fn answer_skill_tool(mut self) -> Self {
        self.answers_skill_tool = true;
        self.load_by = LoadSkillsBy::Tool(self.config.skills.tool.name.clone());
        self
    }
    /// How the tool names that skills use (`Bash`, `Read`, `Edit`, `Write`) map to the host's.
    pub fn tool_names<A: Into<String>, B: Into<String>>(mut self, names: impl IntoIterator<Item = (A, B)>) -> Self {
        self.tool_names = names.into_iter().map(|(theirs, ours)| (theirs.into(), ours.into())).collect();
        self
    }
    /// Tells the model of these code-backed skills, as far as `skills.code` lets them run: [`code_skills`](Self::code_skills) answers its calls.
    #[cfg(feature = "tools")]
    pub fn with_code_skills(mut self, skills: &crate::tools::CodeSkills, form: crate::tools::ListingForm) -> Self {
        let skills = skills.configured(&self.config.skills.code);
        self.code_skills = Some(crate::tools::CodeSkillsLayer::new(skills).listing(form));
        self
    }
    /// Chooses the invariants that count for a task by this selector, where `invariants.mode` is `relevant`.
    pub fn invariant_selector(mut self, selector: InvariantSelector) -> Self {
        self.relevant = (self.reads_invariants() && self.config.invariants.mode == InvariantsMode::Relevant).then(|| {
            let document = CatalogSource::new(self.invariants_file());
            let chosen = RelevantInvariants::new(document, selector, self.config.invariants.clone());
            match self.environment.state_folder() {
                Some(folder) => chosen.state_folder(&folder),
                None => chosen,
            }
        });
        self
    }

    /// The configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }
    /// The skills in the configured folders.
    pub fn skills(&self) -> &FolderSkills {
        &self.skills
    }

    /// Everything, in the usual order, for requests of this wire.
    pub fn stack<W>(&self, wire: W) -> PromptStack<W> {
        let mut stack = PromptStack::new(wire, self.settings()).with(self.system_prompt());
        if let Some(authority) = self.user_authority() {
            stack = stack.with(authority);
        }
        if let Some(invariants) = self.invariants() {
            stack = stack.with(invariants);
        }
        stack = stack.with(self.sections());
        if let Some(catalog) = self.skill_catalog() {
            stack = stack.with(catalog);
        }
        if let Some(tool) = self.skill_tool_layer() {
            stack = stack.with(tool);
        }
        #[cfg(feature = "tools")]
        if let Some(code_skills) = &self.code_skills {
            stack = stack.with(code_skills.clone());
        }
        stack.with(self.active_skills()).with(self.skill_activation()).with(self.tool_output())
    }
    /// Skills, budgets, and the table of conversations without a session, which all stacks of this assembly share. With the feature `tokens`, tokens
    /// are counted exactly for models whose vocabulary is public.
    pub fn settings(&self) -> Settings {
        let settings = match &self.provided {
            Some(provided) => Settings::default().skills(provided.clone()),
            None => Settings::default().skills(self.skills.clone()),
        };
        #[cfg(feature = "tokens")]
        let settings = settings.counter(crate::TokensByModel::default());
        let targets = &self.config.budget;
        let budget = Budget::default()
            .max_prompt_tokens(targets.max_prompt_tokens.map(NonZeroUsize::get))
            .max_anchored_tokens(targets.max_anchored_tokens.map(NonZeroUsize::get));
        settings
            .budget(budget)
            .sessions(self.sessions.clone())
            .repository_text(self.config.context.repository_text)
            .placement(self.config.context.placement)
            .cache_marks(self.config.context.cache_marks)
            .preview_max_chars(self.config.skills.preview_max_chars)
    }
    /// The base prompt: `system_prompt.mode`, `.text`; with the profiles of `prompt_profile`, unless `sections.model_profile` is off.
    pub fn system_prompt(&self) -> SystemPromptLayer {
        let base = match self.config.system_prompt.mode {
            SystemPromptMode::Replace => SystemPromptLayer::replaced(&*self.config.system_prompt.text).source(Source::Configuration),
            _ => SystemPromptLayer::default(),
        };
        if self.config.system_prompt.sections.model_profile {
            base.profiles(ModelProfiles::from(&self.config.prompt_profile))
        } else {
            base
        }
    }
    /// The policy, unless `sections.user_authority` is off.
    pub fn user_authority(&self) -> Option<UserAuthorityLayer> {
        self.config.system_prompt.sections.user_authority.then_some(UserAuthorityLayer)
    }
    /// `INVARIANTS.md`, unless `invariants.enabled` is off or the workspace is not trusted. Whole in mode `full`, unless
    /// `sections.repository_invariants` is off; in mode `relevant` what the selector chose, and without a selector what the words of each message choose.
    pub fn invariants(&self) -> Option<InvariantsLayer> {
        if !self.reads_invariants() {
            return None;
        }
        let layer = match (self.config.invariants.mode, &self.relevant) {
            (InvariantsMode::Full, _) if !self.config.system_prompt.sections.repository_invariants => return None,
            (InvariantsMode::Full, _) => InvariantsLayer::full(self.invariants_file()),
            (InvariantsMode::Relevant, Some(relevant)) => relevant.layer(),
            (InvariantsMode::Relevant, None) => {
                let words =
                    SelectByWords::new(self.config.invariants.max_selected).note(invariants::without_selector(&self.config.invariants));
                InvariantsLayer::relevant(CatalogSource::new(self.invariants_file()), words)
            }
        };
        Some(layer.limit(chars(self.config.system_prompt.repository_invariants_max_chars)))
    }
    /// By which a host tells the selector of invariants that an answer is committed; `None` without a selector, and where nothing is to be selected.
    pub fn relevant_invariants(&self) -> Option<&RelevantInvariants> {
        self.relevant.as_ref()
    }
    /// The sections of `system_prompt.sections` that are on.
    pub fn sections(&self) -> SectionsLayer {
        let (environment, workspace, prompt) = (|| self.environment.clone(), || self.workspace.clone(), &self.config.system_prompt);
        let profile = self.config.composition.active_profile.as_deref().map(sections::bounded).unwrap_or_default();
        let all = SectionsLayer::default()
            .with(RepositoryContext::new(workspace(), prompt.repository_instructions_max_chars))
            .with(AgentSuffix::new(&*prompt.agent_suffix))
            .with(ExecutionEnvironment::new(environment()))
            .with(HostingEnvironment::new(environment()))
            .with(Locale::new(environment()))
            .with(ToolchainContext::new(environment(), workspace()))
            .with(WorktreeContext::new(environment(), workspace()))
            .with(RuntimeMode::default())
            .with(TextSection::new("config_profile", Tier::Session, profile).source(Source::Configuration))
            .with(CurrentDatetime::new(environment()))
            .with(GitRevision::new(environment(), workspace()))
            .with(DynamicRepositoryContext::new(environment(), workspace(), prompt.git_status_max_chars));
        let on = &prompt.sections;
        let switches = [
            ("repository_context", on.repository_context),
            ("agent_suffix", on.agent_suffix),
            ("execution_environment", on.execution_environment),
            ("hosting_environment", on.hosting_environment),
            ("locale", on.locale),
            ("toolchain_context", on.toolchain_context),
            ("worktree_context", on.worktree_context),
            ("runtime_mode", on.runtime_mode),
            ("config_profile", on.config_profile),
            ("current_datetime", on.current_datetime),
            ("git_revision", on.git_revision),
            ("dynamic_repository_context", on.dynamic_repository_context),
        ];
        switches.into_iter().filter(|(_, on)| !on).fold(all, |sections, (name, _)| sections.without(name))
    }
    /// The catalog, unless `sections.skill_catalog`, `skills.prompt.catalog` or `skills.enabled` switches it off.
    pub fn skill_catalog(&self) -> Option<SkillCatalogLayer> {
        let (skills, shown) = (&self.config.skills, &self.config.skills.prompt);
        let is_on = self.config.system_prompt.sections.skill_catalog && skills.enabled && shown.catalog != CatalogMode::Off;
        is_on.then(|| {
            let mut options = CatalogOptions::default();
            (options.mode, options.format) = (shown.catalog, shown.format);
            (options.max_bytes, options.max_description_chars) = (shown.max_bytes, shown.max_description_chars);
            options.include_sources = shown.include_sources;
            options.include_keywords = shown.include_keywords;
            options.include_locations = shown.include_locations;
            options.include_resources = shown.include_resources;
            options.load_by = self.load_by.clone();
            let own = self.environment.config_home().filter(|_| skills.include_user_skills);
            options.user_folder = own.map(|home| home.join("bcode/skills").to_string_lossy().into_owned());
            let roots = self.skills.roots().iter();
            options.brief_sources = roots.filter(|root| root.rules == RootRules::Brute).map(|root| root.label.clone()).collect();
            if skills.compat.contains(&CompatibleSystem::Brute) {
                // Of brute's stacks this provider's alone has no catalog.
                options.without_for.insert("ollama".into());
            }
            SkillCatalogLayer::new(options)
        })
    }
    /// The skill tool, which answers a model's calls: `skills.tool`, `skills.max_resource_bytes`.
    pub fn skill_tool(&self) -> SkillTool {
        match &self.provided {
            Some(provided) => SkillTool::new(provided.clone(), self.skill_tool_options()),
            None => SkillTool::new(self.skills.clone(), self.skill_tool_options()),
        }
    }
    /// The definition of the skill tool and what it brings into force, where the host said that it [answers](Self::answer_skill_tool) it.
    pub fn skill_tool_layer(&self) -> Option<SkillToolLayer> {
        self.answers_skill_tool.then(|| SkillToolLayer::new(self.skill_tool_options()))
    }
    /// The code-backed skills that the configuration lets run; none, unless [`with_code_skills`](Self::with_code_skills) gave some.
    #[cfg(feature = "tools")]
    pub fn code_skills(&self) -> crate::tools::CodeSkills {
        self.code_skills.as_ref().map(|layer| layer.skills().clone()).unwrap_or_default()
    }
    /// The bodies of skills in force.
    pub fn active_skills(&self) -> ActiveSkillsLayer {
        ActiveSkillsLayer::new(self.skill_context())
    }
    /// Suggestion and activation: `skills.auto_activate`, `skills.matching.max_suggestions`, `skills.commands`.
    pub fn skill_activation(&self) -> SkillActivationLayer {
        let skills = &self.config.skills;
        SkillActivationLayer::new(skills.auto_activate)
            .max_suggestions(skills.matching.max_suggestions)
            .commands(skills.commands)
            .context(self.skill_context())
    }

    /// Bounds on tool results: `model.tool_output`.
    pub fn tool_output(&self) -> ToolOutputLayer {
        let bounds = &self.config.model.tool_output;
        ToolOutputLayer::default().max_chars(bounds.context_chars).max_malformed_argument_chars(Some(bounds.fallback_argument_chars))
    }

    fn reads_invariants(&self) -> bool {
        self.config.invariants.enabled && self.workspace.is_trusted()
    }
    fn invariants_file(&self) -> RepositoryFile {
        let root = self.workspace.root().to_owned();
        RepositoryFile::new(root.join("INVARIANTS.md"), root, MAX_INVARIANTS_BYTES)
    }
    fn skill_tool_options(&self) -> SkillToolOptions {
        let mut options = SkillToolOptions::default();
        options.name.clone_from(&self.config.skills.tool.name);
        options.advertise = self.config.skills.tool.advertise;
        options.max_resource_bytes = self.config.skills.max_resource_bytes;
        options.context = self.skill_context();
        options
    }
    fn skill_context(&self) -> SkillContextOptions {
        let mut options = SkillContextOptions::default();
        options.max_bytes = self.config.skills.max_context_bytes;
        options.tool_names.clone_from(&self.tool_names);
        options
    }
}

fn chars(max: Option<NonZeroUsize>) -> Limit {
    max.map_or(Limit::None, |max| Limit::Chars(max.get()))
}

impl From<&config::SkillsConfig> for DiscoveryOptions {
    fn from(skills: &config::SkillsConfig) -> Self {
        Self {
            include_repo_skills: skills.include_repo_skills,
            include_generic_repo_skills: skills.include_generic_repo_skills,
            include_user_skills: skills.include_user_skills,
            include_compat_claude_skills: skills.include_compat_claude_skills,
            include_agents_skills: skills.include_agents_skills,
            compat: skills.compat.clone(),
            paths: skills.sources.paths.clone(),
            host_roots: Vec::new(),
            max_skill_file_bytes: skills.max_skill_file_bytes,
            max_resource_bytes: skills.max_resource_bytes,
            follow_symlinks: skills.follow_symlinks,
            include_resources: skills.prompt.include_resources,
            disabled: skills.disabled.ids.iter().map(ToString::to_string).collect(),
            overrides: skills.overrides.iter().map(|(id, shown)| (id.to_string(), *shown)).collect(),
            patterns: skills.matching.patterns.iter().map(|(id, patterns)| (id.to_string(), patterns.clone())).collect(),
        }
    }
}
