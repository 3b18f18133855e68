//! The proxy between real clients and real servers, on loopback sockets.

#[allow(dead_code, reason = "what other tests of real folders need of it")]
mod place;
#[cfg(all(unix, feature = "store-postgres"))]
#[allow(dead_code, reason = "what other tests of sessions need of it")]
mod postgres_place;

mod proxy {
    mod bad_input;
    mod headers;
    mod limits;
    mod paths;
    mod program;
    #[cfg(all(unix, any(feature = "store-sqlite", feature = "store-postgres")))]
    mod replicas;
    mod sessions;
    mod shown;
    mod skill_tool;
    mod streams;
    mod tls;
    mod world;
}
