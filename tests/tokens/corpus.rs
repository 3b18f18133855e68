/// A few KB of each kind of text, written for this.
pub(crate) const ALL: [(&str, &str); 9] = [
    ("english", include_str!("english.txt")),
    ("prompt", include_str!("prompt.txt")),
    ("code", include_str!("code.txt")),
    ("json", include_str!("json.txt")),
    ("chinese", include_str!("chinese.txt")),
    ("japanese", include_str!("japanese.txt")),
    ("korean", include_str!("korean.txt")),
    ("russian", include_str!("russian.txt")),
    ("emoji", include_str!("emoji.txt")),
];
