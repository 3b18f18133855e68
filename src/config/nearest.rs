//! The known key that an unknown one is most like.

use super::keys::TableShape;
use super::table::KEYS;

/// A name longer than this is no slip of the pen, and its distance to every key would cost time.
const LONGEST: usize = 80;

/// The path of the nearest key or table; `None` for a name that is too long to be one.
pub(super) fn nearest_key(shape: &TableShape, name: &str) -> Option<String> {
    if name.len() > LONGEST {
        return None;
    }
    let distance = |known: &str| strsim::osa_distance(&name.to_lowercase(), known);
    let sibling = shape.named.keys().map(|known| (distance(known), *known)).min();
    if let Some((_, known)) = sibling.filter(|(distance, known)| *distance <= known.len().div_ceil(3)) {
        return Some(shape.path_of(known));
    }
    // The right name in the wrong table, else whatever reads most alike.
    let path = shape.path_of(name);
    let likeness = |key: &str| (key.rsplit('.').next() == Some(name), strsim::normalized_damerau_levenshtein(&path, key));
    let nearest = KEYS.iter().max_by(|one, other| {
        let (one, other) = (likeness(one.path), likeness(other.path));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    nearest.map(|key| key.path.to_owned())
}

/// The nearest of `known`.
pub(super) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    if name.len() > LONGEST {
        return None;
    }
    known.into_iter().min_by_key(|known| strsim::osa_distance(name, known))
}

#[cfg(test)]
mod tests {
    use super::super::keys::{FILE, Shape};
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
            ("model.tool_output", "chars", "model.tool_output.context_chars"),
        ];
        for (path, name, nearest) in cases {
            assert_eq!(nearest_key(table(path), name).as_deref(), Some(nearest), "{path}.{name}");
        }
        assert_eq!(nearest_key(table("skills"), &"x".repeat(81)), None);
    }
}
