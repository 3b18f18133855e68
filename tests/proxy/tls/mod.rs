//! An upstream that speaks TLS, whose certificate counts where the system trusts its authority, and not otherwise.
//!
//! `server.pem` is for `localhost`, signed by `authority.pem`, whose key is nowhere any more; both are valid from 2020 to 2120.

use super::program::started;
use super::world::{Never, within};
use crate::place::Place;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use serde_json::json;
use std::sync::Arc;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;

/// Answers with the length of what it was sent.
async fn upstream() -> String {
    let chain = vec![CertificateDer::from_pem_slice(include_bytes!("server.pem")).unwrap()];
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config.with_no_client_auth().with_single_cert(chain, key).unwrap()));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // Who doesn't trust it hangs up.
                let Ok(stream) = acceptor.accept(stream).await else { return };
                let service = service_fn(async |request: Request<Incoming>| {
                    let host = request.headers()["host"].to_str().unwrap().to_owned();
                    let bytes = request.into_body().collect().await.unwrap().to_bytes().len();
                    Ok::<_, Never>(Response::new(Full::<Bytes>::from(format!("{bytes} to {host}"))))
                });
                let _ = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    });
    format!("https://localhost:{port}")
}

#[tokio::test]
async fn an_upstream_by_tls_is_reached_where_it_is_trusted() {
    let (place, url) = (Place::new(), upstream().await);
    let authority = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/proxy/tls/authority.pem");
    for (variable, status) in [(("SSL_CERT_FILE", authority), "200"), (("OTHER", ""), "502")] {
        let (_server, address) = started(&place, &["--upstream", &url, "--listen", "127.0.0.1:0"], &[variable]).await;
        let body = json!({"model": "m", "messages": [{"role": "user", "content": "hi"}]}).to_string();
        let head = format!(
            "POST /v1/chat/completions HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        );
        let mut stream = TcpStream::connect(&address).await.unwrap();
        stream.write_all(head.as_bytes()).await.unwrap();
        let mut answer = String::new();
        within(stream.read_to_string(&mut answer)).await.unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{answer}");
        assert_eq!(answer.ends_with(&format!(" to {}", &url["https://".len()..])), status == "200", "{answer}");
    }
}
