//! The machine.

use super::bounded;
use crate::Environment;
use crate::layers::{Prompt, Section, Tier, Turn, sections};
use std::env::consts;

const SEPARATORS: [char; 2] = ['/', '\\'];

/// `execution_environment`: operating system, architecture, the shell's executable name. Once a conversation.
#[derive(Clone, Debug)]
pub struct ExecutionEnvironment {
    environment: Environment,
}

impl ExecutionEnvironment {
    /// Of this environment.
    pub fn new(environment: Environment) -> Self {
        Self { environment }
    }

    fn text(&self) -> String {
        let shell = self.environment.get("SHELL").or_else(|| self.environment.get("ComSpec"));
        // Either separator, whatever the system: what stands before it is no one's business.
        let shell = shell.and_then(|shell| shell.trim_end_matches(SEPARATORS).rsplit(SEPARATORS).next());
        let shell = shell.map(bounded).filter(|name| !name.is_empty());
        let shell = shell.map(|name| format!("\nShell: {name}")).unwrap_or_default();
        format!("Operating system: {}\nArchitecture: {}{shell}", consts::OS, consts::ARCH)
    }
}

impl Section for ExecutionEnvironment {
    fn name(&self) -> &'static str {
        "execution_environment"
    }
    fn add(&self, _: &Turn, prompt: &mut Prompt) {
        prompt.add(Tier::Session, || sections::fragment("execution_environment", &self.text()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_the_shell_only_the_name_is_told() {
        for shell in ["/home/me/bin/fish", "C:\\home\\me\\fish", "fish", "/home/me/fish/"] {
            let text = ExecutionEnvironment::new(Environment::new("/").variable("SHELL", shell)).text();
            assert!(text.ends_with("\nShell: fish") && !text.contains("home"), "{text}");
        }
        assert!(!ExecutionEnvironment::new(Environment::new("/")).text().contains("Shell"));
    }
}
