//! Each key of `[invariants]`, as `render` and `explain` show it.

use crate::place::Place;
use tower_prompt::layers::{Manifest, Placement, Severity, Tier};

const DOCUMENT: &str =
    "## Counting\n* **Words.** A word is a run of letters.\n* **Lines.** The last line counts.\n## Output\n* **Tabs.** Always.\n";
const MESSAGE: &str = "Count words and lines";

fn explained(config: &str) -> Manifest {
    let place = Place::new();
    place.write("work/INVARIANTS.md", DOCUMENT);
    place.write("work/bcode.toml", config);
    serde_json::from_str(place.run(&["explain", "--json", "-m", MESSAGE]).data()).unwrap()
}

/// The fragments of invariants: their ids, where they stand, and their texts.
fn invariants(manifest: &Manifest) -> Vec<(String, Placement, String)> {
    let all = manifest.texts.iter().flat_map(|text| text.fragments.iter().map(move |fragment| (text, fragment)));
    all.filter(|(_, fragment)| fragment.id.ends_with("_invariants"))
        .map(|(text, of)| (of.id.clone(), text.placement, text.text[of.offset..of.offset + of.bytes].to_owned()))
        .collect()
}
fn titles(manifest: &Manifest) -> Vec<&str> {
    let said = invariants(manifest);
    ["Words", "Lines", "Tabs"].into_iter().filter(|title| said.iter().any(|(.., text)| text.contains(&format!("**{title}.**")))).collect()
}

#[test]
fn full_is_in_the_system_prompt_and_relevant_behind_the_message() {
    let full = explained("");
    assert_eq!(titles(&full), ["Words", "Lines", "Tabs"]);
    assert_eq!(invariants(&full)[0].1, Placement::System);
    let relevant = explained("invariants.mode = 'relevant'");
    let said = invariants(&relevant);
    assert_eq!((said.len(), &*said[0].0, said[0].1), (1, "relevant_invariants", Placement::BehindMessage(0)));
    assert!(
        said[0]
            .2
            .ends_with("## Counting\n* **Words.** A word is a run of letters.\n* **Lines.** The last line counts.\n</relevant_invariants>")
    );
    assert_eq!(relevant.fragments().find(|(_, fragment)| fragment.id == said[0].0).unwrap().1.tier, Tier::Turn);
}

#[test]
fn each_key_shows() {
    let relevant = "invariants.mode = 'relevant'\n";
    for (config, expected) in [
        ("invariants.enabled = false", &[][..]),
        ("invariants.enabled = false\ninvariants.mode = 'relevant'", &[]),
        ("system_prompt.sections.repository_invariants = false", &[]),
        ("system_prompt.sections.repository_invariants = false\ninvariants.mode = 'relevant'", &["Words", "Lines"]),
        ("invariants.mode = 'relevant'\ninvariants.max_selected = 1", &["Words"]),
        ("invariants.mode = 'relevant'\nsystem_prompt.repository_invariants_max_chars = 1", &[]),
    ] {
        assert_eq!(titles(&explained(config)), expected, "{config}");
    }
    // The program has no selector: of a key that only a selector heeds, it says that.
    let keys = ["include_task_summary = false", "selector.model_profile = 'small'", "selector.initial_timeout_ms = 5"];
    let more = ["selector.background_timeout_ms = 5", "selector.wait_for_background_on_next_prompt = true"];
    let rest = ["selector.cancel_on_timeout = true", "selector.cancel_stale = true", "selector.on_timeout = 'none'"];
    for line in keys.iter().chain(&more).chain(&rest) {
        let manifest = explained(&format!("{relevant}invariants.{line}"));
        let key = line.split(' ').next().unwrap();
        let [note] = &*manifest.diagnostics else { panic!("{line}: {:?}", manifest.diagnostics) };
        assert_eq!((&*note.code, note.severity), ("selector-missing", Severity::Warning));
        assert!(note.message.starts_with(&format!("`invariants.{key}`: ")), "{line}: {}", note.message);
        assert_eq!(titles(&manifest), ["Words", "Lines"], "{line}");
    }
    assert!(explained(relevant).diagnostics.is_empty());
}

#[test]
fn render_prints_what_was_chosen_and_no_key_is_said_to_be_without_effect() {
    let place = Place::new();
    place.write("work/INVARIANTS.md", DOCUMENT);
    place.write("work/bcode.toml", "[invariants]\nmode = 'relevant'\nselector.on_timeout = 'none'\nselector.cancel_stale = true\n");
    let run = place.run(&["render", "-m", MESSAGE]);
    assert!(run.data().contains("\n* **Words.** A word is a run of letters.\n") && !run.data().contains("**Tabs.**"));
    assert!(run.stderr.contains("selector-missing") && !run.stderr.contains("key-without-effect"), "{}", run.stderr);
    let untrusted = place.run(&["render", "--untrusted", "-m", MESSAGE]);
    assert!(!untrusted.data().contains("invariants"), "{}", untrusted.stdout);
}
