//! Listens on the loopback address alone and answers who may ask.

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Builder;
use std::time::Duration;

use super::access::{Access, Verdict};
use super::request::{Refusal, Request};
use super::response::Response;
use crate::served::asset;
use crate::served::timeline::ServedTimeline;

/// A browser opens six; more are somebody who wants to keep us busy.
const MOST_CONNECTIONS: usize = 24;
/// How soon a wish to end is noticed.
const TICK: Duration = Duration::from_millis(100);

/// A port of this machine, and who may use it.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    port: u16,
    access: Access,
}

impl Server {
    /// Takes a port of 127.0.0.1, for 0 a free one that the system picks.
    pub fn bind(port: u16) -> io::Result<Server> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let port = listener.local_addr()?.port();
        Ok(Server {
            listener,
            port,
            access: Access::new(port)?,
        })
    }

    /// The address that opens the page; it works once.
    pub fn address(&self) -> String {
        self.access.address()
    }

    /// Another address that opens the page once; the one before works no longer.
    pub fn renew(&self) -> io::Result<String> {
        self.access.renew()
    }

    /// Whether a browser has used the address.
    pub fn is_opened(&self) -> bool {
        self.access.is_opened()
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Answers until `stop` says so.
    pub fn run(
        &self,
        timeline: &ServedTimeline<'_>,
        stop: &(dyn Fn() -> bool + Sync),
    ) -> io::Result<()> {
        let is_over = AtomicBool::new(false);
        let connections = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            // Without it the first look takes longer, and that is all.
            let _ = Builder::new().spawn_scoped(scope, || timeline.warm_up());
            Builder::new().spawn_scoped(scope, || {
                while !stop() && !is_over.load(Ordering::SeqCst) {
                    std::thread::sleep(TICK);
                }
                is_over.store(true, Ordering::SeqCst);
                // Whoever waits for connections gets one, and looks at the flag.
                let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
            })?;
            let result = loop {
                let accepted = self.listener.accept();
                if is_over.load(Ordering::SeqCst) {
                    break Ok(());
                }
                match accepted {
                    Ok((stream, _)) if connections.load(Ordering::SeqCst) >= MOST_CONNECTIONS => {
                        drop(stream);
                    }
                    Ok((stream, peer)) => {
                        connections.fetch_add(1, Ordering::SeqCst);
                        let leave = Leave(&connections);
                        // If there is no thread for it, the connection closes, and the browser asks again.
                        let _ = Builder::new().spawn_scoped(scope, move || {
                            let _leave = leave;
                            self.serve(stream, peer, timeline);
                        });
                    }
                    Err(error) if is_passing(&error) => std::thread::sleep(TICK),
                    Err(error) => break Err(error),
                }
            };
            is_over.store(true, Ordering::SeqCst);
            result
        })
    }

    fn serve(&self, mut stream: TcpStream, peer: SocketAddr, timeline: &ServedTimeline<'_>) {
        if !peer.ip().is_loopback() {
            return;
        }
        let response = match Request::read(&mut stream) {
            // A mistake in one answer shall not end the others.
            Ok(request) => catch_unwind(AssertUnwindSafe(|| self.respond(&request, timeline)))
                .unwrap_or_else(|_| Response::bare("500 Internal Server Error")),
            Err(Refusal::Malformed) => Response::bare("400 Bad Request"),
            Err(Refusal::Gone) => return,
        };
        // A browser that went away does not want its answer.
        let _ = response.send(&mut stream);
        drain(&mut stream);
    }

    fn respond(&self, request: &Request, timeline: &ServedTimeline<'_>) -> Response {
        let name = match self.access.verdict(request) {
            Verdict::Refused => return Response::bare("403 Forbidden"),
            Verdict::Astray => return Response::page("403 Forbidden", asset::REFUSED),
            Verdict::Welcome => return self.welcome(request),
            Verdict::Allowed(name) => name,
        };
        if request.method != "GET" {
            return Response::bare("405 Method Not Allowed").with("Allow", "GET".to_owned());
        }
        if let Some(question) = name.strip_prefix("api/") {
            return match timeline.answer(question, &request.query) {
                Some(answer) => Response::ok(answer.media_type, answer.body),
                None => Response::bare("404 Not Found"),
            };
        }
        match asset::find(name) {
            Some((media_type, text)) => Response::ok(media_type, text.as_bytes().to_vec()),
            None => Response::bare("404 Not Found"),
        }
    }

    fn welcome(&self, request: &Request) -> Response {
        let page = self.access.page();
        let site = request.headers("sec-fetch-site").next().unwrap_or("none");
        let response = match site {
            "none" | "same-origin" => Response::bare("303 See Other").with("Location", page),
            // A browser does not send a strict cookie on a way that another site began; a page that moves on begins anew.
            _ => Response::bare("200 OK").with("Refresh", format!("0; url={page}")),
        };
        response.with("Set-Cookie", self.access.set_cookie())
    }
}

/// Counts a connection out, also if its thread panics.
struct Leave<'c>(&'c AtomicUsize);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Errors of one connection, or of a moment in which there are too many files.
fn is_passing(error: &io::Error) -> bool {
    let too_many_files = [Some(23), Some(24)].contains(&error.raw_os_error());
    too_many_files
        || matches!(
            error.kind(),
            io::ErrorKind::ConnectionAborted
                | io::ErrorKind::ConnectionReset
                | io::ErrorKind::Interrupted
                | io::ErrorKind::WouldBlock
        )
}

/// Reads a little of what was sent and not wanted: a socket that is closed over unread bytes resets the connection, and the answer
/// with it.
fn drain(stream: &mut TcpStream) {
    use std::io::Read;
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = stream.set_read_timeout(Some(TICK));
    let mut rest = [0; 4096];
    for _ in 0..64 {
        if !matches!(stream.read(&mut rest), Ok(length) if length > 0) {
            break;
        }
    }
}
