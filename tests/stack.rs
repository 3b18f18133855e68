//! The whole stack, as a configuration makes it: real folders, real requests, and an environment that is a value.

mod place;

mod stack {
    mod activation;
    mod git;
    mod instructions;
    mod sections;
    mod selector;
    mod sessions;
    mod skills;
    mod talk;
}
