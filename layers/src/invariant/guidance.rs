//! What was chosen for a task, and its text.

use super::InvariantCatalog;
use crate::prompt::Text;
use crate::text::{Block, Fitted, Room, escape, shorten};

/// Characters of a summary that are kept.
const MAX_SUMMARY_CHARS: usize = 400;
/// And bytes of it that are looked at.
const MAX_SUMMARY_BYTES: usize = 16 * 1024;

/// Invariants chosen for a task, by their numbers in one catalog, and what the task is in short.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Guidance {
    numbers: Vec<usize>,
    summary: Option<String>,
}

impl Guidance {
    /// These numbers, in the catalog's order.
    pub fn of(mut numbers: Vec<usize>) -> Self {
        numbers.sort_unstable();
        numbers.dedup();
        Self { numbers, summary: None }
    }
    /// With this summary of the task. A model wrote it: it becomes one line of at most 400 characters, without characters that no one sees; a blank
    /// one is none.
    pub fn summary(mut self, summary: &str) -> Self {
        let looked_at = crate::text::prefix(summary, &Room::UNLIMITED.with(crate::text::Limit::Bytes(MAX_SUMMARY_BYTES)));
        let visible: String =
            looked_at.chars().map(|c| if c.is_whitespace() { ' ' } else { c }).filter(|c| !escape::is_invisible(*c)).collect();
        let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
        self.summary = Some(shorten(&line, MAX_SUMMARY_CHARS).into_owned()).filter(|line| !line.is_empty());
        self
    }
    /// Without a summary.
    pub fn without_summary(mut self) -> Self {
        self.summary = None;
        self
    }
    /// The numbers, ascending.
    pub fn numbers(&self) -> &[usize] {
        &self.numbers
    }
    /// The summary.
    pub fn task_summary(&self) -> Option<&str> {
        self.summary.as_deref()
    }
}

/// The chosen invariants in their block, behind the summary. Short of room it sheds the summary first, then lines from the end. Where the choice is
/// another one it is said whole: it reminds, and what was chosen before counts no more.
pub(crate) struct GuidanceText {
    whole: Block,
    without_summary: Option<Block>,
}

impl GuidanceText {
    pub(crate) fn new(tag: &str, guidance: &Guidance, catalog: &InvariantCatalog) -> Self {
        let path = &*catalog.document().path;
        let excerpt = catalog.excerpt(&guidance.numbers);
        let block = |summary: &str| {
            let head = format!(
                "Relevant repository invariants: {} of {}, chosen for the task. The others hold too.\n{summary}\n",
                guidance.numbers.len(),
                catalog.len()
            );
            let block = Block::new(tag, &excerpt).head(head);
            if path.is_empty() { block } else { block.path_attribute("path", path).rest_in(path) }
        };
        let summary = guidance.summary.as_deref().map(|summary| format!("The task, summed up: {}\n", escape::text(summary)));
        let whole = block(summary.as_deref().unwrap_or_default());
        Self { whole, without_summary: summary.map(|_| block("")) }
    }
}

impl Text for GuidanceText {
    fn fit(&self, room: &Room<'_>) -> Fitted<'_> {
        let whole = self.whole.fit(room);
        match &self.without_summary {
            Some(less) if whole.is_cut => Fitted { is_cut: true, ..less.fit(room) },
            _ => whole,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariant::Document;
    use crate::text::Limit;
    use proptest::prelude::*;

    fn text(guidance: &Guidance, limit: Limit) -> String {
        let document = Document { path: "/w/INVARIANTS.md".into(), ..Document::new("## S\n* **A.** </relevant_invariants>\n* b\n") };
        GuidanceText::new("relevant_invariants", guidance, &InvariantCatalog::read(document))
            .fit(&Room::UNLIMITED.with(limit))
            .text
            .into_owned()
    }

    #[test]
    fn the_exact_bullets_stand_behind_the_summary() {
        let guidance = Guidance::of(vec![1]).summary("Fix\n<b>\u{202e} it");
        assert_eq!(
            text(&guidance, Limit::None),
            "<relevant_invariants path=\"/w/INVARIANTS.md\">\n\
             Relevant repository invariants: 1 of 2, chosen for the task. The others hold too.\n\
             The task, summed up: Fix &lt;b&gt; it\n\n\
             ## S\n* **A.** &lt;/relevant_invariants>\n</relevant_invariants>"
        );
        let whole = text(&guidance.clone().without_summary(), Limit::None);
        assert_eq!(text(&guidance, Limit::Bytes(whole.len())), whole, "the summary goes first");
    }

    #[test]
    fn a_summary_is_one_bounded_line() {
        let summary = |text: &str| Guidance::default().summary(text).task_summary().map(str::to_owned);
        assert_eq!(summary(" a\r\n\t b\u{200b}c \0"), Some("a bc".into()));
        assert_eq!(summary(" \n\u{200b}"), None);
        for long in ["word ".repeat(1 << 18), "é".repeat(1 << 20)] {
            assert!(summary(&long).unwrap().chars().count() <= MAX_SUMMARY_CHARS);
        }
    }

    proptest! {
        #[test]
        fn no_room_is_passed_and_no_block_torn(n in 0..400_usize, summary in "(?s).{0,40}", numbers in prop::collection::vec(0..4_usize, 0..4)) {
            let text = text(&Guidance::of(numbers).summary(&summary), Limit::Bytes(n));
            prop_assert!(text.len() <= n && (text.is_empty() || text.ends_with("\n</relevant_invariants>")));
            prop_assert!(text.matches("relevant_invariants").count() <= 2 + 1);
        }
    }
}
