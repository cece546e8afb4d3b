//! A response, with the headers by which a browser protects the page.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Who does not read for so long does not get the rest.
const PATIENCE: Duration = Duration::from_secs(20);

const PROTECTION: &str = "\
Content-Security-Policy: default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'\r\n\
X-Content-Type-Options: nosniff\r\n\
Cross-Origin-Resource-Policy: same-origin\r\n\
Cross-Origin-Opener-Policy: same-origin\r\n\
Referrer-Policy: no-referrer\r\n\
Cache-Control: no-store\r\n";

#[derive(Debug)]
pub(super) struct Response {
    status: &'static str,
    media_type: &'static str,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Response {
    pub(super) fn ok(media_type: &'static str, body: Vec<u8>) -> Response {
        Response {
            status: "200 OK",
            media_type,
            headers: Vec::new(),
            body,
        }
    }

    /// A status and nothing else.
    pub(super) fn bare(status: &'static str) -> Response {
        Response {
            status,
            ..Response::ok("text/plain; charset=utf-8", Vec::new())
        }
    }

    /// A status, and a page that says what it means.
    pub(super) fn page(status: &'static str, text: &str) -> Response {
        Response {
            status,
            ..Response::ok("text/html; charset=utf-8", text.as_bytes().to_vec())
        }
    }

    pub(super) fn with(mut self, name: &'static str, value: String) -> Response {
        self.headers.push((name, value));
        self
    }

    pub(super) fn send(&self, stream: &mut TcpStream) -> io::Result<()> {
        let mut head = format!("HTTP/1.1 {}\r\nConnection: close\r\n", self.status);
        let _ = write!(head, "Content-Length: {}\r\n", self.body.len());
        let _ = write!(head, "Content-Type: {}\r\n", self.media_type);
        head += PROTECTION;
        for (name, value) in &self.headers {
            let _ = write!(head, "{name}: {value}\r\n");
        }
        head += "\r\n";
        let deadline = Instant::now() + PATIENCE;
        for mut rest in [head.as_bytes(), &self.body] {
            while !rest.is_empty() {
                let left = deadline.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return Err(io::ErrorKind::TimedOut.into());
                }
                stream.set_write_timeout(Some(left))?;
                match stream.write(rest) {
                    Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
                    Ok(written) => rest = &rest[written..],
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(())
    }
}
