//! `serve`: the proxy.

use super::store;
use super::terminal::{Terminal, printable};
use super::workspace::WorkspaceOptions;
use super::{Failure, Outcome};
use crate::config::{ProxyConfig as Settings, TextForm};
use crate::proxy::{Proxy, Upstream};
use clap::Args;
use std::io::Write;
use std::num::NonZeroUsize;
use tokio::net::TcpListener;

/// Stand before an LLM's API as a proxy.
#[derive(Args)]
pub(super) struct Serve {
    #[command(flatten)]
    workspace: WorkspaceOptions,
    /// The API that requests are sent on to, such as `https://api.openai.com` [default: `proxy.upstream`]
    #[arg(long, value_name = "URL")]
    upstream: Option<String>,
    /// Where to listen; port 0 takes a free one [default: `proxy.listen`, which is 127.0.0.1:8484 unless set]
    #[arg(long, value_name = "HOST:PORT")]
    listen: Option<String>,
    /// Where conversations that a header names are kept: `sqlite:PATH`, or `postgres://USER@HOST/DATABASE`, whose password comes from PGPASSWORD or
    /// the file of PGPASSFILE [default: `proxy.store`, and without it in memory]
    #[arg(long, value_name = "URL")]
    store: Option<String>,
    /// Requests at the same time [default: `proxy.max_concurrent_requests`]
    #[arg(long, value_name = "NUMBER")]
    max_concurrent_requests: Option<NonZeroUsize>,
    /// Offer the skill tool to models and answer it here, so that clients which know nothing of skills have them [default: `proxy.answer_skill_tool`]
    #[arg(long)]
    tools: bool,
    /// Don't say on stderr what was asked for; never is a prompt or a key said
    #[arg(short, long)]
    quiet: bool,
}

impl Serve {
    pub(super) fn run(self, terminal: &mut Terminal) -> Outcome {
        if let Some(listen) = self.listen.as_ref().filter(|listen| !TextForm::Address.fits(listen)) {
            return Err(Failure::Usage(format!("--listen {listen}: an address is wanted, such as 127.0.0.1:8484")));
        }
        if let Some(store) = &self.store {
            store::check(store)?;
        }
        let upstream = self.upstream.as_deref().map(|url| upstream("--upstream", url).map_err(Failure::Usage)).transpose()?;
        let assembly = self.workspace.assembly(terminal)?;
        let settings = &assembly.config().proxy;
        let upstream = match (upstream, &settings.upstream) {
            (Some(upstream), _) => upstream,
            (None, Some(url)) => self::upstream("proxy.upstream", url).map_err(Failure::Failed)?,
            (None, None) => return Err(Failure::Usage("serve needs to know the API: --upstream URL, or `proxy.upstream`".into())),
        };
        let mut proxy = Proxy::new(&assembly, upstream);
        if let Some(most) = self.max_concurrent_requests {
            proxy = proxy.limits(|limits| limits.concurrent_requests = most.get());
        }
        if self.tools && !settings.answer_skill_tool {
            proxy = proxy.answer_skill_tool(&assembly);
        }
        if !self.quiet {
            // In one write a line, so that lines of two requests don't mix. Where talk can't be written there is no one to tell.
            proxy = proxy.on_access(|access| {
                let _ = std::io::stderr().write_all(format!("{}\n", printable(&access.to_string())).as_bytes());
            });
        }
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().map_err(Failure::failed)?;
        if let Some(store) = self.store.as_ref().or(settings.store.as_ref()) {
            proxy = proxy.sessions(runtime.block_on(store::open(store))?);
            terminal.say(&format!("Conversations that a header names are kept in {}", printable(store)));
        }
        let served = runtime.block_on(serve(proxy, self.listen.as_deref().unwrap_or(&settings.listen), settings, terminal));
        // What ran on at a second signal is not waited for.
        runtime.shutdown_background();
        served
    }
}

async fn serve(proxy: Proxy, listen: &str, settings: &Settings, terminal: &mut Terminal) -> Outcome {
    let failed = |error: std::io::Error| Failure::failed(format!("{listen}: {error}"));
    let listener = TcpListener::bind(listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    terminal.say(&format!("Listening on http://{address}, before {}", proxy.upstream()));
    if !address.ip().is_loopback() {
        terminal.say("Other machines can reach it: whoever does speaks to the API with their own key, and with your prompt");
    }
    if settings.show_last {
        terminal.say(&format!("The last request is shown at http://{address}/__prompt/last, to this machine alone"));
    }
    let (asked, mut is_asked) = tokio::sync::watch::channel(false);
    let mut served = std::pin::pin!(proxy.serve(listener, async move {
        // An error would be that nobody can ask any more.
        let _ = is_asked.wait_for(|asked| *asked).await;
    }));
    tokio::select! {
        served = &mut served => return served.map_err(failed),
        () = signal() => {}
    }
    terminal.say("Taking no new requests; waiting for the running ones. A second signal ends them");
    let _ = asked.send(true);
    tokio::select! {
        served = &mut served => served.map_err(failed),
        () = signal() => Ok(()),
    }
}

fn upstream(what: &str, url: &str) -> Result<Upstream, String> {
    url.parse().map_err(|error| format!("{what} {url}: {error}"))
}

/// Ctrl-C, or where there is such a thing the signal that ends a service.
async fn signal() {
    #[cfg(unix)]
    if let Ok(mut terminate) = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = tokio::signal::ctrl_c() => {}
        }
        return;
    }
    let _ = tokio::signal::ctrl_c().await;
}
