use super::*;
use crate::prompt::{Shedding, SheddingRank, Tier};
use crate::text::{Block, EstimatedTokens};
use proptest::prelude::*;

fn block(id: &'static str, words: usize) -> Fragment {
    Fragment::new(id, Block::new("note", &"some words of a line\n".repeat(words)))
}
fn standing(fragment: &Fragment) -> Standing<'_> {
    Standing::new(fragment, fragment.limit, fragment.tier > Tier::Session, &EstimatedTokens)
}
fn ids<'f>(standing: &[Standing<'f>]) -> Vec<&'f str> {
    standing.iter().filter(|text| text.shed.is_some()).map(|text| text.fragment.id()).collect()
}

#[test]
fn the_lowest_rank_sheds_first_and_no_more_than_it_must() {
    let fragments = [
        block("never", 20),
        block("own", 20).shedding(SheddingRank::OWN),
        block("far", 20).shedding(SheddingRank::INSTRUCTIONS),
        block("near", 20).shedding(SheddingRank::INSTRUCTIONS),
        block("git", 20).shedding(SheddingRank::GIT),
    ];
    let tags = TailTags::new(&EstimatedTokens);
    let shed_to = |budget| {
        let mut all: Vec<_> = fragments.iter().map(standing).collect();
        shed(&mut all, budget, &EstimatedTokens);
        (ids(&all).join(" "), total(&all, &tags))
    };
    let whole = fragments.iter().map(|f| standing(f).tokens).sum::<usize>() + tags.0[0];
    let each = standing(&fragments[0]).tokens;
    assert_eq!(shed_to(whole), (String::new(), whole));
    for (less, who) in [(10, "git"), (each + 10, "far git"), (2 * each + 10, "far near git"), (3 * each + 10, "own far near git")] {
        let (shed, tokens) = shed_to(whole - less);
        assert_eq!(shed, who);
        assert!(tokens <= whole - less && tokens + 40 > whole - less, "{tokens} of {}", whole - less);
    }
    assert_eq!(shed_to(0), ("own far near git".to_owned(), each + tags.0[0]), "what states no rank stays");
}

#[test]
fn a_floor_holds() {
    let fragment = block("own", 40).shedding(Shedding::at(SheddingRank::OWN).floor(30));
    let mut all = [standing(&fragment)];
    shed(&mut all, 0, &EstimatedTokens);
    let left = &all[0].shed.as_ref().unwrap().fitted;
    assert!(left.is_cut && (20..=30).contains(&EstimatedTokens.count(&left.text)), "{}", left.text);
}

proptest! {
    #[test]
    fn what_sheds_fits_any_budget_in_its_own_limit_too(
        texts in proptest::collection::vec(("[a-z <&é漢\n]{0,200}", 0..3_u8, 0..3_u16, 0..2_u8, 0..120_usize), 0..6),
        budget in 0..400_usize,
    ) {
        let fragments: Vec<Fragment> = texts.iter().enumerate().map(|(n, (text, unit, rank, tail, limit))| {
            let limit = [Limit::None, Limit::Bytes(*limit), Limit::Chars(*limit)][usize::from(*unit)];
            let mut fragment = Fragment::new(n.to_string(), Block::new("note", text)).limit(limit).shedding(SheddingRank::new(*rank));
            fragment.tier = if *tail == 1 { Tier::Turn } else { Tier::Session };
            fragment
        }).collect();
        let mut all: Vec<_> = fragments.iter().map(standing).collect();
        let before = total(&all, &TailTags::new(&EstimatedTokens));
        shed(&mut all, budget, &EstimatedTokens);
        prop_assert!(total(&all, &TailTags::new(&EstimatedTokens)) <= budget);
        prop_assert!(before > budget || ids(&all).is_empty());
        for text in &all {
            if let Some(shed) = &text.shed {
                prop_assert!(Room::new(text.limit, &EstimatedTokens).holds(&shed.fitted.text));
                prop_assert!(EstimatedTokens.count(&shed.fitted.text) <= shed.room);
            }
        }
    }
}
