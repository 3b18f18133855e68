//! What the machine is to the user: near or far, real or contained.

use crate::Environment;
use crate::blocking::{FILE_DEADLINE, off_the_executor_within};
use crate::files;
use crate::layers::{Diagnostic, Entry, Fragment, Prompt, Section, SheddingRank, Tier, Turn, sections};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

const NAME: &str = "hosting_environment";
/// Of each file that is looked at.
const MAX_BYTES: usize = 16 * 1024;

/// `hosting_environment`: local or over ssh, in which kind of container, in the Windows subsystem for Linux or not, in CI or not. Only that a
/// signal is there is told, never what it says. Looked up once; a machine stays what it is.
#[derive(Clone, Debug)]
pub struct HostingEnvironment {
    environment: Environment,
    /// Of the file system.
    root: PathBuf,
    known: Arc<OnceLock<String>>,
}

impl HostingEnvironment {
    /// Of this environment, and the system's own files.
    pub fn new(environment: Environment) -> Self {
        Self { environment, root: "/".into(), known: Arc::default() }
    }

    fn text(&self) -> String {
        let access = if self.any(&["SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY"]) { "over ssh" } else { "local" };
        let container = self.container();
        let yes_or_no = |is_so| if is_so { "yes" } else { "no" };
        let (wsl, ci) = (yes_or_no(self.is_wsl(container.is_some())), yes_or_no(self.is_ci()));
        format!("Session: {access}; container: {}; WSL: {wsl}; CI: {ci}", container.unwrap_or("none"))
    }

    fn any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.environment.get(name).is_some())
    }

    fn is_ci(&self) -> bool {
        let says_so = self.environment.get("CI").is_some_and(|ci| !["false", "0", "no"].iter().any(|no| ci.eq_ignore_ascii_case(no)));
        says_so || self.any(&CI)
    }

    /// The kernel's name tells of a container's host; inside of one the variables alone count.
    fn is_wsl(&self, in_container: bool) -> bool {
        let kernel = || ["proc/sys/kernel/osrelease", "proc/version"].iter().find_map(|file| self.read(file));
        self.any(&["WSL_DISTRO_NAME", "WSL_INTEROP"])
            || !in_container && kernel().is_some_and(|kernel| kernel.to_ascii_lowercase().contains("microsoft"))
    }

    fn container(&self) -> Option<&'static str> {
        if self.any(&["KUBERNETES_SERVICE_HOST"]) {
            return Some("kubernetes");
        }
        // As systemd has it: a runtime names itself in this variable, or in this file.
        let named = self.environment.get("container").map(str::to_owned).or_else(|| self.read("run/systemd/container"));
        if let Some(name) = named {
            return Some(kind_in(&name).unwrap_or(OTHER));
        }
        for (file, kind) in [("run/.containerenv", "podman"), (".dockerenv", "docker")] {
            if self.root.join(file).exists() {
                return Some(kind);
            }
        }
        if self.any(&["REMOTE_CONTAINERS", "CODESPACES"]) {
            return Some("devcontainer");
        }
        self.read("proc/1/cgroup").and_then(|groups| kind_in(&groups))
    }

    fn read(&self, file: &str) -> Option<String> {
        let (file, _) = files::open_regular(&self.root.join(file)).ok()??;
        let (bytes, _) = files::read_bounded(&file, MAX_BYTES).ok()?;
        Some(String::from_utf8_lossy(&bytes).into_owned())
    }
}

/// Set by CI systems that may not set `CI`.
const CI: [&str; 10] = [
    "GITHUB_ACTIONS",
    "GITLAB_CI",
    "BUILDKITE",
    "CIRCLECI",
    "JENKINS_URL",
    "TEAMCITY_VERSION",
    "TF_BUILD",
    "CODEBUILD_BUILD_ID",
    "BITBUCKET_BUILD_NUMBER",
    "DRONE",
];
const OTHER: &str = "of another kind";
/// What a runtime calls itself, or names its control groups after; the first that is there.
const KINDS: [(&str, &str); 9] = [
    ("kubepods", "kubernetes"),
    ("libpod", "podman"),
    ("podman", "podman"),
    ("docker", "docker"),
    ("containerd", "containerd"),
    ("lxc", "lxc"),
    ("nspawn", "systemd-nspawn"),
    ("flatpak", "flatpak"),
    ("ecs", "ecs"),
];

fn kind_in(text: &str) -> Option<&'static str> {
    let words: Vec<&str> = text.split(|c: char| !c.is_ascii_alphanumeric()).collect();
    KINDS.into_iter().find(|(word, _)| words.contains(word)).map(|(_, kind)| kind)
}

impl Section for HostingEnvironment {
    fn name(&self) -> &'static str {
        NAME
    }
    fn add(&self, _: &Turn, prompt: &mut Prompt) {
        if let Some(text) = self.known.get() {
            return prompt.add(Tier::Session, || fragment(text));
        }
        prompt.add_later(Tier::Session, || {
            let section = self.clone();
            let looked_up = off_the_executor_within(FILE_DEADLINE, move || section.known.get_or_init(|| section.text()).clone());
            async move {
                let late = || Diagnostic::warning("probe-failed", "what this machine is could not be looked up in time").into();
                [looked_up.await.map_or_else(late, |text| Entry::from(fragment(&text)))]
            }
        });
    }
}

fn fragment(text: &str) -> Fragment {
    sections::fragment(NAME, text).shedding(SheddingRank::MACHINE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn told(variables: &[(&str, &str)], system: &[(&str, &str)]) -> String {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in system {
            let file = folder.path().join(file);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, text).unwrap();
        }
        let of = |environment: Environment, (name, value): &(&str, &str)| environment.variable(*name, *value);
        let environment = variables.iter().fold(Environment::new("/"), of);
        HostingEnvironment { root: folder.path().into(), ..HostingEnvironment::new(environment) }.text()
    }

    #[test]
    fn what_says_nothing_is_a_machine_of_ones_own() {
        assert_eq!(told(&[], &[]), "Session: local; container: none; WSL: no; CI: no");
        let plain = [("proc/1/cgroup", "0::/init.scope\n"), ("proc/sys/kernel/osrelease", "6.12.0-generic\n")];
        assert_eq!(told(&[("CI", "false"), ("CI_NOTHING", "1"), ("SSH_AUTH_SOCK", "/x")], &plain), told(&[], &[]));
    }

    #[test]
    fn each_signal_is_told_and_nothing_of_what_it_says() {
        for (variable, told_of) in [
            ("SSH_CONNECTION", "Session: over ssh"),
            ("SSH_TTY", "Session: over ssh"),
            ("CI", "CI: yes"),
            ("GITHUB_ACTIONS", "CI: yes"),
            ("JENKINS_URL", "CI: yes"),
            ("WSL_DISTRO_NAME", "WSL: yes"),
            ("KUBERNETES_SERVICE_HOST", "container: kubernetes"),
            ("container", "container: of another kind"),
            ("CODESPACES", "container: devcontainer"),
        ] {
            let text = told(&[(variable, "hunter2")], &[]);
            assert!(text.contains(told_of) && !text.contains("hunter2"), "{variable}: {text}");
        }
    }

    #[test]
    fn a_container_is_known_by_its_files() {
        for (file, text, kind) in [
            (".dockerenv", "", "docker"),
            ("run/.containerenv", "name=\"hunter2\"", "podman"),
            ("run/systemd/container", "systemd-nspawn\n", "systemd-nspawn"),
            ("run/systemd/container", "hunter2\n", "of another kind"),
            ("proc/1/cgroup", "12:pids:/docker/0123456789abcdef\n", "docker"),
            ("proc/1/cgroup", "0::/kubepods.slice/kubepods-burstable.slice/cri-containerd-01.scope", "kubernetes"),
            ("proc/1/cgroup", "1:name=systemd:/lxc/hunter2", "lxc"),
            ("proc/1/cgroup", "0::/user.slice/dockers-friend.scope", "none"),
        ] {
            let text = told(&[], &[(file, text)]);
            assert!(text.contains(&format!("container: {kind};")) && !text.contains("hunter2"), "{file}: {text}");
        }
        assert!(told(&[("container", "podman")], &[(".dockerenv", "")]).contains("container: podman;"), "it knows itself best");
    }

    #[test]
    fn the_kernel_tells_of_wsl_but_not_from_within_a_container() {
        let kernel = ("proc/sys/kernel/osrelease", "5.15.153.1-microsoft-standard-WSL2\n");
        assert!(told(&[], &[kernel]).contains("WSL: yes"));
        assert!(told(&[], &[("proc/version", "Linux version 4.4.0-19041-Microsoft")]).contains("WSL: yes"));
        assert!(told(&[], &[kernel, (".dockerenv", "")]).contains("WSL: no"));
    }
}
