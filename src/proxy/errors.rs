//! What the proxy itself refuses, or could not do: said in the form of the API that was called.

use super::routes::Dialect;
use axum::body::Body;
use http::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use http::{Response, StatusCode};
use serde_json::{Value, json};

/// Why a request was not answered by the API.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    TooLarge(usize),
    /// The client was too slow with its body.
    Slow,
    /// The client's body broke off.
    CutOff,
    /// For a host that we are not.
    OtherHost,
    TooMany,
    Unreachable,
    Late,
    BadPath,
}

impl Refusal {
    pub(super) fn status(self) -> StatusCode {
        match self {
            Self::TooLarge(_) => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Slow => StatusCode::REQUEST_TIMEOUT,
            Self::CutOff | Self::BadPath => StatusCode::BAD_REQUEST,
            Self::OtherHost => StatusCode::MISDIRECTED_REQUEST,
            Self::TooMany => StatusCode::SERVICE_UNAVAILABLE,
            Self::Unreachable => StatusCode::BAD_GATEWAY,
            Self::Late => StatusCode::GATEWAY_TIMEOUT,
        }
    }
    fn message(self) -> String {
        match self {
            Self::TooLarge(max) => format!("tower-prompt: the request's body has more than {max} bytes (proxy.max_body_bytes)"),
            Self::Slow => "tower-prompt: the request's body took too long".into(),
            Self::CutOff => "tower-prompt: the request's body broke off".into(),
            Self::OtherHost => "tower-prompt: this proxy stands before one API alone, and answers for no other host".into(),
            Self::TooMany => "tower-prompt: too many requests at once (proxy.max_concurrent_requests)".into(),
            Self::Unreachable => "tower-prompt: the upstream can't be reached".into(),
            Self::Late => "tower-prompt: the upstream took too long".into(),
            Self::BadPath => "tower-prompt: there is no such path".into(),
        }
    }
    /// Its name in logs, and for programs.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::TooLarge(_) => "body_too_large",
            Self::Slow => "body_timeout",
            Self::CutOff => "body_cut_off",
            Self::OtherHost => "other_host",
            Self::TooMany => "too_many_requests_at_once",
            Self::Unreachable => "upstream_unreachable",
            Self::Late => "upstream_timeout",
            Self::BadPath => "bad_path",
        }
    }
    fn is_the_clients(self) -> bool {
        self.status().is_client_error()
    }
    pub(super) fn body(self, dialect: Dialect) -> Value {
        let (message, code) = (self.message(), self.code());
        match dialect {
            Dialect::OpenAi => {
                let kind = if self.is_the_clients() { "invalid_request_error" } else { "server_error" };
                json!({"error": {"message": message, "type": kind, "param": null, "code": code}})
            }
            Dialect::Anthropic => {
                let kind = match self {
                    Self::TooLarge(_) => "request_too_large",
                    Self::TooMany => "overloaded_error",
                    Self::Late => "timeout_error",
                    _ if self.is_the_clients() => "invalid_request_error",
                    _ => "api_error",
                };
                json!({"type": "error", "error": {"type": kind, "message": message}})
            }
            Dialect::Gemini => {
                let status = match self {
                    Self::Late | Self::Slow => "DEADLINE_EXCEEDED",
                    _ if self.is_the_clients() => "INVALID_ARGUMENT",
                    _ => "UNAVAILABLE",
                };
                json!({"error": {"code": self.status().as_u16(), "message": message, "status": status}})
            }
            Dialect::Ollama => json!({"error": message}),
        }
    }
    pub(super) fn answer(self, dialect: Dialect) -> Response<Body> {
        let mut answer = Response::new(Body::from(self.body(dialect).to_string()));
        *answer.status_mut() = self.status();
        answer.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self == Self::TooMany {
            answer.headers_mut().insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_have_the_form_of_the_api() {
        let body = |refusal: Refusal, dialect| refusal.body(dialect);
        let openai = body(Refusal::TooLarge(7), Dialect::OpenAi);
        assert_eq!((&openai["error"]["type"], &openai["error"]["code"]), (&json!("invalid_request_error"), &json!("body_too_large")));
        assert!(openai["error"]["param"].is_null() && openai["error"]["message"].as_str().unwrap().contains("7 bytes"));
        let anthropic = body(Refusal::TooMany, Dialect::Anthropic);
        assert_eq!((&anthropic["type"], &anthropic["error"]["type"]), (&json!("error"), &json!("overloaded_error")));
        let gemini = body(Refusal::Late, Dialect::Gemini);
        assert_eq!((&gemini["error"]["code"], &gemini["error"]["status"]), (&json!(504), &json!("DEADLINE_EXCEEDED")));
        assert!(body(Refusal::Unreachable, Dialect::Ollama)["error"].is_string());
    }
}
