//! YAML, through the library, behind guards. The one place that knows which library it is.
//!
//! libyaml takes time in proportion to depth times length for nested flow collections, and aliases multiply what they name, so both are bounded
//! before and while it works. A first pass takes the shape; a second one, only where a scalar was no text, takes each scalar as it is spelled.

use super::value::Value;
use serde::de::{DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess, Visitor};
use std::cell::Cell;
use std::fmt;

/// Front matter over this many bytes is refused.
pub(super) const MAX_BYTES: usize = 64 * 1024;
/// A key over this many bytes is refused; libyaml's own bound for a key on one line.
const MAX_KEY_BYTES: usize = 1024;
/// Flow openers times bytes: bounds what libyaml spends on nesting to some ten milliseconds, in all of the times that a broken text is tried.
const MAX_NESTING_COST: usize = 2 * 1024 * 1024;
/// Lists and maps within one another.
const MAX_DEPTH: usize = 64;
/// Values, those behind aliases counted each time.
const MAX_VALUES: usize = 20_000;
/// Bytes of text, those behind aliases counted each time.
const MAX_TEXT_BYTES: usize = 4 * MAX_BYTES;
/// Lines that begin with `%`: libyaml compares each directive with all before it.
const MAX_DIRECTIVES: usize = 16;

/// Why there is no value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Failure {
    /// It is not what it was read as, and may be repaired; what is wrong is said of the repair.
    Invalid,
    /// It is out of all proportion, and not looked at again.
    Refused(Refused),
}

/// Why a text is not looked at again.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Refused(pub(super) String);

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        Self::Refused(refused)
    }
}

/// Says whether the text is in proportion, in one pass over it.
pub(super) fn guard(text: &str) -> Result<(), Refused> {
    if text.len() > MAX_BYTES {
        return Err(Refused(format!("the front matter has {} bytes; at most {MAX_BYTES} are read", text.len())));
    }
    let openers = text.bytes().filter(|byte| matches!(byte, b'[' | b'{')).count();
    if openers * text.len() > MAX_NESTING_COST {
        return Err(Refused(format!("{openers} `[` and `{{` in {} bytes are out of proportion", text.len())));
    }
    let mut directives = 0;
    for line in text.lines() {
        directives += usize::from(line.starts_with('%'));
        if line.len() > MAX_KEY_BYTES {
            let word = line.split([' ', '\t']).next().unwrap_or_default();
            let key = if word.ends_with(':') { word.len() - 1 } else { word.find(": ").unwrap_or(0) };
            if key > MAX_KEY_BYTES {
                return Err(Refused(format!("a key of {key} bytes; at most {MAX_KEY_BYTES} are read")));
            }
        }
    }
    if directives > MAX_DIRECTIVES {
        return Err(Refused(format!("{directives} YAML directives; at most {MAX_DIRECTIVES} are read")));
    }
    Ok(())
}

#[cfg(test)]
thread_local! {
    /// Bytes that were parsed on this thread: what is spent, told without a clock.
    pub(super) static PARSED: Cell<usize> = const { Cell::new(0) };
}

/// The value of a YAML document. Of a key that stands twice both pairs are there.
pub(super) fn parse(text: &str) -> Result<Value, Failure> {
    guard(text)?;
    #[cfg(test)]
    PARSED.set(PARSED.get() + text.len());
    let pass = Pass::default();
    let failure = |_| pass.refused.take().map_or(Failure::Invalid, |reason| Refused(reason).into());
    let mut value = Shape { pass: &pass, depth: 0 }.deserialize(serde_yaml::Deserializer::from_str(text)).map_err(failure)?;
    if pass.unspelled.get() {
        Spelling(&mut value).deserialize(serde_yaml::Deserializer::from_str(text)).map_err(failure)?;
    }
    Ok(value)
}

/// What a first pass counts and notices.
#[derive(Default)]
struct Pass {
    values: Cell<usize>,
    bytes: Cell<usize>,
    /// A scalar was read as number or boolean: its spelling is still to be had.
    unspelled: Cell<bool>,
    refused: Cell<Option<String>>,
}

impl Pass {
    fn refuse<E: serde::de::Error>(&self, reason: &str) -> E {
        self.refused.set(Some(reason.to_owned()));
        E::custom(reason)
    }
    fn count<E: serde::de::Error>(&self, bytes: usize) -> Result<(), E> {
        self.values.set(self.values.get() + 1);
        self.bytes.set(self.bytes.get() + bytes);
        if self.values.get() > MAX_VALUES || self.bytes.get() > MAX_TEXT_BYTES {
            return Err(self.refuse("more values than front matter may hold, or aliases that multiply"));
        }
        Ok(())
    }
}

#[derive(Clone, Copy)]
struct Shape<'a> {
    pass: &'a Pass,
    depth: usize,
}

impl<'a> Shape<'a> {
    fn inner<E: serde::de::Error>(self) -> Result<Shape<'a>, E> {
        if self.depth >= MAX_DEPTH {
            return Err(self.pass.refuse(&format!("lists and maps more than {MAX_DEPTH} deep")));
        }
        Ok(Shape { depth: self.depth + 1, ..self })
    }
    fn unspelled<E: serde::de::Error>(self) -> Result<Value, E> {
        self.pass.unspelled.set(true);
        self.pass.count(0)?;
        Ok(Value::Text(String::new()))
    }
}

impl<'de> DeserializeSeed<'de> for Shape<'_> {
    type Value = Value;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Shape<'_> {
    type Value = Value;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a list or a map")
    }
    fn visit_unit<E: serde::de::Error>(self) -> Result<Value, E> {
        self.pass.count(0)?;
        Ok(Value::Absent)
    }
    fn visit_none<E: serde::de::Error>(self) -> Result<Value, E> {
        self.visit_unit()
    }
    fn visit_bool<E: serde::de::Error>(self, _: bool) -> Result<Value, E> {
        self.unspelled()
    }
    fn visit_i64<E: serde::de::Error>(self, _: i64) -> Result<Value, E> {
        self.unspelled()
    }
    fn visit_u64<E: serde::de::Error>(self, _: u64) -> Result<Value, E> {
        self.unspelled()
    }
    fn visit_i128<E: serde::de::Error>(self, _: i128) -> Result<Value, E> {
        self.unspelled()
    }
    fn visit_u128<E: serde::de::Error>(self, _: u128) -> Result<Value, E> {
        self.unspelled()
    }
    fn visit_f64<E: serde::de::Error>(self, _: f64) -> Result<Value, E> {
        self.unspelled()
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        self.pass.count(text.len())?;
        Ok(Value::Text(text.to_owned()))
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        self.pass.count(0)?;
        let inner = self.inner()?;
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            list.push(item);
        }
        Ok(Value::List(list))
    }
    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<Value, A::Error> {
        self.pass.count(0)?;
        let inner = self.inner()?;
        let mut map = Vec::new();
        while let Some(key) = pairs.next_key_seed(Text)? {
            self.pass.count(key.len())?;
            map.push((key, pairs.next_value_seed(inner)?));
        }
        Ok(Value::Map(map))
    }
    /// A local tag: what it tags counts.
    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Value, A::Error> {
        let (_, tagged) = data.variant_seed(Text)?;
        tagged.newtype_variant_seed(self.inner()?)
    }
}

/// A scalar as it is spelled.
struct Text;

impl<'de> DeserializeSeed<'de> for Text {
    type Value = String;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Text {
    type Value = String;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text")
    }
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }
}

/// Fills each scalar of a known shape with its spelling.
struct Spelling<'a>(&'a mut Value);

impl<'de> DeserializeSeed<'de> for Spelling<'_> {
    type Value = ();
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        match self.0 {
            Value::Absent => deserializer.deserialize_ignored_any(serde::de::IgnoredAny).map(drop),
            Value::Text(text) => {
                *text = Text.deserialize(deserializer)?;
                Ok(())
            }
            Value::List(_) => deserializer.deserialize_seq(self),
            Value::Map(_) => deserializer.deserialize_map(self),
        }
    }
}

impl<'de> Visitor<'de> for Spelling<'_> {
    type Value = ();
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the same list or map again")
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if let Value::List(list) = self.0 {
            for value in list {
                items.next_element_seed(Spelling(value))?.ok_or_else(|| A::Error::custom("a list changed its length"))?;
            }
        }
        // The library checks that all was taken.
        items.next_element::<serde::de::IgnoredAny>().map(drop)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut pairs: A) -> Result<(), A::Error> {
        if let Value::Map(map) = self.0 {
            for (_, value) in map {
                pairs.next_key_seed(Text)?;
                pairs.next_value_seed(Spelling(value))?;
            }
        }
        pairs.next_key::<serde::de::IgnoredAny>().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    fn text(yaml: &str) -> String {
        parse(yaml).unwrap().to_text()
    }

    #[test]
    fn scalars_keep_their_spelling() {
        let yaml = "a: 3000\nb: yes\nc: 1.10\nd: 0x1F\ne: 2024-01-01\nf: ~\ng: [1.0, {h: on}]\ni: !!str 0o7\nj: True\nk: .inf\nl: '1'";
        let json = r#"{"a":"3000","b":"yes","c":"1.10","d":"0x1F","e":"2024-01-01","f":null,"g":["1.0",{"h":"on"}],"i":"0o7","j":"True","k":".inf","l":"1"}"#;
        assert_eq!(text(yaml), json);
        assert_eq!(text("a: &x 1.10\nb: *x\nc: !local 2.50"), r#"{"a":"1.10","b":"1.10","c":"2.50"}"#);
    }

    #[test]
    fn numbers_of_any_sign_and_size_keep_their_digits() {
        for number in ["-3", "-0", "18446744073709551615", "18446744073709551616", "-9223372036854775809", &"9".repeat(60)] {
            assert_eq!(text(&format!("a: {number}")), format!(r#"{{"a":"{number}"}}"#));
        }
    }

    #[test]
    fn what_is_out_of_proportion_is_refused_at_once() {
        let laughs = (0..30).fold("a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(), |all, n| {
            format!("{all}a{}: &a{} [*a{n}, *a{n}, *a{n}, *a{n}, *a{n}, *a{n}]\n", n + 1, n + 1)
        });
        let cases = [
            ("flow openers", "[".repeat(200_000), true),
            ("flow openers in bounds", "[".repeat(64_000), true),
            ("openers hidden by quoted closers", "[ \"]\", ".repeat(9_000), true),
            ("depth in blocks", (0..2_000).fold(String::new(), |all, depth| format!("{all}{}a:\n", " ".repeat(depth % 300))), true),
            ("compact lists", "- ".repeat(32_000), true),
            ("depth", format!("a: {}{}", "[".repeat(70), "]".repeat(70)), true),
            ("key", format!("{}: x", "k".repeat(60_000)), true),
            ("aliases", laughs, true),
            ("aliases of text", format!("a: &a {}\nb: [{}*a]", "x".repeat(30_000), "*a, ".repeat(1_000)), true),
            ("directives", "%TAG !a! b\n".repeat(5_000), true),
            ("maps", "{a: ".repeat(16_000), true),
            ("keys without a value", "? ".repeat(32_000), false),
            ("anchors", (0..6_000).map(|n| format!("&a{n}")).collect::<Vec<_>>().join(" "), false),
            ("many keys", (0..9_000).map(|n| format!("a{n}:")).collect::<Vec<_>>().join("\n"), false),
            ("commas", format!("a: [{}", "a,".repeat(30_000)), true),
            ("quotes", "\"a\" ".repeat(16_000), false),
            ("colons", "a: ".repeat(20_000), false),
            ("blank lines in a scalar", format!("a: |\n{}", "\n".repeat(60_000)), false),
            ("plain scalar of many lines", format!("a: b\n{}", " b\n".repeat(20_000)), false),
            ("tagged", format!("a: {}", "!a ".repeat(20_000)), false),
        ];
        for (name, yaml, is_refused) in cases {
            let start = Instant::now();
            let refused = matches!(parse(&yaml), Err(Failure::Refused(_)));
            // Some milliseconds; quadratic time would be minutes without optimisation, so that a slow machine fails no test.
            assert!(start.elapsed().as_secs() < 5, "{name}");
            assert_eq!(refused, is_refused, "{name}");
        }
    }

    #[test]
    fn what_fills_a_bound_is_read_and_one_more_is_refused() {
        let text = |bytes: usize| format!("a: {}", "x".repeat(bytes - "a: ".len()));
        let key = |bytes: usize| format!("{}: x", "k".repeat(bytes));
        let keys_of_maps = |bytes: usize| format!("{}:\n  a: b", "k".repeat(bytes));
        let directives = |lines: usize| "%TAG !a! b\n".repeat(lines);
        // The list is a value too.
        let values = |values: usize| format!("[{}]", "a,".repeat(values - 1));
        let absent = |values: usize| format!("[{}]", "~,".repeat(values - 1));
        let deep = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        for (name, of, most) in [
            ("text", &text as &dyn Fn(usize) -> String, MAX_BYTES),
            ("key", &key, MAX_KEY_BYTES),
            ("key of a map", &keys_of_maps, MAX_KEY_BYTES),
            ("directives", &directives, MAX_DIRECTIVES),
            ("values", &values, MAX_VALUES),
            ("absent values", &absent, MAX_VALUES),
            ("depth", &deep, MAX_DEPTH),
        ] {
            let is_refused = |n: usize| matches!(parse(&of(n)), Err(Failure::Refused(_)));
            assert_eq!((is_refused(most), is_refused(most + 1)), (false, true), "{name}");
        }
    }
}
