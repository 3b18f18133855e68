//! The catalog's text: what the model is told of the skills that it may load, in any room.
//!
//! Where the room is short every skill loses some before one skill loses all: descriptions are shortened alike, then left out, then sources,
//! keywords and bundled files, then names; only then skills, those of the lowest precedence first, and what was left out is counted.

mod options;

use super::{Skill, SkillId, SkillVisibility, Skills};
use crate::prompt::Text;
use crate::text::{Fitted, Room, escape, shorten};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt::Write;
use std::sync::Arc;

pub use options::{CatalogFormat, CatalogMode, CatalogOptions, LoadSkillsBy};

/// A skill as the catalog shows it: each field on one line, and escaped but for the description, which may yet be shortened.
#[derive(Clone)]
struct Listed {
    id: SkillId,
    rank: usize,
    /// What it is called by, and the element that says so.
    key: (&'static str, String),
    name: String,
    description: String,
    location: String,
    source: String,
    keywords: String,
    scripts: String,
    references: String,
}

/// How much of each skill is told.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Detail {
    Id,
    Name,
    Sources,
    /// And so many characters of each description.
    Description(usize),
}

/// All that there is to tell, whole.
pub(crate) struct Catalog {
    preamble: String,
    format: CatalogFormat,
    skills: Vec<Listed>,
    longest_description: usize,
    whole: Arc<str>,
}

const CHUNK_END: &str = "  </skill>\n";

/// Descriptions are not shortened to less: a few letters tell nothing.
const SHORTEST_DESCRIPTION: usize = 16;

impl Catalog {
    /// `None` where there is no skill to show.
    pub(crate) fn new(skills: &Skills, options: &CatalogOptions) -> Option<Self> {
        let shown = |(rank, skill): (usize, &Skill)| skill.summary.is_in_the_catalog().then(|| Listed::new(rank, skill, options));
        let skills: Vec<Listed> = skills.ranked().filter_map(shown).collect();
        if options.mode == CatalogMode::Off || skills.is_empty() {
            return None;
        }
        let longest_description = skills.iter().map(|skill| skill.description.chars().count()).max().unwrap_or_default();
        let mut catalog = Self { preamble: preamble(options), format: options.format, skills, longest_description, whole: Arc::default() };
        catalog.whole = catalog.render(Detail::Description(longest_description), |_| true, 0).into();
        Some(catalog)
    }

    fn render(&self, detail: Detail, is_kept: impl Fn(&Listed) -> bool, named_omissions: usize) -> String {
        let size = |skill: &Listed| if detail >= Detail::Sources { skill.size() } else { 0 };
        let mut out = String::with_capacity(self.preamble.len() + self.skills.iter().map(size).sum::<usize>() + 64);
        out.push_str(&self.preamble);
        if self.format == CatalogFormat::Xml {
            out.push_str("<available_skills>\n");
        }
        let mut omitted = Vec::new();
        for skill in &self.skills {
            match self.format {
                _ if !is_kept(skill) => omitted.push(skill.id.as_str()),
                CatalogFormat::Xml => skill.write_xml(detail, &mut out),
                CatalogFormat::Lines => skill.write_line(detail, &mut out),
            }
        }
        self.write_omitted(&omitted, named_omissions, &mut out);
        if self.format == CatalogFormat::Xml {
            out.push_str("</available_skills>");
        }
        out.truncate(out.trim_end().len());
        out
    }

    fn write_omitted(&self, omitted: &[&str], named: usize, out: &mut String) {
        if omitted.is_empty() {
            return;
        }
        let ids = omitted.iter().take(named).map(|id| escape::text(id)).collect::<Vec<_>>().join(", ");
        let more = if named < omitted.len() { ", …" } else { "" };
        // Writing to a string can't fail.
        let _ = match (self.format, named) {
            (CatalogFormat::Xml, 0) => writeln!(out, "  <omitted count=\"{}\"/>", omitted.len()),
            (CatalogFormat::Xml, _) => writeln!(out, "  <omitted count=\"{}\">{ids}{more}</omitted>", omitted.len()),
            (CatalogFormat::Lines, 0) => writeln!(out, "({} more)", omitted.len()),
            (CatalogFormat::Lines, _) => writeln!(out, "({} more: {ids}{more})", omitted.len()),
        };
    }

    /// As many skills as fit by their ids alone, those of the highest precedence, and as many of the other ids as then fit.
    fn fit_skills(&self, room: &Room<'_>) -> Option<(String, usize)> {
        let mut ranks: Vec<usize> = self.skills.iter().map(|skill| skill.rank).collect();
        ranks.sort_unstable();
        let with = |kept: usize, named: usize| {
            let last = *ranks.get(kept.checked_sub(1)?)?;
            Some(self.render(Detail::Id, |skill| skill.rank <= last, named)).filter(|text| room.holds(text))
        };
        let (kept, fewest) = largest(self.skills.len(), |kept| with(kept, 0))?;
        let omitted = self.skills.len() - kept;
        let text = largest(omitted, |named| with(kept, named)).map_or(fewest, |(_, text)| text);
        Some((text, omitted))
    }

    /// The skills that another catalog's text doesn't hold as they are here.
    fn changed(&self, said: &str) -> impl Iterator<Item = &Listed> {
        let begin = said.find("<available_skills>\n").map_or(0, |at| at + "<available_skills>\n".len());
        let chunks: HashSet<String> = match self.format {
            CatalogFormat::Xml => said[begin..].split_inclusive(CHUNK_END).map(str::to_owned).collect(),
            CatalogFormat::Lines => said.lines().map(|line| format!("{line}\n")).collect(),
        };
        self.skills.iter().filter(move |skill| {
            let (detail, mut chunk) = (Detail::Description(usize::MAX), String::new());
            match self.format {
                CatalogFormat::Xml => skill.write_xml(detail, &mut chunk),
                CatalogFormat::Lines => skill.write_line(detail, &mut chunk),
            }
            !chunks.contains(&chunk)
        })
    }
}

/// The largest number up to `max` that `try_with` accepts, and what it gave; numbers below an accepted one are accepted too.
fn largest<T>(max: usize, try_with: impl Fn(usize) -> Option<T>) -> Option<(usize, T)> {
    let (mut low, mut high, mut best) = (0, max + 1, None);
    while low + 1 < high {
        let middle = low.midpoint(high);
        match try_with(middle) {
            Some(found) => (low, best) = (middle, Some((middle, found))),
            None => high = middle,
        }
    }
    best
}

impl Text for Catalog {
    fn shared(&self) -> Option<&Arc<str>> {
        Some(&self.whole)
    }
    fn fit(&self, room: &Room<'_>) -> Fitted<'_> {
        if room.holds(&self.whole) {
            return Fitted::whole(&*self.whole);
        }
        let all = |detail: Detail| Some(self.render(detail, |_| true, 0)).filter(|text| room.holds(text));
        // From the least up: where not even the ids fit, nothing longer is tried.
        let Some(ids) = all(Detail::Id) else {
            return match self.fit_skills(room) {
                Some((text, omitted)) => Fitted::cut(text).without_items(omitted),
                None => Fitted::cut("").without_items(self.skills.len()),
            };
        };
        let shortened = all(Detail::Description(SHORTEST_DESCRIPTION))
            .and_then(|_| largest(self.longest_description, |chars| all(Detail::Description(chars))))
            .filter(|(chars, _)| *chars >= SHORTEST_DESCRIPTION)
            .map(|(_, text)| text);
        Fitted::cut(shortened.or_else(|| all(Detail::Sources)).or_else(|| all(Detail::Name)).unwrap_or(ids))
    }

    /// Ids, names and where to read them, of all skills.
    fn least(&self) -> Cow<'_, str> {
        self.render(Detail::Name, |_| true, 0).into()
    }

    /// The skills that are new or described anew. Where skills only went there is nothing to say.
    fn since(&self, said: &str, room: &Room<'_>) -> Option<Fitted<'_>> {
        let changed: Vec<Listed> = self.changed(said).cloned().collect();
        if changed.is_empty() {
            return None;
        }
        let preamble = "These skills are new, or described anew; the way to load them is as before.\n".to_owned();
        let longest_description = self.longest_description;
        let mut news = Catalog { preamble, format: self.format, skills: changed, longest_description, whole: Arc::default() };
        news.whole = news.render(Detail::Description(longest_description), |_| true, 0).into();
        Some(news.fit(room).into_owned())
    }
}

impl Listed {
    fn new(rank: usize, skill: &Skill, options: &CatalogOptions) -> Self {
        let summary = &skill.summary;
        let is_summary = options.mode == CatalogMode::Summary && summary.visibility != SkillVisibility::NameOnly;
        let is_brief = options.brief_sources.contains(&summary.source.label);
        let is_whole = is_summary && !is_brief;
        let mut description = if is_summary { escape::one_line(&summary.description).into_owned() } else { String::new() };
        if let Some(max) = options.max_description_chars
            && let Cow::Owned(shortened) = shorten(&description, max.get())
        {
            description = shortened;
        }
        let when = |included: bool, text: &dyn Fn() -> String| if included { text() } else { String::new() };
        let name = escape::text(&summary.name);
        let (key, name) = if is_brief { (("name", name), String::new()) } else { (("id", escape::text(summary.id.as_str())), name) };
        Self {
            id: summary.id.clone(),
            rank,
            key,
            name,
            description,
            location: when(options.include_locations && !is_brief, &|| escape::path(&summary.location).into_owned()),
            source: when(is_whole && options.include_sources, &|| escape::text(&summary.source.label)),
            keywords: when(is_whole && options.include_keywords, &|| escape::text(&summary.activation.keywords.join(", "))),
            scripts: when(is_whole && options.include_resources, &|| escape::text(&summary.resources.scripts.join(", "))),
            references: when(is_whole && options.include_resources, &|| escape::text(&summary.resources.references.join(", "))),
        }
    }
    fn described(&self, detail: Detail) -> Cow<'_, str> {
        match detail {
            Detail::Description(chars) => match shorten(&self.description, chars) {
                Cow::Borrowed(whole) => escape::line(whole),
                Cow::Owned(shortened) => escape::text(&shortened).into(),
            },
            _ => Cow::Borrowed(""),
        }
    }
    fn write_xml(&self, detail: Detail, out: &mut String) {
        let described = self.described(detail);
        let when = |told: bool, text: &'static str| if told { text } else { "" };
        out.push_str("  <skill>\n");
        for (name, text) in [
            (self.key.0, &*self.key.1),
            (when(detail >= Detail::Name, "name"), &self.name),
            ("description", &described),
            ("location", &self.location),
            (when(detail >= Detail::Sources, "source"), &self.source),
            (when(detail >= Detail::Sources, "keywords"), &self.keywords),
            (when(detail >= Detail::Sources, "scripts"), &self.scripts),
            (when(detail >= Detail::Sources, "references"), &self.references),
        ] {
            if !name.is_empty() && !text.is_empty() {
                for piece in ["    <", name, ">", text, "</", name, ">\n"] {
                    out.push_str(piece);
                }
            }
        }
        out.push_str(CHUNK_END);
    }
    fn write_line(&self, detail: Detail, out: &mut String) {
        let described = self.described(detail);
        for (before, text, behind) in [("- ", &*self.key.1, ""), (": ", &described, ""), (" (", &self.location, ")")] {
            if !text.is_empty() {
                for piece in [before, text, behind] {
                    out.push_str(piece);
                }
            }
        }
        out.push('\n');
    }
    /// About what it takes, whole.
    fn size(&self) -> usize {
        let texts =
            [&self.key.1, &self.name, &self.description, &self.location, &self.source, &self.keywords, &self.scripts, &self.references];
        texts.iter().map(|text| text.len() + 32).sum()
    }
}

fn preamble(options: &CatalogOptions) -> String {
    let mut text =
        "Skills are instructions for certain kinds of task, each in a folder of its own with files that it refers to. ".to_owned();
    text.push_str(match &options.load_by {
        LoadSkillsBy::ReadingFiles => "When a task is what a skill describes, read its file at the location below before you begin.",
        LoadSkillsBy::Tool(_) => "When a task is what a skill describes, load it before you begin:",
    });
    // Writing to a string can't fail.
    if let LoadSkillsBy::Tool(name) = &options.load_by {
        let _ = write!(text, " call the tool `{}` with its id.", escape::text(name));
    }
    text.push_str(" Relative paths in a skill resolve against its own folder.");
    if let Some(folder) = &options.user_folder {
        let _ = write!(text, " The user's own skills live in {}.", escape::path(folder));
    }
    text.push_str("\n\n");
    text
}

#[cfg(test)]
mod tests;
