//! The table of keys: what `bcode.toml` may hold, of what kind, and what stands where nothing is set.
//!
//! The one place for defaults and allowed words. Checking, typing of variables, suggestions and the defaults of [`Config`](super::Config) all
//! read it; [`table`](super::table) holds its rows.

use super::table::KEYS;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// One key.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Key {
    /// Dotted. A segment in upper case (`ID`, `NAME`) stands for any id.
    pub path: &'static str,
    /// What its value may be.
    pub kind: KeyKind,
    /// As TOML text. In a key with an id: what holds where the id's table leaves it out.
    pub default: Option<&'static str>,
    /// One line that says what it does.
    pub doc: &'static str,
}

/// What a value may be.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum KeyKind {
    /// `true` or `false`.
    Bool,
    /// Any text.
    Text,
    /// Text in a form.
    Form(TextForm),
    /// A whole number from 1.
    NonZero,
    /// A whole number from 1; left out, there is no limit.
    OptionalNonZero,
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A skill's id.
    SkillId,
    /// A regular expression. One that is faulty is reported, and matches nothing.
    Pattern,
    /// A configuration profile's id, compared trimmed and lower-cased.
    ProfileId,
    /// A layer of configuration: `defaults`, `config`, `profile:active` or `profile:ID`.
    Layer,
    /// A path; `~` is the home folder, and a relative one hangs from the folder of the file that sets it.
    Path,
    /// A table of `intent`, `prefer` and `avoid`.
    RoutingRule,
    /// An array of such values.
    Array(&'static KeyKind),
    /// A table like the whole file, but without `composition`.
    Patch,
}

/// A form that a text must have.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
#[non_exhaustive]
pub enum TextForm {
    /// Something besides blanks.
    NotBlank,
    /// `HOST:PORT`.
    Address,
    /// `http://` or `https://`, and a host.
    Url,
    /// The name of an HTTP header.
    HeaderName,
    /// `sqlite:PATH`, or the URL of a database of `PostgreSQL`, without a password: it is shown.
    Store,
}

impl TextForm {
    /// Whether `text` has the form.
    pub fn fits(self, text: &str) -> bool {
        match self {
            Self::NotBlank => !text.trim().is_empty(),
            Self::Address => text.rsplit_once(':').is_some_and(|(host, port)| {
                let bracketed = host.starts_with('[') && host.ends_with(']');
                let plain = !host.contains([':', '[', ']', '/', '@']);
                let digits = port.bytes().all(|byte| byte.is_ascii_digit());
                !host.is_empty() && (bracketed || plain) && !host.contains(char::is_whitespace) && digits && port.parse::<u16>().is_ok()
            }),
            Self::Url => ["http://", "https://"].iter().any(|scheme| {
                text.strip_prefix(scheme).is_some_and(|rest| {
                    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
                    !host.is_empty() && !rest.contains(|c: char| c.is_whitespace() || c.is_control())
                })
            }),
            Self::Store => is_a_store(text),
            Self::HeaderName => {
                !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
            }
        }
    }
}

fn is_a_store(text: &str) -> bool {
    if text.contains(char::is_control) {
        return false;
    }
    if let Some(path) = text.strip_prefix("sqlite:") {
        return !path.trim_matches('/').trim().is_empty();
    }
    let url = ["postgres://", "postgresql://"].iter().find_map(|scheme| text.strip_prefix(scheme));
    url.is_some_and(|rest| {
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let authority = place.split('/').next().unwrap_or_default();
        let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
        // Of a password with a slash in it the rest stands here.
        let is_split = rest[authority.len()..].contains('@');
        // A name may be written with escapes.
        let is_plain = |pair: &str| pair.split('=').next().is_some_and(|name| !name.contains(['%', '+']) && !name.contains("password"));
        !rest.is_empty() && !rest.contains(char::is_whitespace) && !user.contains(':') && !is_split && query.split('&').all(is_plain)
    })
}

impl KeyKind {
    /// What is allowed, for a person.
    pub fn allowed(&self) -> String {
        match self {
            Self::Bool => "`true` or `false`".into(),
            Self::Text => "text".into(),
            Self::Form(TextForm::NotBlank) => "text that is not blank".into(),
            Self::Form(TextForm::Address) => "an address as in \"127.0.0.1:8484\"".into(),
            Self::Form(TextForm::Url) => "a URL that begins with `http://` or `https://`".into(),
            Self::Form(TextForm::HeaderName) => "the name of an HTTP header".into(),
            Self::Form(TextForm::Store) => {
                "`sqlite:PATH`, or `postgres://USER@HOST/DATABASE` without a password, which belongs into PGPASSWORD or the file of PGPASSFILE".into()
            }
            Self::NonZero => "a whole number from 1".into(),
            Self::OptionalNonZero => "a whole number from 1; left out, there is no limit".into(),
            Self::OneOf(words) => match words {
                [first @ .., last] if !first.is_empty() => format!("\"{}\" or \"{last}\"", first.join("\", \"")),
                _ => format!("\"{}\"", words.join("")),
            },
            Self::SkillId => "a skill's id".into(),
            Self::Pattern => "a regular expression".into(),
            Self::ProfileId => "the id of a profile of `composition.profiles`".into(),
            Self::Layer => "\"defaults\", \"config\", \"profile:active\" or \"profile:ID\"".into(),
            Self::Path => "a path".into(),
            Self::RoutingRule => "a table `{intent, prefer, avoid}`".into(),
            Self::Array(Self::Text) => "an array of text".into(),
            Self::Array(Self::SkillId) => "an array of skill ids".into(),
            Self::Array(Self::Pattern) => "an array of regular expressions".into(),
            Self::Array(Self::ProfileId) => "an array of ids of profiles of `composition.profiles`".into(),
            Self::Array(Self::Path) => "an array of paths".into(),
            Self::Array(Self::RoutingRule) => "an array of tables `{intent, prefer, avoid}`".into(),
            Self::Array(of) => format!("an array of {}", of.allowed()),
            Self::Patch => "a table like the whole file, without `composition`".into(),
        }
    }
    /// A variable's value is this text as it stands; all other kinds are read as TOML.
    pub(super) fn is_text(&self) -> bool {
        matches!(
            self,
            Self::Text | Self::Form(_) | Self::OneOf(_) | Self::SkillId | Self::Pattern | Self::ProfileId | Self::Layer | Self::Path
        )
    }
}

impl Key {
    /// Whether the path has an id in it.
    pub fn has_an_id(&self) -> bool {
        self.path.split('.').any(is_an_id)
    }
    /// The default, where there is one.
    pub(super) fn default_value(&self) -> Option<toml::Value> {
        let document = format!("value = {}", self.default?);
        // Always TOML: a test reads the default of every key.
        document.parse::<toml::Table>().ok()?.remove("value")
    }
}

/// Whether a segment of a key's path stands for any id.
pub(super) fn is_an_id(segment: &str) -> bool {
    segment.bytes().all(|byte| byte.is_ascii_uppercase())
}

/// The defaults of all keys without an id, as one table.
pub(super) static DEFAULTS: LazyLock<toml::Table> = LazyLock::new(|| {
    let mut defaults = toml::Table::new();
    for key in KEYS.iter().filter(|key| !key.has_an_id()) {
        let segments: Vec<&str> = key.path.split('.').collect();
        // Tables stand even where no key in them has a default: the typed structs are not optional.
        let tables = segments.len() - 1;
        let mut table = &mut defaults;
        for segment in &segments[..tables] {
            let inner = table.entry(*segment).or_insert_with(|| toml::Value::Table(toml::Table::new()));
            table = inner.as_table_mut().expect("a test holds that no key of the table is a table's prefix");
        }
        if let Some(value) = key.default_value() {
            table.insert(segments[tables].to_owned(), value);
        }
    }
    defaults
});

/// The tree that the paths of the keys span.
#[derive(Debug)]
pub(super) enum Shape {
    Key(&'static Key),
    Table(TableShape),
}

/// A table of the tree.
#[derive(Default, Debug)]
pub(super) struct TableShape {
    /// Dotted, with placeholders; empty for the whole file.
    pub(super) path: String,
    pub(super) named: BTreeMap<&'static str, Shape>,
    pub(super) by_id: Option<Box<Shape>>,
}

impl TableShape {
    /// Other programs keep keys of their own here.
    pub(super) fn is_shared(&self) -> bool {
        matches!(self.path.as_str(), "" | "model")
    }
    pub(super) fn child(&self, name: &str) -> Option<&Shape> {
        self.named.get(name).or(self.by_id.as_deref())
    }
    /// A child's path, with placeholders.
    pub(super) fn path_of(&self, name: &str) -> String {
        if self.path.is_empty() { name.to_owned() } else { format!("{}.{name}", self.path) }
    }

    fn insert(&mut self, key: &'static Key, rest: &'static str) {
        let Some((first, rest)) = rest.split_once('.') else {
            if is_an_id(rest) {
                self.by_id = Some(Box::new(Shape::Key(key)));
            } else {
                self.named.insert(rest, Shape::Key(key));
            }
            return;
        };
        let empty = Shape::Table(Self { path: self.path_of(first), ..Self::default() });
        let child = if is_an_id(first) {
            self.by_id.get_or_insert_with(|| Box::new(empty)).as_mut()
        } else {
            self.named.entry(first).or_insert(empty)
        };
        match child {
            Shape::Table(table) => table.insert(key, rest),
            Shape::Key(_) => unreachable!("a test holds that no key of the table is a table's prefix"),
        }
    }
}

/// The whole file.
pub(super) static FILE: LazyLock<TableShape> = LazyLock::new(|| {
    let mut file = TableShape::default();
    for key in KEYS {
        file.insert(key, key.path);
    }
    file
});

/// Whether a path begins in a table of ours.
pub(super) fn is_ours(segments: &[&str]) -> bool {
    match segments {
        ["model", rest @ ..] => rest.first() == Some(&"tool_output"),
        [first, ..] => FILE.named.contains_key(first),
        [] => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sound() {
        for key in KEYS {
            assert!(KEYS.iter().all(|other| !other.path.starts_with(&format!("{}.", key.path))), "{} is a table's prefix", key.path);
            assert_eq!(KEYS.iter().filter(|other| other.path == key.path).count(), 1, "{} stands once", key.path);
            assert_eq!(key.default.is_some(), key.default_value().is_some());
            assert!(key.doc.ends_with('.') && !key.doc.contains('\n'), "{}", key.path);
        }
    }

    #[test]
    fn forms() {
        for address in ["127.0.0.1:8484", "[::1]:80", "localhost:0"] {
            assert!(TextForm::Address.fits(address), "{address}");
        }
        for no_address in ["", "localhost", "127.0.0.1", ":80", "a b:80", "::1:80", "host:65536", "host:+80", "http://host:80"] {
            assert!(!TextForm::Address.fits(no_address), "{no_address}");
        }
        for (url, fits) in [
            ("https://api.example.com/v1", true),
            ("http://[::1]:80", true),
            ("https://", false),
            ("ftp://x", false),
            ("https://a b", false),
        ] {
            assert_eq!(TextForm::Url.fits(url), fits, "{url}");
        }
        for (store, fits) in [
            ("sqlite:sessions.db", true),
            ("sqlite:///var/lib/a b.db", true),
            ("postgres://me@db:5432/sessions?sslmode=verify-full", true),
            ("postgresql://db", true),
            ("postgres:///x?host=/run/postgresql&options[search_path]=a", true),
            ("postgres://me:SECRET@db/x", false),
            ("postgres://me@there:SECRET@db/x", false),
            ("postgres://me:SE/CRET@db/x", false),
            ("postgres://me:SE?CRET@db/x", false),
            ("postgres://me@db/x?a=b&password=SECRET", false),
            ("postgres://me@db/x?p%61ssword=SECRET", false),
            ("postgres://me@db/x?sslpassword=SECRET", false),
            ("postgres://", false),
            ("postgres://a b/c", false),
            ("sqlite:", false),
            ("sqlite://", false),
            ("sqlite:a\0", false),
            ("mysql://db/x", false),
            ("", false),
        ] {
            assert_eq!(TextForm::Store.fits(store), fits, "{store}");
        }
        assert!(TextForm::HeaderName.fits("x-session-id") && !TextForm::HeaderName.fits("x session") && !TextForm::HeaderName.fits(""));
    }
}
