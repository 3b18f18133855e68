//! The API that the proxy stands before.

use http::Uri;
use http::uri::{Authority, PathAndQuery, Scheme};
use std::fmt;
use std::str::FromStr;

/// An API's address: `https://api.openai.com`, `http://127.0.0.1:11434`, `https://api.groq.com/openai/v1`.
///
/// Its path stands before that of each request. What both say is said once, so that it makes no difference whether an address ends in `/v1`:
///
/// ```
/// use tower_prompt::proxy::Upstream;
///
/// let upstream: Upstream = "https://api.groq.com/openai/v1".parse()?;
/// for path in ["/v1/chat/completions", "/chat/completions", "/openai/v1/chat/completions"] {
///     assert_eq!(upstream.path(path), "/openai/v1/chat/completions");
/// }
/// # Ok::<(), tower_prompt::proxy::InvalidUpstream>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Upstream {
    scheme: Scheme,
    authority: Authority,
    /// Without a slash at its end.
    base: String,
}

/// What is no [`Upstream`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InvalidUpstream {
    /// No URL.
    #[error("this is no URL that begins with `http://` or `https://`")]
    NoUrl,
    /// With a user's name or a password, which would be shown and not sent.
    #[error("credentials belong into the header of each request, not into the URL")]
    Credentials,
    /// With a query, which each request has of its own.
    #[error("there is a query behind the path")]
    Query,
}

impl FromStr for Upstream {
    type Err = InvalidUpstream;
    fn from_str(url: &str) -> Result<Self, InvalidUpstream> {
        let uri: Uri = url.parse().map_err(|_| InvalidUpstream::NoUrl)?;
        let parts = uri.into_parts();
        let scheme = parts.scheme.filter(|scheme| *scheme == Scheme::HTTP || *scheme == Scheme::HTTPS).ok_or(InvalidUpstream::NoUrl)?;
        let authority = parts.authority.filter(|authority| !authority.host().is_empty()).ok_or(InvalidUpstream::NoUrl)?;
        if authority.as_str().contains('@') {
            return Err(InvalidUpstream::Credentials);
        }
        let path = parts.path_and_query.unwrap_or(PathAndQuery::from_static("/"));
        if path.query().is_some() || url.contains('#') {
            return Err(InvalidUpstream::Query);
        }
        Ok(Self { scheme, authority, base: path.path().trim_end_matches('/').to_owned() })
    }
}

impl Upstream {
    /// The path there of a request for `path`, whose query may stand behind it.
    pub fn path(&self, path: &str) -> String {
        let is_said = |end: &&str| path.strip_prefix(*end).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '?']));
        let ends = self.base.match_indices('/').map(|(at, _)| &self.base[at..]);
        // The longest first.
        let said = { ends }.find(is_said).unwrap_or_default();
        format!("{}{path}", &self.base[..self.base.len() - said.len()])
    }
    pub(super) fn uri(&self, path: &str) -> Result<Uri, http::Error> {
        Uri::builder().scheme(self.scheme.clone()).authority(self.authority.clone()).path_and_query(self.path(path)).build()
    }
    /// Who answers there, as profiles and the table of models name it.
    pub(super) fn provider(&self) -> Option<&'static str> {
        match self.authority.host() {
            "api.openai.com" => Some("openai"),
            "api.anthropic.com" => Some("anthropic"),
            "generativelanguage.googleapis.com" => Some("google"),
            _ => None,
        }
    }
}

impl fmt::Display for Upstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme, self.authority, self.base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_join_and_queries_stay() {
        for (upstream, path, joined) in [
            ("http://a", "/v1/chat/completions?a=b%20c", "/v1/chat/completions?a=b%20c"),
            ("http://a/", "/v1/messages", "/v1/messages"),
            ("http://a/v1", "/v1/messages?beta=true", "/v1/messages?beta=true"),
            ("http://a/v1/", "/messages", "/v1/messages"),
            ("http://a/v1", "/v1beta/models", "/v1/v1beta/models"),
            ("http://a/openai/v1", "/v1?x", "/openai/v1?x"),
            ("http://a/a/a", "/a/a/b", "/a/a/b"),
            ("http://a/b", "/", "/b/"),
        ] {
            assert_eq!(upstream.parse::<Upstream>().unwrap().path(path), joined, "{upstream} {path}");
        }
    }

    #[test]
    fn what_is_no_address_says_why() {
        for (url, why) in [
            ("", InvalidUpstream::NoUrl),
            ("localhost:1", InvalidUpstream::NoUrl),
            ("/v1", InvalidUpstream::NoUrl),
            ("ftp://a", InvalidUpstream::NoUrl),
            ("http://", InvalidUpstream::NoUrl),
            ("http://me:secret@a", InvalidUpstream::Credentials),
            ("http://a/?key=1", InvalidUpstream::Query),
            ("http://a/#x", InvalidUpstream::Query),
        ] {
            assert_eq!(url.parse::<Upstream>(), Err(why), "{url}");
        }
        assert_eq!("https://[::1]:8/v1/".parse::<Upstream>().unwrap().to_string(), "https://[::1]:8/v1");
    }
}
