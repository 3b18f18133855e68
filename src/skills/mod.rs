//! Folder skills: finding them, reading them, and one snapshot of all.
//!
//! [`FolderSkills`] is the registry. What went on in spite of something is a [`Diagnostic`](crate::layers::Diagnostic) with one of these codes, each
//! with its path, and with line and column where it is about a text. What to do about each says `docs/diagnostics.md`, which has the codes of all
//! modules.
//!
//! | code | severity | says |
//! | --- | --- | --- |
//! | `front-matter-repaired` | warning | front matter was read otherwise than YAML reads it: as a person does |
//! | `front-matter-missing` | warning | the whole file is the body, and the description its first paragraph |
//! | `front-matter-preceded` | note | blank lines or a comment stand before the front matter |
//! | `front-matter-toml` | note | TOML stands between the fences of YAML |
//! | `front-matter-unclosed` | error | the front matter has no end; no skill |
//! | `front-matter-refused` | error | the front matter is out of all proportion; no skill |
//! | `file-not-utf8`, `file-not-text` | error | the file is no text; no skill, or no resource |
//! | `file-utf16` | note | the file was decoded from UTF-16 |
//! | `id-invalid` | warning, error | `id` can be none and the folder's name stands in its place; or that can be none either |
//! | `name-differs` | warning | `name` is not the folder's or file's |
//! | `description-missing` | warning | the first paragraph of the body stands in its place |
//! | `text-missing` | error | neither a description nor a body; no skill |
//! | `field-type` | warning | a field is of another type; its nearest reading was taken |
//! | `field-unknown` | note | a field that nobody reads was kept |
//! | `item-empty` | warning | a list has an empty item |
//! | `file-unreadable`, `file-not-regular`, `file-too-large` | error | the file was not read; no skill |
//! | `file-cut` | warning | a body was cut at `skills.max_skill_file_bytes` |
//! | `instruction-file-name` | note | the instruction file is not spelled `SKILL.md` |
//! | `name-missing`, `skill-skipped` | warning | in a root of a compatible system: the file breaks its rules; no skill |
//! | `link-refused`, `link-unreadable` | warning | a link leads out of its repository, or nowhere |
//! | `link-not-followed` | note | a link was passed over, since `skills.follow_symlinks` is off |
//! | `root-unreadable`, `folder-unreadable` | warning | a folder could not be searched |
//! | `depth-limit`, `folder-limit`, `file-limit` | warning | the search ended at a bound |
//! | `worktree-skipped` | note | a linked worktree was not searched |
//! | `skill-shadowed` | warning | a root of higher precedence has the same id |
//! | `skill-vanished`, `skill-changed` | error | at activation: the file is gone, or no longer this skill |
//! | `folder-not-watched` | warning | changes of a folder are not told by the system, and looked for every few seconds (feature `watch`) |
//! | `skill-unknown` | warning, note | `skills.disabled.ids` or `skills.overrides` names no skill; a warning where one is near |
//! | `skill-unknown`, `resource-refused`, `resource-missing` | error | a bundled file was not read |

mod bundled;
mod fields;
pub mod front_matter;
#[cfg(feature = "install")]
pub mod install;
mod known;
mod links;
mod parallel;
mod registry;
mod resources;
mod roots;
mod skill_file;
mod unknown;
pub mod validation;
mod walk;
#[cfg(feature = "watch")]
mod watch;

pub use fields::{Described, describe};
pub use registry::FolderSkills;
pub(crate) use registry::configure;
pub use resources::Resource;
pub(crate) use roots::resolved;
pub use roots::{DiscoveryOptions, Root, RootRules, roots};
#[cfg(any(feature = "cli", feature = "install"))]
pub(crate) use unknown::nearest;
pub(crate) use unknown::unknown;
#[cfg(feature = "watch")]
pub use watch::{SkillWatch, Watched};
