//! Responses.

use super::AsyncOpenAi;
use super::items::{self, Item};
use crate::clients::describe;
use crate::layers::wire::{Conversation, Edits, OpenAiResponses, Wire};
use ::async_openai::types::responses::{
    CreateResponse, EasyInputContent, EasyInputMessage, InputContent, InputItem, InputParam, InputTextContent, Item as Structured, Tool,
};
use serde::Deserialize;
use serde_json::Value;

impl Item for InputItem {
    const FIELD: &'static str = "input";
    fn parse(value: &Value, before: Option<&Self>) -> serde_json::Result<Self> {
        match before {
            // The same message as another type has its fields in another order.
            Some(Self::Item(Structured::Message(_))) => Self::deserialize(value),
            _ => EasyInputMessage::deserialize(value).map(Self::EasyMessage).or_else(|_| Self::deserialize(value)),
        }
    }
    fn takes_system(&self) -> bool {
        false
    }
    fn is_bounded(&self) -> bool {
        // The wire knows which: results and calls of many kinds.
        !matches!(self, Self::ItemReference(_) | Self::EasyMessage(_) | Self::Item(Structured::Message(_) | Structured::Reasoning(_)))
    }
    fn said(text: &str) -> Self {
        message(vec![text])
    }
}

fn message(texts: Vec<&str>) -> InputItem {
    let content = |text: &str| InputContent::InputText(InputTextContent { text: text.to_owned(), ..InputTextContent::default() });
    let content = EasyInputContent::ContentList(texts.into_iter().map(content).collect());
    InputItem::EasyMessage(EasyInputMessage { content, ..EasyInputMessage::default() })
}

impl Wire<CreateResponse> for AsyncOpenAi {
    fn read(&self, request: &CreateResponse) -> Conversation {
        serde_json::to_value(request).map_or_else(|_| Conversation::foreign(), |body| OpenAiResponses.read(&body))
    }

    fn write(&self, mut request: CreateResponse, edits: &Edits) -> CreateResponse {
        if let Some(system) = &edits.system {
            let callers = request.instructions.as_deref().unwrap_or_default();
            let instructions = system.in_front_of(callers);
            if instructions != callers {
                request.instructions = Some(instructions);
            }
        }
        for tool in request.tools.iter_mut().flatten() {
            match tool {
                Tool::Function(tool) => describe(&tool.name, &mut tool.description, edits),
                Tool::Custom(tool) => describe(&tool.name, &mut tool.description, edits),
                _ => {}
            }
        }
        request.input = match request.input {
            InputParam::Items(items) => InputParam::Items(items::edited(items, &OpenAiResponses, edits)),
            InputParam::Text(text) => in_one_string(text, edits),
        };
        if let Some(key) = edits.cache.as_ref().and_then(|marks| marks.key.as_ref()) {
            request.prompt_cache_key.get_or_insert_with(|| key.clone());
        }
        request
    }
}

/// An input that is one string stays one until something stands behind it.
fn in_one_string(mut text: String, edits: &Edits) -> InputParam {
    for removal in edits.removals_at(0) {
        if let crate::layers::wire::Removal::Cut { keep, .. } = *removal {
            text.truncate(keep);
        }
    }
    let ours = edits.appends_at(0);
    if ours.is_empty() {
        return InputParam::Text(text);
    }
    let texts = std::iter::once(&*text).chain(ours.iter().map(|append| &*append.text));
    InputParam::Items(vec![message(texts.collect())])
}
