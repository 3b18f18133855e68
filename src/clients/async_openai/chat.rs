//! Chat Completions.

use super::AsyncOpenAi;
use super::items::{self, Item};
use crate::clients::describe;
use crate::layers::wire::{Conversation, Edits, OpenAiChat, Wire};
use ::async_openai::types::chat::{
    ChatCompletionRequestMessage, ChatCompletionRequestUserMessage, ChatCompletionTools, CreateChatCompletionRequest,
};
use serde::Deserialize;
use serde_json::Value;
use std::mem;

impl Item for ChatCompletionRequestMessage {
    const FIELD: &'static str = "messages";
    fn parse(value: &Value, _: Option<&Self>) -> serde_json::Result<Self> {
        Self::deserialize(value)
    }
    fn takes_system(&self) -> bool {
        matches!(self, Self::System(_) | Self::Developer(_))
    }
    fn is_bounded(&self) -> bool {
        matches!(self, Self::Tool(_) | Self::Function(_) | Self::Assistant(_))
    }
    fn said(text: &str) -> Self {
        ChatCompletionRequestUserMessage { content: text.into(), name: None }.into()
    }
}

impl Wire<CreateChatCompletionRequest> for AsyncOpenAi {
    fn read(&self, request: &CreateChatCompletionRequest) -> Conversation {
        serde_json::to_value(request).map_or_else(|_| Conversation::foreign(), |body| OpenAiChat.read(&body))
    }

    fn write(&self, mut request: CreateChatCompletionRequest, edits: &Edits) -> CreateChatCompletionRequest {
        for tool in request.tools.iter_mut().flatten() {
            match tool {
                ChatCompletionTools::Function(tool) => describe(&tool.function.name, &mut tool.function.description, edits),
                ChatCompletionTools::Custom(tool) => describe(&tool.custom.name, &mut tool.custom.description, edits),
            }
        }
        #[expect(deprecated, reason = "callers still send it")]
        for function in request.functions.iter_mut().flatten() {
            describe(&function.name, &mut function.description, edits);
        }
        let messages = mem::take(&mut request.messages);
        if let Some(system) = edits.system.as_ref().filter(|_| !messages.first().is_some_and(Item::takes_system)) {
            request.messages = items::system(system, &OpenAiChat);
        }
        request.messages.extend(items::edited(messages, &OpenAiChat, edits));
        if let Some(key) = edits.cache.as_ref().and_then(|marks| marks.key.as_ref()) {
            request.prompt_cache_key.get_or_insert_with(|| key.clone());
        }
        request
    }
}
