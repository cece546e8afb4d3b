//! One request of HTTP/1.1 and its answer, over a plain connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;

/// Head and body of the answer. `address` begins with `http://`; `headers` are whole lines.
pub fn ask(
    method: &str,
    address: &str,
    headers: &str,
    body: &[u8],
) -> io::Result<(String, Vec<u8>)> {
    let address = address.strip_prefix("http://").unwrap();
    let (host, target) = address.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host)?;
    let length = body.len();
    let request = format!(
        "{method} /{target} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n"
    );
    stream.write_all(&[request.as_bytes(), body].concat())?;
    let mut answer = BufReader::new(stream);
    let (mut head, mut length) = (String::new(), u64::MAX);
    loop {
        let start = head.len();
        answer.read_line(&mut head)?;
        let Some((name, value)) = head[start..].split_once(':') else {
            // The line of the status, or the empty one at the end.
            if head[start..].trim().is_empty() {
                break;
            }
            continue;
        };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = Vec::new();
    answer.take(length).read_to_end(&mut body)?;
    Ok((head, body))
}
