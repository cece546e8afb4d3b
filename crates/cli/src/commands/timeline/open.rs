//! `rostrace timeline` without a file: a page for the browser of this machine, until Ctrl-C.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;
use rostrace_ctf::Damage;
use rostrace_report::served::{Options, ServedTimeline, Server};

use super::TimelineArguments;
use super::enter_key::EnterKey;
use super::redirect_page::RedirectPage;
use crate::capabilities;
use crate::desktop;
use crate::interrupt;
use crate::outcome::Outcome;
use crate::recorded::Recorded;
use crate::render::{damage, diagnostic};
use crate::source;
use crate::view::View;

pub(super) fn open(arguments: &TimelineArguments) -> anyhow::Result<Outcome> {
    let Recorded { set, model, .. } = Recorded::read(&arguments.input.traces)?;
    let view = View::new(&set, &model, &arguments.filter)?;
    diagnostic::notes(&view.notes());
    diagnostic::notes(view.nothing_left().as_slice());
    if let Some(lack) = capabilities::CALLBACKS.lack(&model.kinds) {
        diagnostic::note(lack);
    }
    let analysis = source::analysis(&set, &model, view.window().clone());
    if interrupt::requested() {
        return Ok(Outcome::Interrupted);
    }
    let damages = || set.damage.iter().chain(&model.damage);
    if let Some(headline) = damage::headline(damages()) {
        diagnostic::note(&headline);
    }
    let span = source::span(&set);
    let options = Options {
        title: title(&arguments.input.traces),
        at: arguments.at.map(|at| at.resolve(span)).transpose()?,
        losses: damages().filter_map(loss).collect(),
        selection: view.selection().clone(),
    };
    let timeline = ServedTimeline::new(&analysis, options);
    let port = arguments.port;
    let server = Server::bind(port).with_context(|| match port {
        0 => "no port of this machine can be listened on".to_owned(),
        port => format!("port {port} of this machine cannot be listened on"),
    })?;
    let address = server.address();
    writeln!(std::io::stdout(), "{address}")?;
    let page = (!arguments.no_browser)
        .then(|| start_browser(&address))
        .flatten();
    if page.is_none() {
        diagnostic::note("open this address in a browser of this machine; it works once");
    }
    let enter = EnterKey::new();
    diagnostic::note(match enter.exists() {
        true => {
            "the timeline is served to that browser alone; Enter prints an address for another one, Ctrl-C ends it"
        }
        false => "the timeline is served to that browser alone; Ctrl-C ends it",
    });
    let stop = || {
        // A new address that cannot be made or printed leaves the page as it is.
        if enter.was_pressed()
            && let Ok(address) = server.renew()
        {
            let _ = writeln!(std::io::stdout(), "{address}");
        }
        if server.is_opened()
            && let Some(page) = &page
        {
            page.delete();
        }
        interrupt::requested()
    };
    server
        .run(&timeline, &stop)
        .context("the timeline cannot be served any longer")?;
    drop(page);
    diagnostic::note("the timeline is closed");
    Ok(Outcome::of(damages()))
}

/// What the traces are called: their folders, without what is above them.
fn title(traces: &[PathBuf]) -> String {
    let names = traces.iter().map(|trace| {
        let full = trace.canonicalize().unwrap_or_else(|_| trace.clone());
        let name = full.file_name().unwrap_or(full.as_os_str());
        name.to_string_lossy().into_owned()
    });
    names.collect::<Vec<_>>().join(", ")
}

fn loss(damage: &Damage) -> Option<(rostrace_ctf::schema::Nanos, rostrace_ctf::schema::Nanos)> {
    let window = damage.begin.zip(damage.end)?;
    damage.kind.is_loss().then_some(window)
}

/// Asks the desktop to open a page that leads to an address, if there is a desktop. The page has to stay until it was read.
fn start_browser(address: &str) -> Option<RedirectPage> {
    if !desktop::exists() {
        return None;
    }
    let page = RedirectPage::write(address).ok()?;
    desktop::open(page.path()).then_some(page)
}
