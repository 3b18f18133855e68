//! What a program may do to its host: nothing, but for a diagnostic.

use super::script::{LONG, Script, body, of};
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};
use tower_prompt::layers::skill::provider::{InvokeSkillRequest, SharedProvider, SkillErrorCode};
use tower_prompt::providers::{ProcessProvider, ProviderProgram};

/// Waits until `is` holds, and no longer than any test would.
fn until(is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < LONG, "it never came to that");
        std::thread::yield_now();
    }
}
/// Whether a process of this number runs, as the script noted it.
fn runs(note: &Path) -> bool {
    let number = fs::read_to_string(note).unwrap_or_default();
    let state = fs::read_to_string(format!("/proc/{}/stat", number.trim())).unwrap_or_default();
    !number.trim().is_empty() && !state.is_empty() && !state.contains(") Z ")
}

#[tokio::test]
async fn a_program_that_does_its_part_is_started_once() {
    let script = Script::new("while :; do next; case $line in *list*) list ;; *) body ;; esac; done");
    let provider = script.provider();
    assert_eq!(script.starts(), 0, "nobody asked yet");
    let list = provider.list().await.unwrap();
    assert_eq!((list.skills[0].id.as_str(), &*list.skills[0].source.label, list.diagnostics.len()), ("a", "plugin:script", 0));
    for id in ["a", "b", "c"] {
        assert_eq!(body(&provider, id).await.unwrap(), format!("of {id}"));
    }
    assert_eq!(script.starts(), 1);
}

#[tokio::test]
async fn it_finds_path_home_and_lang_and_nothing_else() {
    let script = Script::new("next; env | cut -d= -f1 | sort > names; pwd > where; list");
    let environment = script.environment().variable("LANG", "C").home(script.place.at("home")).variable("LD_PRELOAD", "x");
    let program = ProviderProgram::new("p", "sh", &environment).arguments([script.place.at("provider.sh")]);
    SharedProvider::new(ProcessProvider::new(program)).list().await.unwrap();
    let noted = |name: &str| fs::read_to_string(script.place.at("work").join(name)).unwrap();
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    let names: Vec<String> = noted("names").lines().filter(|name| !own.contains(name)).map(str::to_owned).collect();
    assert_eq!(names, ["HOME", "LANG", "PATH"]);
    assert_eq!(noted("where").trim(), script.place.shown("work"));
}

#[tokio::test]
async fn a_program_is_named_by_an_absolute_path_or_found_on_the_path() {
    let script = Script::new("next; list");
    let environment = script.environment();
    for (program, why) in
        [("./sh", "neither absolute nor a name"), ("no-such-program-of-this-name", "not on `PATH`"), ("/nowhere/x", "could not be started")]
    {
        let provider = SharedProvider::new(ProcessProvider::new(ProviderProgram::new("p", program, &environment)));
        let error = provider.list().await.unwrap_err();
        assert_eq!(error.code, SkillErrorCode::Unavailable);
        assert!(error.message.contains(why), "{program}: {error}");
    }
}

#[tokio::test]
async fn a_crash_tells_how_and_what_was_complained_of() {
    let script = Script::new("next; echo \"no  such\ndatabase\" >&2; exit 3");
    let error = script.provider().list().await.unwrap_err();
    assert_eq!(error.to_string(), "it ended (exit status: 3); it complained: no such database");
}

#[tokio::test]
async fn who_ends_in_the_middle_of_a_line_gave_no_answer() {
    let script = Script::new("next; printf '{\"api\":\"bcode.skill/v1\",\"id\":%s,\"kind\":\"list\",\"ski' \"$id\"");
    let error = script.provider().list().await.unwrap_err();
    assert_eq!((error.code, error.to_string()), (SkillErrorCode::Unavailable, "it ended (exit status: 0)".into()));
}

#[tokio::test]
async fn who_crashes_is_started_again_once_its_pause_is_over() {
    let script = Script::new("next; list; next; exit 1");
    let provider = script.provider();
    for (starts, pause) in [(1, 250), (2, 500), (3, 1000), (4, 2000)] {
        provider.list().await.unwrap();
        assert!(body(&provider, "a").await.is_err());
        let error = provider.list().await.unwrap_err();
        assert!(error.message.ends_with(&format!("it may be started again in {pause} ms")), "{error}");
        assert_eq!(script.starts(), starts, "within the pause nothing is started");
        script.later(2);
    }
    script.later(60);
    provider.list().await.unwrap();
    script.later(60);
    assert!(body(&provider, "a").await.is_err());
    assert!(provider.list().await.unwrap_err().message.ends_with("in 250 ms"), "it ran for a minute");
}

#[tokio::test]
async fn who_hangs_is_late_and_killed_with_all_that_it_started() {
    let script = Script::new("next; sleep 600 & echo $! > child; echo $$ > own; list; next; trap '' TERM; sleep 600");
    let (provider, begun) = (script.hurried(), Instant::now());
    provider.list().await.unwrap();
    let noted = |name: &str| script.place.at("work").join(name);
    assert!(runs(&noted("own")) && runs(&noted("child")));
    let error = provider.list().await.unwrap_err();
    assert_eq!((error.code, &*error.message), (SkillErrorCode::Late, "it did not answer `list` within 2000 ms"));
    assert!(begun.elapsed() < LONG);
    until(|| !runs(&noted("own")) && !runs(&noted("child")));
    assert!(provider.list().await.unwrap_err().message.starts_with("it said nothing for 2000 ms; it was ended"));
}

#[tokio::test]
async fn who_reads_nothing_holds_nobody_up() {
    let script = Script::new("sleep 600");
    let provider = script.hurried();
    let long = InvokeSkillRequest::new(of("a").skill).input("x".repeat(900_000));
    let asked: Vec<_> = (0..40)
        .map(|_| {
            tokio::spawn({
                let (provider, long) = (provider.clone(), long.clone());
                async move { provider.invoke(long).await }
            })
        })
        .collect();
    let mut codes = Vec::new();
    for answer in asked {
        codes.push(answer.await.unwrap().unwrap_err().code);
    }
    assert!(codes.contains(&SkillErrorCode::Late) && codes.contains(&SkillErrorCode::Unavailable), "{codes:?}");
}

#[tokio::test]
async fn who_floods_is_ended() {
    let floods = [
        (
            "a line without end",
            "next; while :; do printf xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx; done",
            "more than 1048576 bytes",
        ),
        ("lines", "next; while :; do echo flood; done", "lines that answer nothing"),
        ("blank lines", "next; while :; do echo; done", "lines that answer nothing"),
        (
            "a list without end",
            "next; while :; do say '\"kind\":\"list\",\"skills\":[{\"id\":\"a\",\"description\":\"\"},{\"id\":\"a\",\"description\":\"\"},{\"id\":\"a\",\"description\":\"\"},{\"id\":\"a\",\"description\":\"\"},{\"id\":\"a\",\"description\":\"\"}],\"more\":true'; done",
            "or 10000 skills",
        ),
        (
            "a long line of a list",
            "next; x=$(head -c 70000 /dev/zero | tr '\\0' x); say \"\\\"kind\\\":\\\"list\\\",\\\"skills\\\":[],\\\"x\\\":\\\"$x\\\"\"; sleep 600",
            "more than 65536 bytes",
        ),
    ];
    for (what, script, why) in floods {
        let script = Script::new(script);
        let error = script.provider().list().await.unwrap_err();
        assert_eq!(error.code, SkillErrorCode::TooLarge, "{what}: {error}");
        assert!(error.message.contains(why) && error.message.contains("it was ended"), "{what}: {error}");
    }
}

#[tokio::test]
async fn a_flood_of_complaints_is_read_and_bounded() {
    let script = Script::new(
        "next; n=0; while [ $n -lt 3000 ]; do echo 'a complaint, and a long one at that' >&2; n=$((n+1)); done; list; next; exit 1",
    );
    let provider = script.provider();
    provider.list().await.unwrap();
    let error = body(&provider, "a").await.unwrap_err();
    assert!(error.message.contains("a complaint") && error.message.len() < 300, "{error}");
}

#[tokio::test]
async fn a_body_may_be_longer_than_a_line_of_a_list() {
    let script =
        Script::new("next; x=$(head -c 200000 /dev/zero | tr '\\0' x); say \"\\\"kind\\\":\\\"context\\\",\\\"body\\\":\\\"$x\\\"\"; next");
    assert_eq!(body(&script.provider(), "a").await.unwrap().len(), 200_000);
}

#[tokio::test]
async fn another_version_is_an_error_and_no_crash() {
    let script =
        Script::new("while :; do next; printf '{\"api\":\"bcode.skill/v2\",\"id\":%s,\"kind\":\"list\",\"skills\":[]}\\n' \"$id\"; done");
    let provider = script.provider();
    for _ in 0..2 {
        let error = provider.list().await.unwrap_err();
        assert_eq!(error.code, SkillErrorCode::Version);
        assert!(error.message.contains("`bcode.skill/v2`"), "{error}");
    }
    assert_eq!(script.starts(), 1);
}

#[tokio::test]
async fn lines_that_are_no_answers_are_told_and_passed_over() {
    let script = Script::new("echo Loading...; next; echo '[1]'; echo '{\"id\":99}'; list; next; body; next");
    let provider = script.provider();
    let list = provider.list().await.unwrap();
    let [found] = &list.diagnostics[..] else { panic!("{list:?}") };
    assert_eq!((list.skills.len(), &*found.code), (1, "provider-stray"));
    assert!(
        found
            .message
            .starts_with("the skill provider plugin:script: it printed 3 lines that answer nothing, one of them a line that is no JSON")
    );
    assert!(found.message.ends_with("\"Loading...\""), "{found}");
    assert!(provider.context(of("a")).await.unwrap().diagnostics.is_empty(), "it was told");
}

#[tokio::test]
async fn garbage_alone_is_late_and_says_so() {
    let script = Script::new("next; echo '<html>'; sleep 600");
    let error = script.hurried().list().await.unwrap_err();
    assert_eq!(error.code, SkillErrorCode::Late);
    assert!(error.message.contains("it printed 1 lines that answer nothing") && error.message.ends_with("\"<html>\""), "{error}");
}

#[tokio::test]
async fn an_answer_of_another_kind_or_for_another_skill_is_none() {
    let script =
        Script::new("next; list; next; say '\"kind\":\"describe\",\"manifest\":{\"id\":\"b\",\"description\":\"\"}'; next; list; next");
    let provider = script.provider();
    assert_eq!(body(&provider, "a").await.unwrap_err().message, "asked for `context`, it answered `list`");
    assert_eq!(provider.describe(of("a").skill).await.unwrap_err().message, "asked for `a`, it described `b`");
    assert_eq!(provider.list().await.unwrap().skills.len(), 1, "and it goes on");
}

#[tokio::test]
async fn answers_find_their_requests_in_any_order() {
    let script = Script::new(
        "next; one=$id; next; two=$id; id=$two; say '\"kind\":\"context\",\"body\":\"second\"'; id=$one; say '\"kind\":\"context\",\"body\":\"first\"'; next",
    );
    let provider = script.provider();
    let (first, second) = tokio::join!(body(&provider, "a"), body(&provider, "b"));
    assert_eq!((first.unwrap(), second.unwrap()), ("first".to_owned(), "second".to_owned()));
}

#[tokio::test]
async fn a_request_that_is_dropped_leaves_the_process_and_its_answer_is_passed_over() {
    let script = Script::new("next; one=$id; next; two=$id; id=$one; body; id=$two; list; while :; do next; list; done");
    let provider = script.provider();
    let mut dropped = Box::pin(provider.context(of("a")));
    assert!(tokio::time::timeout(Duration::ZERO, &mut dropped).await.is_err());
    drop(dropped);
    for _ in 0..3 {
        let list = provider.list().await.unwrap();
        assert_eq!((list.skills.len(), list.diagnostics.len()), (1, 0));
    }
    assert_eq!(script.starts(), 1);
}

#[tokio::test]
async fn who_answers_others_is_late_and_not_killed() {
    // The first waits until the second was answered, and longer.
    let script =
        Script::new("next; one=$id; next; list; while [ ! -e go ]; do sleep 0.05; done; id=$one; body; while :; do next; list; done");
    let provider = script.hurried();
    let (late, list) = tokio::join!(body(&provider, "a"), provider.list());
    assert_eq!((late.unwrap_err().code, list.unwrap().skills.len()), (SkillErrorCode::Late, 1));
    script.place.write("work/go", "");
    assert_eq!(provider.list().await.unwrap().diagnostics, [], "the late answer is known for what it is");
    assert_eq!(script.starts(), 1);
}

#[tokio::test]
async fn it_ends_with_the_last_who_could_ask() {
    let script = Script::new("echo $$ > own; next; list; trap '' TERM; exec sleep 600");
    let provider = script.provider();
    let other = provider.clone();
    provider.list().await.unwrap();
    drop(provider);
    let own = script.place.at("work").join("own");
    assert!(runs(&own));
    drop(other);
    until(|| !runs(&own));
}

#[test]
fn no_runtime_is_needed() {
    let script = Script::new("next; list; next");
    let asked = script.provider();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    assert_eq!(runtime.block_on(asked.list()).unwrap().skills.len(), 1);
}
