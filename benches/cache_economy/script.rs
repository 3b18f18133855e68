//! The conversation, as a caller writes it, and what happens meanwhile. The same in every run.

/// What the caller's history holds.
#[derive(Clone)]
pub(crate) enum Message {
    User(String),
    Answer {
        text: String,
        calls: Vec<usize>,
    },
    /// Of the calls right before, by number.
    Results(Vec<(usize, String)>),
}

/// What happens in the world ahead of a request.
#[derive(Clone)]
pub(crate) enum Happens {
    /// A file is edited: one line of the status comes or goes.
    Edit(usize),
    /// AGENTS.md is edited.
    Instructions(usize),
    /// The skills are read anew, and there is one more.
    Reload,
    /// The host brings a skill into force.
    Activates(&'static str),
    /// What is open in the editor is another passage.
    Opens(String),
}

/// A request.
pub(crate) struct Request {
    /// Seconds since the conversation began.
    pub(crate) at: u64,
    pub(crate) happens: Vec<Happens>,
    pub(crate) messages: Vec<Message>,
}

const SECOND: u64 = 1;
const MINUTE: u64 = 60 * SECOND;
pub(crate) const TURNS: usize = 50;

/// `SplitMix64`.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        usize::try_from((z ^ (z >> 31)) % n.max(1) as u64).expect("below n")
    }
    fn words(&mut self, count: usize) -> String {
        const WORDS: [&str; 24] = [
            "the", "parser", "returns", "a", "value", "when", "each", "test", "of", "module", "reads", "its", "input", "and", "then",
            "error", "while", "cache", "holds", "no", "lock", "for", "this", "branch",
        ];
        (0..count).map(|_| WORDS[self.below(WORDS.len())]).collect::<Vec<_>>().join(" ")
    }
}

struct Writer {
    random: Random,
    at: u64,
    next_call: usize,
    history: Vec<Message>,
    happens: Vec<Happens>,
    requests: Vec<Request>,
}

impl Writer {
    fn new() -> Self {
        Self { random: Random(7), at: 0, next_call: 0, history: Vec::new(), happens: Vec::new(), requests: Vec::new() }
    }
    fn user(&mut self, words: usize) {
        let text = self.random.words(words);
        self.history.push(Message::User(text));
    }
    fn send(&mut self) {
        let happens = std::mem::take(&mut self.happens);
        self.requests.push(Request { at: self.at, happens, messages: self.history.clone() });
        self.at += 4 * SECOND;
    }
    fn tool_round(&mut self, count: usize) {
        let calls: Vec<usize> = (self.next_call..self.next_call + count).collect();
        self.next_call += count;
        let text = self.random.words(12);
        self.history.push(Message::Answer { text, calls: calls.clone() });
        // One in six is large.
        let size = |random: &mut Random| if random.below(6) == 0 { 3000 } else { 60 + random.below(700) };
        let results = calls
            .into_iter()
            .map(|call| {
                (call, {
                    let words = size(&mut self.random);
                    self.random.words(words)
                })
            })
            .collect();
        self.history.push(Message::Results(results));
    }
    fn answer(&mut self) {
        let words = 40 + self.random.below(160);
        let text = self.random.words(words);
        self.history.push(Message::Answer { text, calls: Vec::new() });
    }
}

/// Work in a repository: 50 turns, tool loops with large results, file edits, activations at a turn's start and in mid-loop, a reload, an answer made
/// anew, one compaction, pauses of ten seconds, six minutes and ninety.
pub(crate) fn work() -> Vec<Request> {
    let mut writer = Writer::new();
    for turn in 0..TURNS {
        match turn {
            7 => writer.happens.push(Happens::Activates("rust-debugging")),
            10 | 33 => writer.happens.push(Happens::Instructions(turn)),
            18 => writer.happens.push(Happens::Reload),
            _ => {}
        }
        if turn == 30 {
            writer.history.clear();
            writer.user(600);
            writer.history.push(Message::Answer { text: "I have read the summary.".into(), calls: Vec::new() });
        }
        let words = 15 + writer.random.below(80);
        writer.user(words);
        writer.send();
        for round in 0..writer.random.below(6) {
            if turn % 3 != 0 {
                writer.happens.push(Happens::Edit(writer.random.below(12)));
            }
            if (turn, round) == (15, 1) || (turn, round) == (38, 0) {
                writer.happens.push(Happens::Activates(if turn == 15 { "sql-review" } else { "release-notes" }));
            }
            // Once a turn adds more blocks than a provider looks back.
            let count = if turn == 21 { 14 } else { 1 + writer.random.below(3) };
            writer.tool_round(count);
            writer.send();
        }
        if turn == 12 {
            writer.at += 10 * SECOND;
            writer.send();
        }
        writer.answer();
        writer.at += match turn {
            20 | 40 => 90 * MINUTE,
            _ if turn % 10 == 4 => 6 * MINUTE,
            _ => 10 * SECOND,
        };
    }
    writer.requests
}

/// Talk about what is open in an editor: no tools, short answers, and with each message a passage of a thousand words and more.
pub(crate) fn talk() -> Vec<Request> {
    let mut writer = Writer::new();
    for turn in 0..TURNS {
        let passage = writer.random.words(1200);
        writer.happens.push(Happens::Opens(passage));
        writer.user(25);
        writer.send();
        writer.answer();
        writer.at += if turn % 10 == 4 { 6 * MINUTE } else { 30 * SECOND };
    }
    writer.requests
}
