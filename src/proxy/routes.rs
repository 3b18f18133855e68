//! What a path means: which API speaks, and whether a conversation comes with it.

use crate::layers::Purpose;
use crate::layers::wire::Format;
use http::Method;

/// In whose form errors are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Dialect {
    OpenAi,
    Anthropic,
    Gemini,
    Ollama,
}

/// What a conversation's path asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Route {
    pub(super) format: Format,
    /// Unless the request says otherwise.
    pub(super) purpose: Purpose,
}

impl Route {
    /// Of a path at the upstream; `None` where it passes through. Gemini's `countTokens` does too, since it takes no system instruction beside the
    /// contents, and so do the forms of OpenAI's that count and compact, which take no cache key.
    pub(super) fn of(method: &Method, path: &str) -> Option<Self> {
        if *method != Method::POST {
            return None;
        }
        let path = path.trim_end_matches('/');
        let route = |format, purpose| Some(Self { format, purpose });
        let ends = |end: &str| path.ends_with(end);
        match () {
            () if ends(":generateContent") || ends(":streamGenerateContent") => route(Format::Gemini, Purpose::Converse),
            () if ends("/chat/completions") => route(Format::OpenAiChat, Purpose::Converse),
            () if ends("/responses") => route(Format::OpenAiResponses, Purpose::Converse),
            () if ends("/v1/messages") => route(Format::Anthropic, Purpose::Converse),
            () if ends("/v1/messages/count_tokens") => route(Format::Anthropic, Purpose::SamePrefix),
            () if ends("/api/chat") => route(Format::Ollama, Purpose::Converse),
            () if ends("/api/generate") => route(Format::OllamaGenerate, Purpose::Converse),
            () => None,
        }
    }
}

impl Dialect {
    pub(super) fn of(path: &str) -> Self {
        let has = |part: &str| path.contains(part);
        match () {
            () if has("/v1/messages") => Self::Anthropic,
            () if has("/v1beta/") || has(":generateContent") || has(":streamGenerateContent") => Self::Gemini,
            () if has("/api/") && !has("/v1/") => Self::Ollama,
            () => Self::OpenAi,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_paths_are_known() {
        for (path, format, purpose) in [
            ("/v1/chat/completions", Format::OpenAiChat, Purpose::Converse),
            ("/openai/deployments/x/chat/completions", Format::OpenAiChat, Purpose::Converse),
            ("/v1/responses", Format::OpenAiResponses, Purpose::Converse),
            ("/v1/messages", Format::Anthropic, Purpose::Converse),
            ("/v1/messages/count_tokens", Format::Anthropic, Purpose::SamePrefix),
            ("/v1beta/models/gemini-2.5-pro:generateContent", Format::Gemini, Purpose::Converse),
            ("/v1/projects/p/models/m:streamGenerateContent", Format::Gemini, Purpose::Converse),
            ("/api/chat", Format::Ollama, Purpose::Converse),
            ("/api/generate", Format::OllamaGenerate, Purpose::Converse),
        ] {
            assert_eq!(Route::of(&Method::POST, path), Some(Route { format, purpose }), "{path}");
            assert_eq!(Route::of(&Method::GET, path), None, "{path}");
        }
        for path in [
            "/",
            "/v1/models",
            "/v1/embeddings",
            "/v1/completions",
            "/v1/threads/t/messages",
            "/v1/messages/batches",
            "/v1/responses/input_tokens",
            "/v1/responses/r/cancel",
            "/v1beta/models/m:countTokens",
            "/api/embed",
            "/api/chats",
        ] {
            assert_eq!(Route::of(&Method::POST, path), None, "{path}");
        }
    }
}
