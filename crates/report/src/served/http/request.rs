//! The head of a request, read with suspicion.

use std::io::{self, Read};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Larger heads than this are nobody's that we know.
const MOST_BYTES: usize = 16 * 1024;
/// All of the head has to be there by then.
const PATIENCE: Duration = Duration::from_secs(5);

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    /// Without the query; as it was sent, since nothing that we have needs escapes.
    pub(super) path: String,
    pub(super) query: Query,
    headers: Vec<(String, String)>,
}

/// What was asked behind the question mark: names and values. Ours need no escapes, so nothing is decoded.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Query(Vec<(String, String)>);

impl Query {
    pub fn parse(text: &str) -> Query {
        let pairs = text.split('&').filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (name.to_owned(), value.to_owned())
        });
        Query(pairs.collect())
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        let pair = self.0.iter().find(|(known, _)| known == name)?;
        Some(&pair.1)
    }

    pub fn integer(&self, name: &str) -> Option<i64> {
        self.text(name)?.parse().ok()
    }

    /// Integers with commas between them; what is none is left out.
    pub fn integers(&self, name: &str) -> impl Iterator<Item = i64> {
        let text = self.text(name).unwrap_or_default();
        text.split(',').filter_map(|number| number.parse().ok())
    }
}

/// Why there is no request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// Not HTTP, or too large.
    Malformed,
    /// It went away, or was too slow.
    Gone,
}

impl From<io::Error> for Refusal {
    fn from(_: io::Error) -> Refusal {
        Refusal::Gone
    }
}

impl Request {
    pub(super) fn read(stream: &mut TcpStream) -> Result<Request, Refusal> {
        let deadline = Instant::now() + PATIENCE;
        let mut head = Vec::new();
        let mut chunk = [0; 4096];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Refusal::Gone);
            }
            stream.set_read_timeout(Some(left))?;
            let length = stream.read(&mut chunk)?;
            if length == 0 {
                return Err(Refusal::Gone);
            }
            // The end may have come in two pieces.
            let searched = head.len().saturating_sub(3);
            head.extend_from_slice(&chunk[..length]);
            let end = head[searched..].windows(4).position(|it| it == b"\r\n\r\n");
            if let Some(end) = end {
                return Request::parse(&head[..searched + end]).ok_or(Refusal::Malformed);
            }
            if head.len() > MOST_BYTES {
                return Err(Refusal::Malformed);
            }
        }
    }

    /// The head without the empty line at its end.
    pub(super) fn parse(head: &[u8]) -> Option<Request> {
        let text = std::str::from_utf8(head).ok()?;
        let mut lines = text.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, target, version) = (first.next()?, first.next()?, first.next()?);
        let is_known = matches!(version, "HTTP/1.1" | "HTTP/1.0");
        if !is_known || first.next().is_some() || !target.starts_with('/') {
            return None;
        }
        let mut headers = Vec::new();
        for line in lines {
            let (name, value) = line.split_once(':')?;
            if name.is_empty() || name.contains(char::is_whitespace) {
                return None;
            }
            headers.push((name.to_ascii_lowercase(), value.trim().to_owned()));
        }
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        Some(Request {
            method: method.to_owned(),
            path: path.to_owned(),
            query: Query::parse(query),
            headers,
        })
    }

    /// All values of a header; the name in small letters.
    pub(super) fn headers<'r>(&'r self, name: &'r str) -> impl Iterator<Item = &'r str> {
        let named = self.headers.iter().filter(move |(known, _)| known == name);
        named.map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_request_is_taken_apart() {
        let head =
            b"GET /a/view?from=-5&tracks=1,2,x,3&flag HTTP/1.1\r\nHost: 127.0.0.1:80\r\nX: a:b";
        let request = Request::parse(head).unwrap();
        assert_eq!(
            (request.method.as_str(), request.path.as_str()),
            ("GET", "/a/view")
        );
        assert_eq!(request.query.integer("from"), Some(-5));
        let tracks: Vec<i64> = request.query.integers("tracks").collect();
        assert_eq!(tracks, [1, 2, 3]);
        assert_eq!(request.query.text("flag"), Some(""));
        assert_eq!(request.headers("x").collect::<Vec<_>>(), ["a:b"]);
    }

    #[test]
    fn what_is_not_http_is_refused() {
        for head in [
            "",
            "GET",
            "GET /",
            "GET / HTTP/2",
            "GET / HTTP/1.1 more",
            "GET http://elsewhere/ HTTP/1.1",
            "GET / HTTP/1.1\r\nno colon",
            "GET / HTTP/1.1\r\n folded: line",
        ] {
            assert_eq!(Request::parse(head.as_bytes()), None, "{head}");
        }
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_request_or_none(head in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = Request::parse(&head);
        }
    }
}
