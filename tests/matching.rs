//! How well suggestions hit, a little under what was reached: `cargo bench --bench matching` prints the figures.

#[path = "matching/measure.rs"]
mod measure;

use measure::{figures, prompts, skills};
use std::collections::BTreeSet;

#[test]
fn the_set_is_large_enough_and_of_a_piece() {
    let (skills, prompts) = (skills(), prompts());
    let ids: BTreeSet<&str> = skills.iter().map(|skill| skill.summary.id.as_str()).collect();
    assert!(ids.len() == skills.len() && skills.len() >= 60);
    assert!(prompts.iter().flat_map(|prompt| &prompt.fitting).all(|id| ids.contains(id)));
    let texts: BTreeSet<&str> = prompts.iter().map(|prompt| &*prompt.text).collect();
    assert!(texts.len() == prompts.len() && prompts.len() >= 600, "{}", prompts.len());
    assert!(prompts.iter().filter(|prompt| prompt.fitting.is_empty()).count() >= 150);
    let kept = prompts.iter().filter(|prompt| prompt.is_kept_aside).count();
    assert!((prompts.len() * 2 / 5..=prompts.len() * 3 / 5).contains(&kept), "{kept}");
}

#[test]
fn the_best_suggestion_fits_and_prompts_that_fit_nothing_get_few() {
    for (size, registries, recall) in [(5, 20, 72.0), (50, 4, 72.0), (500, 1, 67.0), (2_000, 1, 67.0)] {
        let reached = figures(size, registries, true);
        let holds = reached.precision >= 90.0 && reached.recall >= recall && reached.no_fit <= 3.0;
        assert!(holds && reached.absent <= 7.0, "{size} skills: {reached:?}");
    }
}
