//! The small readers: ids, URLs, sources, usages, commands, a time zone and its file. What one takes is written as it reads it, and keeps what its documentation says;
//! what it refuses has a reason.
//!
//! The first byte says which of them reads the rest.
#![no_main]

use libfuzzer_sys::fuzz_target;
use serde_json::Value;
use std::fmt::{Debug, Display};
use std::str::FromStr;
use std::time::{Duration, UNIX_EPOCH};
use tower_prompt::config::ConfigurationLayer;
use tower_prompt::layers::skill::{HostCommand, SkillId};
use tower_prompt::layers::text::escape;
use tower_prompt::layers::wire::{Format, OllamaGenerate};
use tower_prompt::layers::{Context, PromptStack, SectionsLayer, Settings};
use tower_prompt::proxy::Upstream;
use tower_prompt::sections::{CurrentDatetime, ExecutionEnvironment, Locale};
use tower_prompt::sessions::SessionId;
use tower_prompt::skills::install;
use tower_prompt::skills::validation::RuleSet;
use tower_prompt::tools::Usage;
use tower_prompt::{Environment, skills::install::Source};

/// What is written of it reads as the same.
fn round_trips<T: FromStr<Err: Display> + Display + PartialEq + Debug>(text: &str) -> Option<T> {
    match text.parse::<T>() {
        Ok(read) => {
            let written = read.to_string();
            assert_eq!(written.parse::<T>().unwrap_or_else(|error| panic!("{written:?}: {error}")), read, "{text:?}");
            assert_eq!(read.to_string(), written);
            Some(read)
        }
        Err(reason) => {
            assert!(!reason.to_string().is_empty());
            None
        }
    }
}

fn skill_id(text: &str) {
    if let Some(id) = round_trips::<SkillId>(text) {
        let id = id.as_str();
        assert!((1..=255).contains(&id.len()) && id == id.trim() && !id.contains(['/', '\\']) && !escape::has_invisible(id), "{id:?}");
    }
}

fn upstream(text: &str) {
    let Some((url, path)) = text.split_once('\n') else { return drop(round_trips::<Upstream>(text)) };
    if let Some(upstream) = round_trips::<Upstream>(url)
        && path.starts_with('/')
    {
        assert!(upstream.path(path).ends_with(path), "{url:?} {path:?}");
    }
}

fn usage(text: &str) {
    let Some((usage, arguments)) = text.split_once('\n') else { return drop(round_trips::<Usage>(text)) };
    let Some(usage) = round_trips::<Usage>(usage) else { return };
    assert!(usage.parameters().len() <= 64 && (1..=64).contains(&usage.name().len()));
    let value = serde_json::from_str::<Value>(arguments).unwrap_or_else(|_| arguments.into());
    match usage.arguments(&value) {
        Ok(given) => {
            assert!(usage.parameters().iter().all(|parameter| parameter.is_optional || given.contains_key(&parameter.name)));
            assert_eq!(usage.arguments(&Value::Object(given.clone())), Ok(given), "what passes passes again");
        }
        // Names that the model made up are cut; those of the usage are short.
        Err(why) => assert!(!why.is_empty() && why.len() < 16_000, "{} bytes", why.len()),
    }
}

fn source(text: &str) {
    match Source::new(text, &Environment::new("/nowhere").home("/nowhere")) {
        Ok(Source::Git { url, reference, .. }) => {
            // As git tells a helper.
            let behind = url.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'));
            assert!(!url.starts_with('-') && !behind.starts_with("::") && !url.contains(char::is_control), "{url:?}");
            assert!(reference.is_none_or(|reference| !reference.starts_with('-') && !reference.contains(':')));
        }
        Ok(Source::Npm { packages, version }) => {
            assert!((1..=2).contains(&packages.len()) && packages.iter().all(|name| !name.starts_with('-') && !name.contains(':')));
            assert!(version.is_none_or(|version| !version.is_empty() && !version.starts_with('-') && !version.contains([':', '/'])));
        }
        // Something of this machine's.
        Ok(_) => {}
        Err(error) => assert!(matches!(error, install::InstallError::NoSource { .. }) && !error.to_string().is_empty()),
    }
}

fn command(text: &str) {
    let parsed = HostCommand::parse(text);
    assert_eq!(parsed, HostCommand::parse(text));
    assert!(parsed.is_none() || text.trim_start().starts_with('/'), "{text:?}");
}

/// Each in its block, on its lines, and short.
fn variables(text: &str) {
    let (zone, rest) = text.split_once('\n').unwrap_or((text, ""));
    // A path names any file of this machine.
    if zone.trim_start_matches(':').starts_with(['/', '.']) || text.contains('\0') {
        return;
    }
    told(zone, rest);
}

/// A compiled zone of any bytes.
fn zone_file(bytes: &[u8]) {
    let file = std::env::temp_dir().join(format!("tower-prompt-fuzz-{}", std::process::id()));
    std::fs::write(&file, bytes).expect("a file for a while");
    told(&file.to_string_lossy(), "C");
}

fn told(zone: &str, rest: &str) {
    let clock = || UNIX_EPOCH + Duration::from_secs(1_782_909_015);
    let environment = Environment::new("/").variable("TZ", zone).variable("LANG", rest).variable("LANGUAGE", zone).variable("SHELL", rest);
    let environment = environment.clock(clock);
    let sections = SectionsLayer::default()
        .with(CurrentDatetime::new(environment.clone()))
        .with(Locale::new(environment.clone()))
        .with(ExecutionEnvironment::new(environment));
    let stack = PromptStack::new(OllamaGenerate, Settings::default()).with(sections);
    let mut assembled = std::pin::pin!(stack.assemble(serde_json::json!({"prompt": "hi"}), Context::default()));
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    let std::task::Poll::Ready(sent) = assembled.as_mut().poll(&mut cx) else { unreachable!("nothing of these waits") };
    let all = [&sent["system"], &sent["prompt"]].map(|text| text.as_str().unwrap_or_default().to_owned()).concat();
    for name in ["current_datetime", "locale", "execution_environment"] {
        let tags = [format!("<{name}>"), format!("</{name}>")].map(|tag| all.matches(&tag).count());
        assert!(tags == [1, 1] || name == "locale" && tags == [0, 0], "{all}");
    }
    assert!(all.chars().count() < 4_000 && !escape::has_invisible(&all), "{all:?}");
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else { return };
    if first % 11 == 10 {
        return zone_file(rest);
    }
    let Ok(text) = str::from_utf8(rest) else { return };
    match first % 11 {
        0 => skill_id(text),
        1 => drop(round_trips::<SessionId>(text)),
        2 => upstream(text),
        3 => usage(text),
        4 => source(text),
        5 => command(text),
        6 => drop(round_trips::<Format>(text)),
        7 => drop(round_trips::<ConfigurationLayer>(text)),
        8 => drop(round_trips::<RuleSet>(text)),
        _ => variables(text),
    }
});
