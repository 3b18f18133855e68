//! A request's body, held whole: within its bound, within its time, and without its compression.

use super::errors::Refusal;
use axum::body::Body;
use bytes::Bytes;
use http::header::CONTENT_ENCODING;
use http::{HeaderMap, Request, Response};
use http_body_util::{BodyExt, Collected, Full, LengthLimitError, Limited};
use std::error::Error;
use std::time::Duration;
use tower::{BoxError, ServiceExt, service_fn};
use tower_http::decompression::{DecompressionBody, RequestDecompression};
use tower_http::timeout::{TimeoutBody, TimeoutError};

/// The body as it came. `pause`: so long a client may send nothing.
pub(super) async fn read(body: Body, max: usize, pause: Duration) -> Result<Bytes, Refusal> {
    match Limited::new(TimeoutBody::new(pause, body), max).collect().await {
        Ok(whole) => Ok(whole.to_bytes()),
        Err(error) if is(&*error, <dyn Error>::is::<LengthLimitError>) => Err(Refusal::TooLarge(max)),
        Err(error) if is(&*error, <dyn Error>::is::<TimeoutError>) => Err(Refusal::Slow),
        Err(_) => Err(Refusal::CutOff),
    }
}

/// Why there is no plain body.
pub(super) enum NotPlain {
    TooLarge,
    /// A coding that is not known, or bytes that are not in it.
    Unknown,
}

/// The body without the coding that its headers name; at most `max` bytes.
pub(super) async fn decompressed(headers: &HeaderMap, body: Bytes, max: usize) -> Result<Bytes, NotPlain> {
    let mut codings = headers.get_all(CONTENT_ENCODING).iter();
    let Some(coding) = codings.next() else { return Ok(body) };
    if codings.next().is_some() {
        return Err(NotPlain::Unknown);
    }
    let mut request = Request::new(Full::new(body));
    request.headers_mut().insert(CONTENT_ENCODING, coding.clone());
    let collect = service_fn(move |request: Request<DecompressionBody<Full<Bytes>>>| async move {
        let plain = Limited::new(request.into_body(), max).collect().await?.to_bytes();
        Ok::<_, BoxError>(Response::new(Full::new(plain)))
    });
    let plain = RequestDecompression::new(collect).oneshot(request).await;
    match plain {
        Ok(plain) if plain.status().is_success() => {
            plain.into_body().collect().await.map(Collected::to_bytes).map_err(|_| NotPlain::Unknown)
        }
        Err(error) if is(&*error, <dyn Error>::is::<LengthLimitError>) => Err(NotPlain::TooLarge),
        _ => Err(NotPlain::Unknown),
    }
}

/// Whether an error, or one that it came from, is such.
fn is(error: &(dyn Error + 'static), is_such: impl Fn(&(dyn Error + 'static)) -> bool) -> bool {
    std::iter::successors(Some(error), |&error| error.source()).any(is_such)
}
