//! The known key that an unknown one is most like.

use super::keys::{Shape, TableShape, is_an_id};
use super::table::KEYS;

/// A name longer than this is no slip of the pen, and its distance to every key would cost time.
const LONGEST: usize = 80;
/// A table with more keys is not listed.
const MOST_NAMED: usize = 8;

/// What is so far from what was written is no slip of the pen.
fn is_near(name: &str, known: &str, distance: usize) -> bool {
    let longer = name.chars().count().max(known.chars().count());
    distance < longer && distance <= longer.div_ceil(3)
}

/// The path of the nearest key or table; `None` where none is near.
pub(super) fn nearest_key(shape: &TableShape, name: &str) -> Option<String> {
    if name.len() > LONGEST {
        return None;
    }
    let name = name.to_lowercase();
    let distance = |known: &str| strsim::osa_distance(&name, known);
    let sibling = shape.named.keys().map(|known| (distance(known), *known)).min();
    if let Some((_, known)) = sibling.filter(|(distance, known)| is_near(&name, known, *distance)) {
        return Some(shape.path_of(known));
    }
    // The right name in the wrong table: in the one whose path reads most like this one's.
    let path = shape.path_of(&name);
    let last = |key: &'static str| key.rsplit('.').next().filter(|last| !is_an_id(last));
    let like = KEYS.iter().filter_map(|key| Some((key.path, distance(last(key.path)?))));
    let like = like.filter(|(key, distance)| last(key).is_some_and(|last| is_near(&name, last, *distance)));
    let nearest = like.min_by(|(one, of_one), (other, of_other)| {
        let unlike = |key: &str| 1.0 - strsim::normalized_damerau_levenshtein(&path, key);
        of_one.cmp(of_other).then(unlike(one).total_cmp(&unlike(other)))
    });
    nearest.map(|(key, _)| key.to_owned())
}

/// So many letters may be wrong in the name of a table that stands beside those of other programs.
const SLIPS: usize = 2;

/// The path of the table of ours whose name was probably meant.
pub(super) fn nearest_table(shape: &TableShape, name: &str) -> Option<String> {
    let is_ours = |known: &&&str| matches!(shape.child(known), Some(Shape::Table(table)) if !table.is_shared());
    let known = nearest(&name.to_lowercase(), shape.named.keys().filter(is_ours).copied())?;
    (strsim::osa_distance(&name.to_lowercase(), known) <= SLIPS).then(|| shape.path_of(known))
}

/// What to say of an unknown key of this table: the nearest known one, or what the table holds.
pub(super) fn instead(nearest: Option<String>, shape: &TableShape) -> String {
    if let Some(nearest) = nearest {
        return format!("; the nearest is `{nearest}`");
    }
    let known: Vec<String> = shape.named.keys().take(MOST_NAMED + 1).map(|name| format!("`{name}`")).collect();
    match known.len() {
        0 => "; no known key is near it".to_owned(),
        1..=MOST_NAMED => format!("; known in `{}`: {}", shape.path, known.join(", ")),
        _ => format!("; none of the {} in `{}` is near it", shape.named.len(), shape.path),
    }
}

/// The nearest of `known`; `None` where none is near.
pub(super) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if name.len() > LONGEST {
        return None;
    }
    let nearest = known.into_iter().map(|known| (strsim::osa_distance(name, known), known)).min_by_key(|(distance, _)| *distance);
    nearest.filter(|(distance, known)| is_near(name, known, *distance)).map(|(_, known)| known)
}

#[cfg(test)]
mod tests {
    use super::super::keys::FILE;
    use super::*;

    fn table(path: &str) -> &'static TableShape {
        let mut table = &*FILE;
        for segment in path.split('.') {
            match table.child(segment) {
                Some(Shape::Table(inner)) => table = inner,
                _ => panic!("{path} is no table"),
            }
        }
        table
    }

    #[test]
    fn suggestions() {
        let cases = [
            ("skills", "auto_activte", "skills.auto_activate"),
            ("skills", "Prompt", "skills.prompt"),
            ("skills", "max_suggestions", "skills.matching.max_suggestions"),
            ("skills.prompt", "max_byte", "skills.prompt.max_bytes"),
            ("system_prompt.sections", "git_revison", "system_prompt.sections.git_revision"),
            ("prompt_profile.model.gpt-x", "system_promt", "prompt_profile.model.ID.system_prompt"),
            ("skills", "max_sugestion", "skills.matching.max_suggestions"),
            ("budget", "MAX_BYTES", "skills.prompt.max_bytes"),
        ];
        for (path, name, nearest) in cases {
            assert_eq!(nearest_key(table(path), name).as_deref(), Some(nearest), "{path}.{name}");
        }
        for (path, name) in [("skills", "size"), ("skills", "xml"), ("budget", "x"), ("skills", "\u{1b}"), ("skills", &"x".repeat(81))] {
            assert_eq!(nearest_key(table(path), name), None, "{path}.{name}");
        }
        assert_eq!((nearest("x", ["a"]), nearest("fats", ["slow", "fast"])), (None, Some("fast")));
    }
}
