//! `INVARIANTS.md` of any text, what a selector answers, and the file that keeps a choice: invariants are slices of the document in its order, what is
//! chosen is among them and no more than may be, and a file of any bytes is taken up or told of, never in the way.
//!
//! An input is the document, and behind lines `===` a selector's answer in JSON, then a kept file, in which `DIGEST` stands for the document's own, then
//! the task.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use tower::service_fn;
use tower_prompt::config::Config;
use tower_prompt::invariants::RelevantInvariants;
use tower_prompt::layers::invariant::{
    CatalogSource, Document, DocumentSource, InvariantCatalog, InvariantSelector, ReadingDocument, SelectionRequest, SelectionResponse,
    by_words,
};
use tower_prompt::layers::wire::OllamaGenerate;
use tower_prompt::layers::{ContentHash, Context, Event, PromptStack, Report, Session, Settings};

const BREAK: &str = "\n===\n";
const MAX: NonZeroUsize = NonZeroUsize::new(6).expect("it is not zero");
/// Of a summary, as the layer documents it.
const MAX_SUMMARY_CHARS: usize = 400;

fn state_folder() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let folder = if Path::new("/dev/shm").is_dir() { "/dev/shm".into() } else { std::env::temp_dir() };
        let folder = folder.join(format!("tower-prompt-fuzz-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("invariants")).expect("a folder for a while");
        folder
    })
}

#[derive(Clone)]
struct Text(String);

impl DocumentSource for Text {
    fn read(&self) -> ReadingDocument {
        let mut document = Document::new(&*self.0);
        document.path = "INVARIANTS.md".into();
        Box::pin(std::future::ready(Ok(Some(document))))
    }
}

fn is_read(text: &str, task: &str) -> InvariantCatalog {
    let catalog = InvariantCatalog::read(Document::new(text));
    assert_eq!(catalog, InvariantCatalog::read(Document::new(text)));
    let lines = text.split('\n').count();
    assert!(catalog.diagnostics().all(|found| found.line.is_some_and(|line| (1..=lines).contains(&(line as usize)))));
    let mut behind = 0;
    for (n, invariant) in catalog.iter().enumerate() {
        let at = invariant.text.as_ptr() as usize - catalog.document().text.as_ptr() as usize;
        assert!(at >= behind && &text[at..at + invariant.text.len()] == invariant.text, "{invariant:?} is where it stands");
        assert!(invariant.text.starts_with(['*', '-']) && invariant.text == invariant.text.trim_end(), "{invariant:?}");
        assert_eq!((invariant.number, catalog.get(n + 1)), (n + 1, Some(invariant)));
        assert!(invariant.title().is_none_or(|title| invariant.text.contains(title)));
        behind = at + invariant.text.len();
    }
    assert!(catalog.get(0).is_none() && catalog.get(catalog.len() + 1).is_none());
    let numbered = catalog.numbered();
    assert!(catalog.iter().all(|invariant| numbered.contains(&format!("[{}] {}\n", invariant.number, invariant.text))));
    let chosen = by_words(task, &catalog, MAX);
    assert!(chosen.len() <= MAX.get() && chosen.is_sorted() && chosen.iter().all(|number| catalog.get(*number).is_some()), "{chosen:?}");
    assert_eq!(by_words(task, &catalog, MAX), chosen);
    catalog
}

fn are_chosen(numbers: &[usize], catalog: &InvariantCatalog) {
    assert!(numbers.len() <= MAX.get() && numbers.is_sorted_by(|one, other| one < other), "{numbers:?}");
    assert!(numbers.iter().all(|number| catalog.get(*number).is_some()), "{numbers:?} of {}", catalog.len());
}

async fn through_the_stack(text: &str, answer: Option<SelectionResponse>, task: &str, catalog: &InvariantCatalog) {
    let selector = service_fn(move |_: SelectionRequest| std::future::ready(answer.clone().ok_or("it does not answer")));
    let mut options = Config::default().invariants;
    options.max_selected = MAX;
    let relevant = RelevantInvariants::new(CatalogSource::new(Text(text.to_owned())), InvariantSelector::new(selector), options);
    let relevant = relevant.state_folder(state_folder());
    let (session, report) = (Session::new(), Report::default());
    relevant.keep(&session, "id");
    let stack = PromptStack::new(OllamaGenerate, Settings::default()).with(relevant.layer());
    let body = serde_json::json!({"prompt": task});
    let context = || Context::default().session(session.clone()).report(report.clone());
    let sent = stack.assemble(body.clone(), context()).await;
    let manifest = report.manifest().expect("it was assembled");
    assert!(sent["prompt"].as_str().is_some_and(|prompt| prompt.starts_with(task)));
    for event in &manifest.events {
        if let Event::InvariantsSelected { numbers } = event {
            are_chosen(numbers, catalog);
        }
    }
    relevant.answer_committed(&session, task);
    relevant.idle(&session).await;
    assert_eq!(stack.assemble(body, context()).await, sent, "a retry");
}

fuzz_target!(|text: &str| {
    let parts: Vec<&str> = text.splitn(4, BREAK).collect();
    let part = |n: usize| parts.get(n).copied().unwrap_or_default();
    let (document, task) = (part(0), if part(3).is_empty() { "the task" } else { part(3) });
    let catalog = is_read(document, task);
    let answer: Option<SelectionResponse> = serde_json::from_str(part(1)).ok();
    if let Some(answer) = answer.clone()
        && let Ok((guidance, _)) = answer.accept(&catalog, MAX)
    {
        are_chosen(guidance.numbers(), &catalog);
        assert!(guidance.task_summary().is_none_or(|summary| {
            let chars = summary.chars().count();
            (1..=MAX_SUMMARY_CHARS).contains(&chars) && !summary.contains(char::is_control)
        }));
    }
    let kept = state_folder().join("invariants").join(format!("{}.json", ContentHash::of("id")));
    std::fs::write(&kept, part(2).replace("DIGEST", &catalog.digest().to_string())).expect("a file for a while");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("one thread");
    runtime.block_on(through_the_stack(document, answer, task, &catalog));
});
