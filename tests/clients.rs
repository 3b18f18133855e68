//! Typed clients: real requests, through the real crates, to a server of ours that keeps their bytes.
#![cfg(any(feature = "async-openai", feature = "genai", feature = "rig"))]

#[path = "../examples/scripted/mod.rs"]
mod scripted;

mod clients {
    #[cfg(feature = "async-openai")]
    mod async_openai;
    #[cfg(feature = "async-openai")]
    mod conversations;
    #[cfg(feature = "genai")]
    mod genai;
    #[cfg(any(feature = "genai", feature = "rig"))]
    mod grown;
    #[cfg(feature = "rig")]
    mod rig;
    mod said;
}
