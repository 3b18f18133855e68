//! `skills match`.

use super::run::{SAMPLE, steady};
use crate::place::Place;

#[test]
fn a_match_is_explained() {
    let place = Place::new();
    let run = place.run(&["skills", "match", "--dir", SAMPLE, "the borrow checker rejects my release notes generator"]);
    insta::assert_snapshot!(steady(&format!("{}---\n{}", run.data(), run.stderr), &place));
}

#[test]
fn a_match_as_json_has_id_score_and_what_matched() {
    let place = Place::new();
    place.write(
        "work/skills/deploy-tool.md",
        "---\ndescription: Ships the service to production.\nactivation:\n  keywords: [ship it]\n  file_patterns: ['*.deploy']\n---\n",
    );
    place.write("work/bcode.toml", "[skills.matching]\nmax_suggestions = 1\npatterns.deploy-tool = ['go live']\n");
    let json = place.run(&["skills", "match", "--json", "--file", "a/b.deploy", "ship it, we go live in production"]).json();
    assert_eq!(json["auto_activate"], "suggest");
    let found = &json["matches"][0];
    assert_eq!((&found["id"], &found["effect"], &found["effect_if_on"]), (&"deploy-tool".into(), &"suggests".into(), &"activates".into()));
    let evidence = found["evidence"].as_array().unwrap();
    let kinds: Vec<&str> = evidence.iter().map(|evidence| evidence["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds[..3], ["pattern", "keyword", "file"]);
    assert!(evidence.iter().any(|evidence| evidence["what"] == "production"));
    let sum: f64 = evidence.iter().map(|evidence| evidence["weight"].as_f64().unwrap()).sum();
    assert!((sum - found["score"].as_f64().unwrap()).abs() < 1e-3);
}

#[test]
fn a_text_that_speaks_of_no_skill_is_told_so() {
    let place = Place::new();
    place.skill("meal-planner", "Plans weekly meals.", "");
    let run = place.run(&["skills", "match", "hello there"]);
    assert_eq!((run.data(), &*run.stderr), ("", "The text speaks of none of the 1 skills.\n"));
    assert!(place.run(&["skills", "match", "--json", "hello there"]).json()["matches"].as_array().unwrap().is_empty());
}
