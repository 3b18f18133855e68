//! The proxy between real clients and real servers, on loopback sockets.

#[allow(dead_code, reason = "what other tests of real folders need of it")]
mod place;

mod proxy {
    mod bad_input;
    mod headers;
    mod limits;
    mod paths;
    mod program;
    mod sessions;
    mod shown;
    mod skill_tool;
    mod streams;
    mod tls;
    mod world;
}
