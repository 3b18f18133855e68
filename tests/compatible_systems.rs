//! Roots of the systems in `skills.compat`: what they find, by whose rules, and in which order.

use serde_json::{Value, json};
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;
use tower_prompt::config::CompatibleSystem::{self, Batbox, Brute, Orcbot};
use tower_prompt::layers::skill::{SkillPlaceholders, SkillRegistry, Skills};
use tower_prompt::layers::wire::Format;
use tower_prompt::layers::{Context, PromptStack, Session};
use tower_prompt::skills::{DiscoveryOptions, FolderSkills, roots};
use tower_prompt::{Environment, Workspace};

struct Place {
    folder: TempDir,
    options: DiscoveryOptions,
}

impl Place {
    fn new(compat: &[CompatibleSystem]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for name in ["work/deep", "home"] {
            fs::create_dir_all(folder.path().join(name)).unwrap();
        }
        let mut options = DiscoveryOptions::default();
        options.compat = compat.to_vec();
        Self { folder, options }
    }
    fn at(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }
    fn write(&self, path: &str, text: &str) {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fn environment(&self) -> Environment {
        Environment::new(self.at("work/deep")).home(self.at("home"))
    }
    fn workspace(&self) -> Workspace {
        Workspace::at(self.at("work"))
    }
    fn skills(&self) -> Skills {
        FolderSkills::discover(&self.options, &self.environment(), &self.workspace()).snapshot()
    }
    fn labels(&self, workspace: &Workspace) -> Vec<String> {
        roots(&self.options, &self.environment(), workspace).iter().map(|root| root.label.clone()).collect()
    }
}

fn ids(skills: &Skills) -> Vec<&str> {
    skills.iter().map(|skill| skill.summary.id.as_str()).collect()
}
fn codes(skills: &Skills) -> Vec<&str> {
    skills.diagnostics().iter().map(|found| &*found.code).collect()
}
fn named(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Does {name}.\n---\nBody.\n")
}

#[test]
fn their_roots_stand_behind_ours_of_the_same_kind() {
    let mut place = Place::new(&[Batbox, Brute, Orcbot]);
    let (workspace, ours) = (place.workspace(), ["user-config:skills", "user-state:skills", "user:.agents/skills", "user:.claude/skills"]);
    let theirs = ["user:.batbox/skills", "user:.config/brute/skills", "user:.orcbot/plugins/skills"];
    let of_the_repository =
        ["repo:.bcode/skills", "repo:skills", "repo:.agents/skills", "repo:.claude/skills", "repo:.batbox/skills", "repo:.brute/skills"];
    let users: Vec<&str> = ours.into_iter().chain(theirs).collect();
    let all: Vec<&str> = of_the_repository.into_iter().chain(users.iter().copied()).collect();
    assert_eq!(place.labels(&workspace), all);
    assert_eq!(place.labels(&workspace.clone().untrusted()), users);
    place.options.include_user_skills = false;
    assert_eq!(place.labels(&workspace), of_the_repository);
    place.options.compat.clear();
    assert_eq!(place.labels(&workspace), of_the_repository[..4]);
}

#[test]
fn batbox_has_flat_files_whose_name_is_their_id() {
    let place = Place::new(&[Batbox]);
    place.write("work/.batbox/skills/file.md", &named("Review Code"));
    place.write("work/.batbox/skills/README.md", "Not a skill.\n");
    place.write("work/.batbox/skills/unnamed.md", "---\ndescription: d\n---\n");
    place.write("work/.batbox/skills/other.md", "---\nid: x\nname: other\ndescription: d\nallowed_tools: Read, Edit\nmodel: m\n---\n");
    place.write("work/.batbox/skills/folder/SKILL.md", &named("folder"));
    place.write("work/.batbox/skills/SKILL.md", &named("at-the-top"));
    let skills = place.skills();
    assert_eq!(ids(&skills), ["Review Code", "at-the-top", "other"]);
    assert_eq!(codes(&skills), ["name-missing"]);
    let other = &skills.get("other").unwrap().summary;
    assert_eq!((other.permissions.tools.as_slice(), other.execution.model.as_deref()), (&["Read".into(), "Edit".into()][..], Some("m")));
    assert_eq!(other.placeholders, SkillPlaceholders::EveryArgs);
}

#[tokio::test]
async fn of_batboxs_skills_the_last_wins_and_the_project_before_the_user() {
    let place = Place::new(&[Batbox]);
    place.write("home/.batbox/skills/a.md", &named("same"));
    place.write("work/.batbox/skills/a.md", &named("same"));
    place.write("work/.batbox/skills/b.md", &named("same").replace("Body", "The last"));
    let skills = place.skills();
    let skill = skills.get("same").unwrap();
    assert!(skill.summary.location.ends_with("work/.batbox/skills/b.md"));
    assert_eq!(codes(&skills), ["skill-shadowed", "skill-shadowed"]);
    assert_eq!(skill.content.load().await.unwrap().body, "The last.\n");
}

#[test]
fn batboxs_project_is_the_nearest_that_is_marked_and_never_above_the_workspace() {
    let place = Place::new(&[Batbox]);
    place.write("work/.batbox/skills/a.md", &named("of-the-root"));
    place.write("work/deep/.batbox/skills/a.md", &named("of-the-folder"));
    place.write("work/deep/.claude/skills/a.md", &named("of-claude"));
    place.write(".batbox/skills/a.md", &named("above"));
    place.write("BATBOX.md", "");
    assert_eq!(ids(&place.skills()), ["of-the-root"]);
    place.write("work/deep/BATBOX.md", "");
    assert_eq!(ids(&place.skills()), ["of-claude", "of-the-folder"]);
}

#[test]
fn orcbot_looks_one_level_down() {
    let place = Place::new(&[Orcbot]);
    let root = "home/.orcbot/plugins/skills";
    let text =
        "---\nname: a\ndescription: Does a.\norcbot:\n  autoActivate: true\n  requiredPackages: [jq]\n  triggerPatterns: ['do a']\n---\n";
    place.write(&format!("{root}/a/SKILL.md"), text);
    place.write(&format!("{root}/deep/er/SKILL.md"), &named("er"));
    place.write(&format!("{root}/flat.md"), &named("flat"));
    place.write(&format!("{root}/readme/README.md"), &named("readme"));
    let skills = place.skills();
    assert_eq!((ids(&skills), codes(&skills)), (vec!["a"], vec![]));
    let summary = &skills.get("a").unwrap().summary;
    assert!(summary.activation.auto_activate && summary.requirements.packages == ["jq"]);
}

#[tokio::test]
async fn brute_looks_below_skills_too_and_leaves_out_what_breaks_a_rule() {
    let place = Place::new(&[Brute]);
    let root = "work/deep/.brute/skills";
    place.write(&format!("{root}/outer/SKILL.md"), &named("outer"));
    place.write(&format!("{root}/outer/parts/inner/SKILL.md"), "---\ndescription: No name.\n---\nInner.\n");
    place.write(&format!("{root}/wrong/SKILL.md"), &named("Other"));
    place.write(&format!("{root}/bare/SKILL.md"), "Text alone.\n");
    place.write(&format!("{root}/flat.md"), &named("flat"));
    place.write(
        &format!("{root}/more/SKILL.md"),
        "---\nid: changed\ndescription: d\nkeywords: [rust]\nvershun: 1\norcbot:\n  autoActivate: true\n---\n",
    );
    place.write("home/.config/brute/skills/outer/SKILL.md", &named("outer"));
    let skills = place.skills();
    assert_eq!(ids(&skills), ["inner", "more", "outer"]);
    assert!(skills.get("outer").unwrap().summary.location.starts_with(place.at("work").to_str().unwrap()));
    let more = &skills.get("more").unwrap().summary;
    assert!(more.activation.keywords.is_empty() && more.activation.auto_activate);
    assert_eq!(skills.get("inner").unwrap().content.load().await.unwrap().body, "Inner.\n");
    assert_eq!(codes(&skills), ["skill-shadowed", "skill-skipped", "field-unknown", "field-unknown", "field-unknown", "skill-skipped"]);
    let skipped = skills.diagnostics().iter().rfind(|found| found.code == "skill-skipped").unwrap();
    assert_eq!((skipped.line, skipped.column), (Some(2), Some(1)));
    assert!(skipped.message.contains("upper-case") && skipped.message.contains("not the folder's name"), "{skipped}");
}

#[test]
fn bundled_files_are_named_where_the_catalog_shows_them() {
    let mut place = Place::new(&[]);
    place.write("work/skills/a/SKILL.md", &named("a"));
    for file in ["scripts/run.sh", "scripts/lib/more.py", "references/api.md", "assets/logo.svg"] {
        place.write(&format!("work/skills/a/{file}"), "");
    }
    for number in 0..20 {
        place.write(&format!("work/skills/a/references/z{number:02}.md"), "");
    }
    assert!(place.skills().get("a").unwrap().summary.resources.is_empty());
    place.options.include_resources = true;
    let skills = place.skills();
    let resources = &skills.get("a").unwrap().summary.resources;
    assert_eq!(resources.scripts, ["lib/more.py", "run.sh"]);
    assert_eq!((resources.references.len(), resources.references[0].as_str()), (10, "api.md"));
}

/// A stack of the configuration in the workspace, which is sound.
fn stack<W>(place: &Place, wire: W) -> PromptStack<W> {
    let loaded = tower_prompt::config::load(&place.environment(), &place.workspace()).unwrap();
    assert_eq!(loaded.findings, []);
    tower_prompt::Assembly::new(loaded.config, &place.environment(), &place.workspace()).stack(wire)
}
/// The system prompt of a request in this format, in this context.
async fn system(place: &Place, format: Format, context: Context) -> String {
    let body = json!({"model": "m", "prompt": "hi", "messages": [{"role": "user", "content": "hi"}]});
    let sent = stack(place, format).assemble(body, context).await;
    let of_a_message = |message: &Value| (message["role"] == "system").then(|| message["content"].to_string());
    let messages = sent["messages"].as_array().unwrap().iter().filter_map(of_a_message).collect::<String>();
    format!("{}{messages}", sent["system"])
}

#[tokio::test]
async fn the_configuration_brings_the_roots_in_and_the_bundled_files_into_the_catalog() {
    let place = Place::new(&[]);
    place.write("work/bcode.toml", "[skills]\ncompat = ['orcbot', 'batbox']\nprompt.include_resources = true\n");
    place.write("home/.orcbot/plugins/skills/from-orcbot/SKILL.md", &named("from-orcbot"));
    place.write("home/.orcbot/plugins/skills/from-orcbot/scripts/run.sh", "");
    place.write("home/.batbox/skills/a.md", &named("from-batbox"));
    for format in [Format::OpenAiChat, Format::Ollama] {
        let sent = system(&place, format, Context::default()).await;
        assert!(sent.contains("<id>from-batbox</id>") && sent.contains("<id>from-orcbot</id>"), "{sent}");
        assert!(sent.contains("<source>user:.orcbot/plugins/skills</source>\\n    <scripts>run.sh</scripts>"), "{sent}");
    }
}

#[tokio::test]
async fn in_brutes_roots_alone_a_skill_is_shown_by_name_and_description() {
    let place = Place::new(&[]);
    place.write("work/bcode.toml", "[skills]\ncompat = ['brute']\nprompt.include_resources = true\n");
    place.write("work/deep/.brute/skills/of-the-repository/SKILL.md", &named("of-the-repository"));
    place.write("work/deep/.brute/skills/of-the-repository/scripts/run.sh", "");
    place.write("home/.config/brute/skills/unnamed/SKILL.md", "---\ndescription: Bears its folder's name.\n---\n");
    place.write("work/skills/ours/SKILL.md", &named("ours"));
    let sent = system(&place, Format::OpenAiChat, Context::default()).await;
    for (name, description) in [("of-the-repository", "Does of-the-repository."), ("unnamed", "Bears its folder's name.")] {
        let entry = format!("<skill>\\n    <name>{name}</name>\\n    <description>{description}</description>\\n  </skill>");
        assert!(sent.contains(&entry), "{sent}");
    }
    assert!(sent.contains("<id>ours</id>") && sent.contains("<source>repo:skills</source>"), "{sent}");
}

#[tokio::test]
async fn with_brute_ollama_gets_no_catalog_and_the_other_providers_do() {
    let place = Place::new(&[]);
    place.write("work/bcode.toml", "[skills]\ncompat = ['brute']\n");
    place.write("work/skills/a/SKILL.md", &named("a"));
    let to = |provider: &str| Context::default().model(provider, "m");
    let cases = [
        (Format::OpenAiChat, Context::default(), true),
        (Format::Anthropic, Context::default(), true),
        (Format::Ollama, Context::default(), false),
        (Format::OllamaGenerate, Context::default(), false),
        // The host knows better than the format does.
        (Format::OpenAiChat, to("ollama"), false),
        (Format::OpenAiChat, to("openai"), true),
        (Format::Anthropic, to("anthropic"), true),
        (Format::Ollama, to("google"), true),
    ];
    for (format, context, has_catalog) in cases {
        let sent = system(&place, format, context.clone()).await;
        assert!(sent.contains("<user_authority>"), "{sent}");
        assert_eq!(sent.contains("<available_skills>"), has_catalog, "{format}, {:?}", context.host.provider);
    }
    place.write("work/bcode.toml", "");
    assert!(system(&place, Format::Ollama, Context::default()).await.contains("<available_skills>"), "it is brute's rule");
}

#[tokio::test]
async fn a_conversation_that_goes_on_with_ollama_keeps_its_catalog_and_is_told_nothing() {
    let place = Place::new(&[]);
    place.write("work/bcode.toml", "[skills]\ncompat = ['brute']\n");
    place.write("work/skills/a/SKILL.md", &named("a"));
    let stack = stack(&place, Format::OpenAiChat);
    let session = Session::new();
    let context = |provider: &str| Context::default().session(session.clone()).model(provider, "m");
    let said = |texts: &[&str]| {
        let roles = ["user", "assistant"].into_iter().cycle();
        let messages: Vec<Value> = texts.iter().zip(roles).map(|(text, role)| json!({"role": role, "content": text})).collect();
        json!({"model": "m", "messages": messages})
    };
    let first = stack.assemble(said(&["one"]), context("anthropic")).await;
    let second = stack.assemble(said(&["one", "yes", "two"]), context("ollama")).await;
    assert_eq!(first["messages"][0], second["messages"][0]);
    assert!(!second["messages"].to_string().contains("skill_catalog is gone"), "{second}");
}
