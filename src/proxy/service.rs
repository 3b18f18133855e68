//! The proxy as a service of HTTP's own types: what routes beneath is nobody's business.

use super::Proxy;
use axum::Router;
use axum::body::Body;
use bytes::Bytes;
use http::{Request, Response};
use http_body::{Frame, SizeHint};
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower::{BoxError, Service};

/// A [`Proxy`] as a `tower::Service`, for a server of one's own. Always ready, and it never fails. Cheap to clone.
#[derive(Clone, Debug)]
pub struct ProxyService(Router);

impl<B> Service<Request<B>> for ProxyService
where
    B: http_body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    type Response = Response<ProxyBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<ProxyBody>, Infallible>> + Send>>;
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<B>) -> Self::Future {
        let answer = self.0.call(request);
        Box::pin(async move { Ok(answer.await?.map(ProxyBody)) })
    }
}

/// The body of an answer of the proxy's. It comes as the upstream sends it.
#[derive(Debug)]
pub struct ProxyBody(Body);

impl http_body::Body for ProxyBody {
    type Data = Bytes;
    type Error = BoxError;
    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        Pin::new(&mut self.0).poll_frame(cx).map_err(Into::into)
    }
    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }
    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl Proxy {
    /// The proxy as a service. Under [`serve`](Self::serve) it also knows who calls: without that it shows nobody the last request.
    pub fn service(&self) -> ProxyService {
        ProxyService(self.router())
    }
}
