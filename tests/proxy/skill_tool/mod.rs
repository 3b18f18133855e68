//! The skill tool, answered inside the proxy: clients that know nothing of skills, in each format, streamed and not.

mod held;
mod model;
mod refused;
mod rounds;
mod streams;

use super::world::{Running, Upstream, World};
use model::Way;
use serde_json::Value;

const CONFIG: &str = "proxy.answer_skill_tool = true\nskills.prompt.catalog = 'off'\ncontext.cache_marks = false";

async fn proxy(world: &World, upstream: &Upstream) -> Running {
    world.proxy(CONFIG, &upstream.url()).await
}

/// The body of the next request at the upstream.
async fn sent(upstream: &mut Upstream) -> Value {
    serde_json::from_slice(&upstream.seen().await.body).unwrap()
}

fn messages(way: Way, body: &Value) -> Vec<Value> {
    body[way.field()].as_array().unwrap().clone()
}

/// Whether a request holds a call of the skill tool, an answer to it, or its definition.
fn count(body: &Value, what: &str) -> usize {
    body.to_string().matches(what).count()
}
