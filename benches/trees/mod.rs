//! Trees of generated skills: the same bytes for the same seed, in sizes drawn like those of 31,190 distinct public skill files.

use std::fmt::Write;
use std::fs;
use std::path::Path;

/// At these shares of the files lie the sizes below.
const SHARES: [f64; 12] = [0.0, 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 1.0];
const FILE_BYTES: [u32; 12] = [210, 334, 1_250, 1_797, 3_012, 5_744, 10_219, 15_702, 19_766, 34_957, 78_221, 160_170];
const DESCRIPTION_CHARS: [u32; 12] = [20, 38, 66, 90, 152, 253, 364, 519, 599, 808, 1_024, 1_024];
const WORDS: [&str; 40] = [
    "analyze",
    "api",
    "audit",
    "build",
    "cache",
    "check",
    "code",
    "commit",
    "component",
    "config",
    "container",
    "create",
    "data",
    "debug",
    "deploy",
    "design",
    "document",
    "error",
    "event",
    "export",
    "file",
    "format",
    "graph",
    "index",
    "log",
    "migrate",
    "model",
    "monitor",
    "package",
    "pipeline",
    "plan",
    "query",
    "render",
    "report",
    "review",
    "schema",
    "search",
    "test",
    "token",
    "workflow",
];

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).expect("a remainder is less than its divisor, which was a usize")
    }
    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).expect("32 bits are left")) / f64::from(u32::MAX)
    }
    fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "sizes are small and positive")]
    fn size(&mut self, sizes: [u32; 12]) -> usize {
        let share = self.share();
        let at = SHARES.partition_point(|quantile| *quantile <= share).clamp(1, SHARES.len() - 1);
        let (from, to) = (f64::from(sizes[at - 1]), f64::from(sizes[at]));
        (from + (share - SHARES[at - 1]) / (SHARES[at] - SHARES[at - 1]) * (to - from)) as usize
    }
    fn words(&mut self, chars: usize) -> String {
        let mut text = String::from("Use when");
        while text.len() < chars {
            let word = self.word();
            text.push_str([" ", " ", " ", " ", " ", " ", " ", ", "][self.below(8)]);
            text.push_str(word);
        }
        text.truncate(chars.max(2) - 1);
        text.truncate(text.trim_end_matches([' ', ',']).len());
        text.push('.');
        text
    }
}

fn skill(random: &mut Random, name: &str) -> String {
    let bytes = random.size(FILE_BYTES);
    let chars = random.size(DESCRIPTION_CHARS);
    let mut text = format!("---\nname: {name}\n");
    let description = random.words(chars);
    // Plain, in double and in single quotes, in a block.
    let _ = match random.below(100) {
        0..40 => writeln!(text, "description: {description}"),
        40..70 => writeln!(text, "description: \"{description}\""),
        70..82 => writeln!(text, "description: '{description}'"),
        _ => writeln!(text, "description: >-\n  {description}"),
    };
    if random.below(100) < 35 {
        text.push_str("license: MIT\n");
    }
    if random.below(100) < 25 {
        let _ = writeln!(text, "metadata:\n  author: {}\n  version: \"1.{}\"", random.word(), random.below(10));
    }
    if random.below(100) < 25 {
        text.push_str("allowed-tools: Read, Write, Bash(git:*)\n");
    }
    if random.below(100) < 15 {
        let _ = writeln!(text, "version: {}.{}.0", random.below(4), random.below(10));
    }
    let _ = writeln!(text, "---\n\n# {name}\n");
    while text.len() < bytes {
        let paragraph = random.words(240);
        let _ = writeln!(text, "{paragraph}\n");
    }
    text.truncate(bytes.max(text.find("\n---\n").map_or(0, |end| end + 5)));
    text
}

/// Writes so many skills into folders of this one. Their modification times lie back, as those of an installed skill do.
pub(crate) fn make(folder: &Path, count: usize) {
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(1_000);
    for number in 0..count {
        let mut random = Random(number as u64);
        let name = format!("{}-{}-{number:05}", random.word(), random.word());
        let path = folder.join(&name).join("SKILL.md");
        fs::create_dir_all(path.parent().expect("it was joined")).expect("a folder can be made");
        fs::write(&path, skill(&mut random, &name)).expect("a file can be written");
        let file = fs::File::options().write(true).open(&path).expect("it was written");
        file.set_modified(long_ago).expect("it is ours");
    }
}
