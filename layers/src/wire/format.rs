//! The JSON wires by name: for programs that learn at run time which API they talk to.

use super::{Anthropic, Conversation, Edits, Gemini, OllamaChat, OllamaGenerate, OpenAiChat, OpenAiResponses, Wire};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;
use std::str::FromStr;

/// A JSON body's format.
///
/// ```
/// use tower_prompt_layers::wire::Format;
///
/// assert_eq!("anthropic".parse(), Ok(Format::Anthropic));
/// assert_eq!(Format::OpenAiChat.to_string(), "openai-chat");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Format {
    /// [`OpenAiChat`]
    #[serde(rename = "openai-chat")]
    OpenAiChat,
    /// [`OpenAiResponses`]
    #[serde(rename = "openai-responses")]
    OpenAiResponses,
    /// [`Anthropic`]
    #[serde(rename = "anthropic")]
    Anthropic,
    /// [`Gemini`]
    #[serde(rename = "gemini")]
    Gemini,
    /// [`OllamaChat`]
    #[serde(rename = "ollama")]
    Ollama,
    /// [`OllamaGenerate`]
    #[serde(rename = "ollama-generate")]
    OllamaGenerate,
}

impl Format {
    /// All of them.
    pub const ALL: [Self; 6] = [Self::OpenAiChat, Self::OpenAiResponses, Self::Anthropic, Self::Gemini, Self::Ollama, Self::OllamaGenerate];

    /// Its name, as `--format` takes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAiChat => "openai-chat",
            Self::OpenAiResponses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Ollama => "ollama",
            Self::OllamaGenerate => "ollama-generate",
        }
    }
    fn wire(self) -> &'static dyn Wire<Value> {
        match self {
            Self::OpenAiChat => &OpenAiChat,
            Self::OpenAiResponses => &OpenAiResponses,
            Self::Anthropic => &Anthropic,
            Self::Gemini => &Gemini,
            Self::Ollama => &OllamaChat,
            Self::OllamaGenerate => &OllamaGenerate,
        }
    }
}

impl Wire<Value> for Format {
    fn read(&self, request: &Value) -> Conversation {
        self.wire().read(request)
    }
    fn write(&self, request: Value, edits: &Edits) -> Value {
        self.wire().write(request, edits)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A name that no [`Format`] has.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownFormat(String);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown format `{}`; one of {}", self.0, Format::ALL.map(Format::as_str).join(", "))
    }
}
impl std::error::Error for UnknownFormat {}

impl FromStr for Format {
    type Err = UnknownFormat;
    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        Self::ALL.into_iter().find(|format| format.as_str() == name).ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}
