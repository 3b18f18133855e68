/// A few KB of each kind of text, written for this.
pub(crate) const ALL: [(&str, &str); 14] = [
    ("english", include_str!("english.txt")),
    ("prompt", include_str!("prompt.txt")),
    ("code", include_str!("code.txt")),
    ("json", include_str!("json.txt")),
    ("chinese", include_str!("chinese.txt")),
    ("japanese", include_str!("japanese.txt")),
    ("korean", include_str!("korean.txt")),
    ("russian", include_str!("russian.txt")),
    ("emoji", include_str!("emoji.txt")),
    ("greek", include_str!("greek.txt")),
    ("hebrew", include_str!("hebrew.txt")),
    ("arabic", include_str!("arabic.txt")),
    ("hindi", include_str!("hindi.txt")),
    ("thai", include_str!("thai.txt")),
];

/// Texts that no weight of the estimate was fitted on, written afterwards; scripts and languages among them that the others don't hold.
pub(crate) const ASIDE: [(&str, &str); 16] = [
    ("aside/english", include_str!("aside/english.txt")),
    ("aside/german", include_str!("aside/german.txt")),
    ("aside/python", include_str!("aside/python.txt")),
    ("aside/sql", include_str!("aside/sql.txt")),
    ("aside/json", include_str!("aside/json.txt")),
    ("aside/markdown", include_str!("aside/markdown.txt")),
    ("aside/chinese", include_str!("aside/chinese.txt")),
    ("aside/japanese", include_str!("aside/japanese.txt")),
    ("aside/korean", include_str!("aside/korean.txt")),
    ("aside/ukrainian", include_str!("aside/ukrainian.txt")),
    ("aside/greek", include_str!("aside/greek.txt")),
    ("aside/hebrew", include_str!("aside/hebrew.txt")),
    ("aside/arabic", include_str!("aside/arabic.txt")),
    ("aside/hindi", include_str!("aside/hindi.txt")),
    ("aside/thai", include_str!("aside/thai.txt")),
    ("aside/emoji", include_str!("aside/emoji.txt")),
];
