//! Headers: what is not sent on, what is ours, and who calls.

use crate::layers::Purpose;
use crate::sessions::SessionId;
use http::header::{AUTHORIZATION, CONNECTION, CONTENT_LENGTH, EXPECT, HOST};
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};

/// What a request is for: `converse`, `same-prefix` or `bare`.
pub(super) const PURPOSE: HeaderName = HeaderName::from_static("x-tower-prompt-purpose");
/// `true`: the history was compacted, and its head kept.
pub(super) const COMPACTED: HeaderName = HeaderName::from_static("x-tower-prompt-compacted");
/// On requests that are assembled, or are to stay bare: another proxy passes them on untouched.
pub(super) const ASSEMBLED: HeaderName = HeaderName::from_static("x-tower-prompt-assembled");

/// Of one connection (RFC 9110, 7.6.1), and what goes with them.
const OF_ONE_CONNECTION: [&str; 9] = [
    "connection",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Who signs a body, or sends its digest, must have it sent as it is.
const OF_THE_BODY: [&str; 7] =
    ["content-digest", "content-md5", "digest", "repr-digest", "signature", "signature-input", "x-amz-content-sha256"];

/// What credentials come in.
const CREDENTIALS: [&str; 5] = ["authorization", "x-api-key", "api-key", "x-goog-api-key", "ocp-apim-subscription-key"];

/// Takes out what belongs to one connection: the well-known ones, and those that `Connection` names.
pub(super) fn drop_hop_by_hop(headers: &mut HeaderMap) {
    let listed = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
    let named: Vec<HeaderName> = listed.filter_map(|name| HeaderName::from_bytes(name.trim().as_bytes()).ok()).collect();
    for name in named {
        headers.remove(name);
    }
    for name in OF_ONE_CONNECTION {
        headers.remove(name);
    }
}

/// Takes out of a request what is not for the API: the framing, which is made anew, and what was said to us.
pub(super) fn for_upstream(headers: &mut HeaderMap) {
    drop_hop_by_hop(headers);
    for name in [HOST, CONTENT_LENGTH, EXPECT, PURPOSE, COMPACTED] {
        headers.remove(name);
    }
}

pub(super) fn binds_the_body(headers: &HeaderMap) -> bool {
    let is_signed = |value: &HeaderValue| value.as_bytes().starts_with(b"AWS4-");
    OF_THE_BODY.iter().any(|name| headers.contains_key(*name)) || headers.get_all(AUTHORIZATION).iter().any(is_signed)
}

/// What the header says; `None` where it says nothing that is known.
pub(super) fn purpose(headers: &HeaderMap) -> Option<Purpose> {
    match headers.get(PURPOSE)?.as_bytes().trim_ascii() {
        b"converse" => Some(Purpose::Converse),
        b"same-prefix" => Some(Purpose::SamePrefix),
        b"bare" => Some(Purpose::Bare),
        _ => None,
    }
}

pub(super) fn is_compacted(headers: &HeaderMap) -> bool {
    headers.get(COMPACTED).is_some_and(|value| value.as_bytes().eq_ignore_ascii_case(b"true") || value == "1")
}

/// A hash of the credentials that come with a request, the same in every replica.
pub(super) fn scope(headers: &HeaderMap, query: Option<&str>) -> String {
    let mut hash = Sha256::new();
    for name in CREDENTIALS {
        for value in headers.get_all(name) {
            update(&mut hash, name.as_bytes());
            update(&mut hash, value.as_bytes());
        }
    }
    let keys = query.into_iter().flat_map(|query| query.split('&')).filter_map(|pair| pair.strip_prefix("key="));
    keys.for_each(|key| update(&mut hash, key.as_bytes()));
    hex(hash)
}

/// The name of a conversation among those of all callers.
pub(super) fn session_id(scope: &str, named: &HeaderValue) -> Option<SessionId> {
    let mut hash = Sha256::new();
    update(&mut hash, scope.as_bytes());
    update(&mut hash, named.as_bytes());
    SessionId::new(&hex(hash)).ok().filter(|_| !named.is_empty())
}

/// With its length, so that no two lists of values read alike.
fn update(hash: &mut Sha256, value: &[u8]) {
    hash.update((value.len() as u64).to_le_bytes());
    hash.update(value);
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().fold(String::with_capacity(64), |text, byte| format!("{text}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(lines: &[(&str, &str)]) -> HeaderMap {
        lines.iter().map(|(name, value)| (name.parse::<HeaderName>().unwrap(), value.parse::<HeaderValue>().unwrap())).collect()
    }

    #[test]
    fn what_belongs_to_one_connection_stays_there() {
        let mut sent = headers(&[
            ("connection", "close, X-Hop"),
            ("x-hop", "1"),
            ("keep-alive", "timeout=5"),
            ("te", "trailers"),
            ("transfer-encoding", "chunked"),
            ("upgrade", "h2c"),
            ("proxy-authorization", "Basic x"),
            ("host", "elsewhere"),
            ("content-length", "3"),
            ("x-tower-prompt-purpose", "bare"),
            ("authorization", "Bearer k"),
            ("x-custom", "kept"),
        ]);
        for_upstream(&mut sent);
        assert_eq!(sent, headers(&[("authorization", "Bearer k"), ("x-custom", "kept")]));
    }

    #[test]
    fn scopes_differ_where_credentials_do_and_show_none() {
        let one = scope(&headers(&[("authorization", "Bearer secret")]), None);
        assert_eq!(one, scope(&headers(&[("authorization", "Bearer secret"), ("x-other", "1")]), Some("alt=sse")));
        assert!(!one.contains("secret"));
        let others = [
            scope(&headers(&[]), None),
            scope(&headers(&[("authorization", "Bearer other")]), None),
            scope(&headers(&[("x-api-key", "Bearer secret")]), None),
            scope(&headers(&[]), Some("alt=sse&key=secret")),
            scope(&headers(&[]), Some("key=other")),
        ];
        for (n, other) in others.iter().enumerate() {
            assert!(*other != one && !others[..n].contains(other), "{n}");
        }
        let session = |scope: &str, id: &'static str| session_id(scope, &HeaderValue::from_static(id));
        assert_eq!(session(&one, "a"), session(&one, "a"));
        assert!(session(&one, "a") != session(&one, "b") && session(&one, "a") != session(&others[0], "a"));
        assert_eq!(session(&one, ""), None);
    }
}
