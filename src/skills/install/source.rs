//! What a source is, by what it is called.

use super::error::InstallError;
use super::names;
use crate::Environment;
use std::path::{Path, PathBuf};

/// Where skills are installed from.
///
/// ```
/// use tower_prompt::Environment;
/// use tower_prompt::skills::install::Source;
///
/// let environment = Environment::new("/nowhere");
/// let source = Source::new("https://example.org/skills.git#v2", &environment)?;
/// assert_eq!(source, Source::Git { url: "https://example.org/skills.git".into(), reference: Some("v2".into()), is_local: false });
/// assert!(Source::new("--upload-pack=x", &environment).is_err());
/// # Ok::<(), tower_prompt::skills::install::InstallError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Source {
    /// A folder: of a skill, or with skills somewhere in it.
    Folder(PathBuf),
    /// A `.skill` or `.zip` file.
    Archive(PathBuf),
    /// A repository.
    Git {
        /// As git takes it.
        url: String,
        /// A branch, tag or commit; without one what its `HEAD` is.
        reference: Option<String>,
        /// On this machine.
        is_local: bool,
    },
    /// A package of the registry that npm asks.
    Npm {
        /// Its names: the second is tried where there is none of the first.
        packages: Vec<String>,
        /// A version, a range or a tag; without one the latest.
        version: Option<String>,
    },
}

const FORMS: &str =
    "a folder, a .skill or .zip file, a git URL (https://, ssh://, git@host:path, file://, each with #branch) or an npm package is wanted";

impl Source {
    /// A path that is there is that, before anything else. Nothing is fetched or opened.
    pub fn new(given: &str, environment: &Environment) -> Result<Self, InstallError> {
        let no_source = |reason: String| InstallError::NoSource { given: given.to_owned(), reason };
        if given.trim().is_empty() || given.contains(char::is_control) {
            return Err(no_source(FORMS.into()));
        }
        let path = environment.resolve(given, environment.working_directory());
        if let Ok(metadata) = path.metadata() {
            return Self::of_path(path, metadata.is_dir()).map_err(no_source);
        }
        if given.starts_with('-') {
            return Err(no_source("it begins like an option".into()));
        }
        if is_like_a_path(given) {
            return Err(no_source(format!("there is nothing at {}", path.display())));
        }
        if let Some(source) = git(given) {
            return source.map_err(|reason| no_source(reason.into()));
        }
        npm(given).map_err(|reason| no_source(reason.into()))
    }

    fn of_path(path: PathBuf, is_folder: bool) -> Result<Self, String> {
        // What git calls bare.
        if is_folder && path.join("HEAD").is_file() && path.join("objects").is_dir() && path.join("refs").is_dir() {
            let url = path.to_str().ok_or("its path is no UTF-8")?.to_owned();
            return Ok(Self::Git { url, reference: None, is_local: true });
        }
        if is_folder {
            return Ok(Self::Folder(path));
        }
        if is_archive(&path) { Ok(Self::Archive(path)) } else { Err("of files, only a .skill or a .zip is a source".into()) }
    }

    /// What a skill at its top is called that doesn't say it itself.
    pub(super) fn stem(&self) -> String {
        let name = match self {
            // `.` and `..` have no name of their own.
            Self::Folder(path) => path.canonicalize().ok().and_then(|path| Some(path.file_name()?.to_str()?.to_owned())),
            Self::Archive(path) => path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned),
            Self::Git { url, .. } => {
                let url = url.trim_end_matches('/');
                let url = url.strip_suffix(".git").unwrap_or(url).trim_end_matches('/');
                url.rsplit(['/', ':']).next().map(str::to_owned)
            }
            Self::Npm { packages, .. } => packages.last().and_then(|name| name.rsplit('/').next()).map(str::to_owned),
        };
        let is_usable = |name: &String| names::check(name).is_ok() && !crate::skills::walk::is_pruned(name.as_ref());
        name.filter(is_usable).unwrap_or_else(|| "skill".into())
    }
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("skill") || extension.eq_ignore_ascii_case("zip"))
}

fn is_like_a_path(given: &str) -> bool {
    let is_url = given.contains("://") || scp(given).is_some();
    given.starts_with(['.', '/', '~', '\\']) || !is_url && (given.contains('\\') || is_archive(Path::new(given)))
}

/// Host and path of `user@host:path`, or of `host:path.git`.
fn scp(given: &str) -> Option<(&str, &str)> {
    let (host, path) = given.split_once(':')?;
    let file = Path::new(path.split('#').next().unwrap_or_default());
    let ends = file.extension().is_some_and(|extension| extension == "git");
    let is_host = !host.is_empty() && !host.contains('/') && !path.starts_with(':') && (host.contains('@') || ends);
    is_host.then_some((host, path))
}

fn git(given: &str) -> Option<Result<Source, &'static str>> {
    let scheme = given.split_once("://").map(|(scheme, _)| scheme.to_ascii_lowercase());
    if scheme.is_none() && scp(given).is_none() {
        let is_helper = given.contains("::");
        return is_helper.then_some(Err("a helper of git's runs any program; a URL is wanted"));
    }
    Some(match scheme.as_deref() {
        None | Some("https" | "ssh" | "file") => {
            let (url, reference) = match given.split_once('#') {
                Some((url, reference)) => (url, Some(reference)),
                None => (given, None),
            };
            let is_local = scheme.as_deref() == Some("file");
            if reference.is_some_and(|reference| !is_reference(reference)) {
                Err("what follows the # names no branch, tag or commit")
            } else if scheme.as_deref() == Some("https") && is_archive(Path::new(url)) {
                Err("an archive is not fetched: download it, and give the file")
            } else if !is_local && host(url).is_none_or(|host| host.starts_with('-')) {
                Err("it has no host")
            } else {
                Ok(Source::Git { url: url.to_owned(), reference: reference.map(str::to_owned), is_local })
            }
        }
        Some("http" | "git") => Err("anyone on the way could change what is fetched by it; https:// or ssh:// is wanted"),
        Some(_) => Err(FORMS),
    })
}

/// The host as ssh would get it, without a user: one that begins with a hyphen would be an option.
fn host(url: &str) -> Option<&str> {
    let host = match url.split_once("://") {
        Some((_, rest)) => rest.split('/').next()?,
        None => url.split_once(':')?.0,
    };
    // A user that begins with one makes the whole begin with one.
    let host = if host.starts_with('-') { host } else { host.rsplit('@').next()? };
    (!host.is_empty()).then_some(host)
}

fn is_reference(text: &str) -> bool {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '+' | '@' | '=' | ',');
    !text.is_empty() && !text.starts_with(['-', '+', '/']) && !text.contains("..") && text.chars().all(is_plain)
}

fn npm(given: &str) -> Result<Source, &'static str> {
    let (name, version) = match given.char_indices().skip(1).find(|(_, c)| *c == '@') {
        Some((at, _)) => (&given[..at], Some(&given[at + 1..])),
        None => (given, None),
    };
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '+' | '^' | '~' | '=' | '<' | '>' | '*' | '-');
    if version.is_some_and(|version| version.is_empty() || version.starts_with('-') || !version.chars().all(is_plain)) {
        return Err("what follows the @ is no version, range or tag");
    }
    let packages = match name.split_once('/') {
        None if is_name(name) => vec![name.to_owned()],
        Some((owner, name)) if is_name(name) => match owner.strip_prefix('@') {
            Some(scope) if is_name(scope) => vec![format!("{owner}/{name}")],
            None if is_name(owner) => vec![format!("@{owner}/{name}"), format!("{owner}-{name}")],
            _ => return Err(FORMS),
        },
        _ => return Err(FORMS),
    };
    Ok(Source::Npm { packages, version: version.map(str::to_owned) })
}

/// A name that npm takes for that of a package, and for nothing else.
fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '-' | '_' | '.' | '~');
    !name.is_empty() && name.len() <= 214 && !name.starts_with(['.', '_', '-']) && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(given: &str) -> Result<Source, String> {
        Source::new(given, &Environment::new("/nowhere").home("/nowhere")).map_err(|error| error.to_string())
    }
    fn git(url: &str, reference: Option<&str>, is_local: bool) -> Source {
        Source::Git { url: url.into(), reference: reference.map(str::to_owned), is_local }
    }
    fn npm(packages: &[&str], version: Option<&str>) -> Source {
        Source::Npm { packages: packages.iter().map(ToString::to_string).collect(), version: version.map(str::to_owned) }
    }

    #[test]
    fn a_source_is_told_by_what_it_is_called() {
        assert_eq!(of("https://example.org/a").unwrap(), git("https://example.org/a", None, false));
        assert_eq!(of("https://example.org/a.git#v1.2").unwrap(), git("https://example.org/a.git", Some("v1.2"), false));
        assert_eq!(of("ssh://git@example.org/a").unwrap(), git("ssh://git@example.org/a", None, false));
        assert_eq!(of("git@example.org:a/b.git#main").unwrap(), git("git@example.org:a/b.git", Some("main"), false));
        assert_eq!(of("host:a/b.git").unwrap(), git("host:a/b.git", None, false));
        assert_eq!(of("file:///srv/a").unwrap(), git("file:///srv/a", None, true));
        assert_eq!(of("some-skill").unwrap(), npm(&["some-skill"], None));
        assert_eq!(of("some-skill@^1.2").unwrap(), npm(&["some-skill"], Some("^1.2")));
        assert_eq!(of("@me/skill@next").unwrap(), npm(&["@me/skill"], Some("next")));
        assert_eq!(of("me/skill").unwrap(), npm(&["@me/skill", "me-skill"], None));
    }

    #[test]
    fn what_could_be_taken_for_an_option_or_start_another_program_is_refused() {
        for given in [
            "",
            " ",
            "a\nb",
            "-x",
            "--upload-pack=touch x",
            "ext::sh -c x",
            "fd::3",
            "http://example.org/a",
            "git://example.org/a",
            "ftp://example.org/a",
            "ssh://-oProxyCommand=x/a",
            "-oProxyCommand=x@host:a.git",
            "user@-oProxyCommand=x:a.git",
            "ssh:///a",
            "https://example.org/a#--x",
            "https://example.org/a#a:b",
            "https://example.org/a#",
            "https://example.org/a#+x",
            "https://example.org/a.zip",
            "file:a",
            "github:a/b",
            "git+https://example.org/a",
            "@me/name@npm:other",
            "name@--x",
            "name@",
            "a/b/c",
            "@a",
            "Name",
            "./missing",
            "missing.zip",
            "~/missing",
            "C:\\missing",
        ] {
            let refused = of(given).unwrap_err();
            assert!(refused.contains("names no source"), "{given}: {refused}");
        }
    }

    #[test]
    fn a_path_that_is_there_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let environment = Environment::new(folder.path());
        for name in ["plain", "me/skill", "-x"] {
            std::fs::create_dir_all(folder.path().join(name)).unwrap();
            assert_eq!(Source::new(name, &environment).unwrap(), Source::Folder(folder.path().join(name)));
        }
        for name in ["a.skill", "b.ZIP"] {
            std::fs::write(folder.path().join(name), "").unwrap();
            assert_eq!(Source::new(name, &environment).unwrap(), Source::Archive(folder.path().join(name)));
        }
        std::fs::write(folder.path().join("a.tar"), "").unwrap();
        assert!(Source::new("a.tar", &environment).is_err());
    }

    #[test]
    fn what_names_itself_nowhere_is_called_after_its_source() {
        for (given, stem) in [
            ("https://example.org/my-skill.git/", "my-skill"),
            ("git@example.org:my-skill.git", "my-skill"),
            ("me/my-skill", "me-my-skill"),
            ("@me/my-skill", "my-skill"),
            ("https://example.org/..", "skill"),
            ("https://example.org/target", "skill"),
        ] {
            assert_eq!(of(given).unwrap().stem(), stem, "{given}");
        }
    }
}
