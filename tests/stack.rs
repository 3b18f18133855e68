//! The whole stack, as a configuration makes it: real folders, real requests, and an environment that is a value.

mod place;

mod stack {
    mod activation;
    mod budget;
    #[cfg(unix)]
    mod every_key;
    mod git;
    #[cfg(unix)]
    mod git_runs;
    mod instructions;
    #[cfg(unix)]
    mod programs;
    mod sections;
    mod selector;
    mod sessions;
    mod skill_tool;
    mod skills;
    mod talk;
}
