//! Who chooses: what is asked, what may be answered, and what is taken over of it.

use super::{Guidance, InvariantCatalog, by_words};
use crate::prompt::{Diagnostic, Purpose, SessionKey};
use crate::{SharedAnswer, SharedService};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::num::NonZeroUsize;
use std::pin::Pin;
use std::sync::Arc;
use tower::{BoxError, Service};

/// What a selector is asked: which of these invariants count for this task?
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SelectionRequest {
    /// The task: at most 32 KiB of what the user, or the host, says of it.
    pub task: String,
    /// The invariants; [`InvariantCatalog::numbered`] is their list.
    pub catalog: Arc<InvariantCatalog>,
    /// More than so many are not taken (`invariants.max_selected`).
    pub max_selected: NonZeroUsize,
    /// Which model is to select (`invariants.selector.model_profile`); `None`: the active one.
    pub model_profile: Option<String>,
}

impl SelectionRequest {
    /// At most so many invariants of this catalog for this task. Of a task over 32 KiB the beginning and the end are kept.
    pub fn new(task: &str, catalog: Arc<InvariantCatalog>, max_selected: NonZeroUsize) -> Self {
        Self { task: bounded(task), catalog, max_selected, model_profile: None }
    }
    /// To be answered by this model.
    pub fn model_profile(mut self, model_profile: Option<String>) -> Self {
        self.model_profile = model_profile;
        self
    }
}

const TASK_HEAD: usize = 24 * 1024;
const TASK_TAIL: usize = 8 * 1024;

pub(crate) fn bounded(task: &str) -> String {
    if task.len() <= TASK_HEAD + TASK_TAIL {
        return task.to_owned();
    }
    let boundary = |from: usize| (from..task.len()).find(|at| task.is_char_boundary(*at)).unwrap_or(task.len());
    let head = &task[..boundary(TASK_HEAD - 3)];
    let tail = &task[boundary(task.len() - TASK_TAIL)..];
    format!("{head}\n[{} bytes left out]\n{tail}", task.len() - head.len() - tail.len())
}

/// What a selector answers. Reads from JSON: `{"numbers": [3, 1], "summary": "Fix the parser"}`.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SelectionResponse {
    /// The numbers of the invariants that count, the most important first. None at all is an answer too.
    pub numbers: Vec<usize>,
    /// The task in short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
}

impl SelectionResponse {
    /// These invariants.
    pub fn new(numbers: impl IntoIterator<Item = usize>) -> Self {
        Self { numbers: numbers.into_iter().collect(), summary: None }
    }
    /// With this summary of the task.
    pub fn summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = Some(summary.into());
        self
    }
    /// What of the answer is taken over: numbers that the catalog has, each once, the first so many of them; and the summary as one bounded line.
    /// What is dropped is told. An answer that names numbers, and none that the catalog has, is an error.
    pub fn accept(self, catalog: &InvariantCatalog, max_selected: NonZeroUsize) -> Result<(Guidance, Option<Diagnostic>), Diagnostic> {
        let (mut taken, mut seen) = (Vec::new(), HashSet::new());
        let (mut unknown, mut twice, mut beyond) = (0_usize, 0_usize, 0_usize);
        for number in &self.numbers {
            if !(1..=catalog.len()).contains(number) {
                unknown += 1;
            } else if !seen.insert(*number) {
                twice += 1;
            } else if taken.len() == max_selected.get() {
                beyond += 1;
            } else {
                taken.push(*number);
            }
        }
        if taken.is_empty() && unknown > 0 {
            let message = format!("the selector named {unknown} invariants, and none of the {} that there are", catalog.len());
            return Err(Diagnostic::warning("selector-failed", message));
        }
        let dropped = [(unknown, "unknown"), (twice, "named twice"), (beyond, "more than may be selected")];
        let dropped: Vec<String> = dropped.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        let told = (!dropped.is_empty())
            .then(|| Diagnostic::warning("selection-dropped", format!("of the selector's numbers were dropped: {}", dropped.join(", "))));
        let guidance = Guidance::of(taken);
        Ok((self.summary.iter().fold(guidance, |guidance, summary| guidance.summary(summary)), told))
    }
}

/// A selection under way.
pub type Selecting = SharedAnswer<SelectionResponse, BoxError>;

/// A `tower::Service` that selects: a model behind a prompt of the host's own, a search index, rules. Cheap to clone.
///
/// ```
/// use std::convert::Infallible;
/// use tower::service_fn;
/// use tower_prompt_layers::invariant::{InvariantSelector, SelectionRequest, SelectionResponse};
///
/// let selector = InvariantSelector::new(service_fn(|request: SelectionRequest| async move {
///     println!("For the task {:?} choose from\n{}", request.task, request.catalog.numbered());
///     Ok::<_, Infallible>(SelectionResponse::new([1]).summary("Fix the parser"))
/// }));
/// # let _ = selector;
/// ```
#[derive(Clone, Debug)]
pub struct InvariantSelector(SharedService<SelectionRequest, SelectionResponse, BoxError>);

impl InvariantSelector {
    /// Asks this service. Each call goes to a clone, which is polled until it is ready first.
    pub fn new<S>(service: S) -> Self
    where
        S: Service<SelectionRequest, Response = SelectionResponse> + Clone + Send + 'static,
        S::Error: Into<BoxError>,
        S::Future: Send,
    {
        Self(SharedService::new(service, Into::into))
    }
    /// Asks.
    pub fn select(&self, request: SelectionRequest) -> Selecting {
        self.0.ask(request)
    }
}

/// What the layer asks at each prompt of the user's.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Asked {
    /// The conversation.
    pub session: SessionKey,
    /// What the request is for: for [`Purpose::SamePrefix`] nothing is to be begun.
    pub purpose: Purpose,
    /// What the user says: at most 32 KiB of it, as in [`SelectionRequest::task`].
    pub task: String,
    /// The invariants.
    pub catalog: Arc<InvariantCatalog>,
}

/// What stands in the prompt.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Chosen {
    /// Nothing: what was said before stays.
    Nothing,
    /// These; of none nothing is said.
    These(Guidance),
    /// The whole document, this once.
    Whole,
}

/// A choice under way, with what was noticed. Its deadline is in it.
pub type Choosing = Pin<Box<dyn Future<Output = (Chosen, Vec<Diagnostic>)> + Send>>;

/// Chooses invariants, at each prompt of the user's.
pub trait ChooseInvariants: Send + Sync {
    /// The choice for this prompt. Must not block.
    fn choose(&self, asked: Asked) -> Choosing;
}

impl<T: ChooseInvariants + ?Sized> ChooseInvariants for Arc<T> {
    fn choose(&self, asked: Asked) -> Choosing {
        (**self).choose(asked)
    }
}

/// Chooses by the words that task and invariants share, anew at each prompt. See [`by_words`].
#[derive(Clone, Debug)]
pub struct SelectByWords {
    max_selected: NonZeroUsize,
    note: Option<Diagnostic>,
}

impl SelectByWords {
    /// At most so many.
    pub fn new(max_selected: NonZeroUsize) -> Self {
        Self { max_selected, note: None }
    }
    /// Says this with each choice.
    pub fn note(mut self, note: Option<Diagnostic>) -> Self {
        self.note = note;
        self
    }
}

impl ChooseInvariants for SelectByWords {
    fn choose(&self, asked: Asked) -> Choosing {
        let numbers = by_words(&asked.task, &asked.catalog, self.max_selected);
        Box::pin(std::future::ready((Chosen::These(Guidance::of(numbers)), Vec::from_iter(self.note.clone()))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariant::Document;

    fn catalog(invariants: usize) -> InvariantCatalog {
        InvariantCatalog::read(Document::new("* a\n".repeat(invariants)))
    }
    fn accept(numbers: impl IntoIterator<Item = usize>, of: usize, max: usize) -> Result<(Vec<usize>, Option<String>), String> {
        let accepted = SelectionResponse::new(numbers).accept(&catalog(of), NonZeroUsize::new(max).unwrap());
        accepted.map(|(guidance, told)| (guidance.numbers().to_vec(), told.map(|told| told.message))).map_err(|failed| failed.message)
    }

    #[test]
    fn of_an_answer_only_what_makes_sense_is_taken_over() {
        assert_eq!(accept([3, 1], 3, 6), Ok((vec![1, 3], None)));
        assert_eq!(accept([], 3, 6), Ok((vec![], None)), "nothing is an answer");
        let (taken, told) = accept([3, 9, 3, 0, 1, 2, 2], 3, 2).unwrap();
        assert_eq!(taken, [1, 3], "the first two that it names");
        let told = told.unwrap();
        assert!(told.ends_with("2 unknown, 2 named twice, 1 more than may be selected"), "{told}");
        assert!(accept([0, 4, usize::MAX], 3, 6).unwrap_err().contains("named 3 invariants, and none of the 3"));
        assert_eq!(accept(1..=1_000_000, 3, 2).unwrap().0, [1, 2]);
    }

    #[test]
    fn an_answer_reads_from_json() {
        let read = |text: &str| serde_json::from_str::<SelectionResponse>(text);
        assert_eq!(read(r#"{"numbers": [2, 1], "summary": "s", "because": "x"}"#).unwrap(), SelectionResponse::new([2, 1]).summary("s"));
        assert!(read(r#"{"numbers": [-1]}"#).is_err() && read(r#"{"summary": "s"}"#).is_err());
    }

    #[test]
    fn of_a_long_task_the_ends_are_kept() {
        let task = format!("begin {} end", "é".repeat(1 << 20));
        let bounded = bounded(&task);
        assert!(bounded.starts_with("begin ") && bounded.ends_with(" end") && bounded.len() <= TASK_HEAD + TASK_TAIL + 40);
        let (head, rest) = bounded.split_once("\n[").unwrap();
        let (left_out, tail) = rest.split_once(" bytes left out]\n").unwrap();
        assert_eq!(head.len() + left_out.parse::<usize>().unwrap() + tail.len(), task.len());
    }
}
