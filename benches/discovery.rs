//! What finding skills costs, as ratios to a floor that is measured in turns with it, in the same run:
//!
//! * cold: finding and reading all, against opening each folder's `SKILL.md` and reading 4 KiB of it, on one thread;
//! * reload: the same again where nothing changed, against a stat of each file, on one thread;
//! * catalog: rendering it, against the copy of its bytes;
//! * turn: putting a request together where nothing changed since the last one, against the copy of its prompt.
//!
//! `cargo bench --bench discovery` prints a table; `-- 1000` measures one size alone.

mod measure;
mod trees;

use measure::{ready, timed};
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tower_prompt::layers::skill::{SkillRegistry, SkillSourceKind};
use tower_prompt::layers::wire::OllamaGenerate;
use tower_prompt::layers::{Context, PromptRequest, PromptStack, Settings, SkillCatalogLayer};
use tower_prompt::skills::{DiscoveryOptions, FolderSkills, Root};

fn main() {
    let chosen: Vec<usize> = std::env::args().skip(1).filter_map(|argument| argument.parse().ok()).collect();
    println!("{:>7}  {:>18}  {:>18}  {:>18}  {:>18}", "skills", "cold", "reload", "catalog", "turn");
    for (count, rounds) in [(100, 201), (1_000, 61), (10_000, 21)] {
        if chosen.is_empty() || chosen.contains(&count) {
            measure(count, rounds);
        }
    }
}

fn measure(count: usize, rounds: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    trees::make(folder.path(), count);
    let files = files(folder.path());
    let root = || vec![Root::new(folder.path(), SkillSourceKind::Configured, "configured:0")];
    let options = DiscoveryOptions::default();

    // What changed a moment ago is read again: stamps are coarse. An installed skill is older.
    std::thread::sleep(Duration::from_secs(2));
    let skills = FolderSkills::in_roots(root(), &options);
    assert_eq!(skills.snapshot().len(), count);
    assert_eq!(read_each(&files), count);

    let cold = in_turns(rounds, || read_each(&files), || FolderSkills::in_roots(root(), &options));
    let reload = in_turns(rounds, || stat_each(&files), || skills.reload());
    let settings = Settings::default().skills(skills.snapshot());
    let request = || serde_json::json!({"prompt": "hi"});
    let stack = PromptStack::new(OllamaGenerate, settings.clone()).with(SkillCatalogLayer::default());
    let turn = || ready(stack.assemble(request(), Context::default()));
    let text = turn()["system"].as_str().expect("a catalog is there").to_owned();
    let catalog = in_turns(
        rounds,
        || text.clone(),
        || {
            let mut prompt = PromptRequest::open(&OllamaGenerate, request(), Context::default(), &settings);
            // A layer that has rendered nothing yet.
            prompt.collect(&SkillCatalogLayer::default());
            prompt
        },
    );
    let turn = in_turns(rounds, || text.clone(), turn);
    println!("{count:>7}  {cold:>18}  {reload:>18}  {catalog:>18}  {turn:>18}");
}

/// The files, in the order in which they are found.
fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("it was made");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("it can be read").path().join("SKILL.md")).collect();
    files.sort_unstable();
    files
}

fn read_each(files: &[PathBuf]) -> usize {
    let mut buffer = [0; 4 * 1024];
    files.iter().filter(|path| File::open(path).and_then(|mut file| file.read(&mut buffer)).is_ok_and(|length| length > 0)).count()
}

fn stat_each(files: &[PathBuf]) -> usize {
    files.iter().filter(|path| fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())).count()
}

/// The fastest of `work` over the fastest of `floor`, and the former: whatever else the machine does only adds to them.
fn in_turns<A, B>(rounds: usize, floor: impl Fn() -> A, work: impl Fn() -> B) -> String {
    let (mut of_floor, mut of_work) = (Duration::MAX, Duration::MAX);
    for _ in 0..rounds {
        of_floor = of_floor.min(timed(&floor));
        of_work = of_work.min(timed(&work));
    }
    format!("{:.2} ({of_work:.1?})", of_work.as_secs_f64() / of_floor.as_secs_f64())
}
