//! The server of the timeline: whom it answers, and whom it does not.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rostrace_analyze::Analysis;
use rostrace_ctf::TraceSet;
use rostrace_ctf::schema::Nanos;
use rostrace_model::Model;
use rostrace_report::served::{Options, ServedTimeline, Server};

/// A server of a trace without events, and what a browser knows of it.
struct Site {
    port: u16,
    token: String,
}

#[derive(Debug)]
struct Reply {
    status: u16,
    head: String,
    body: Vec<u8>,
}

impl Reply {
    fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (known, value) = line.split_once(": ")?;
            known.eq_ignore_ascii_case(name).then_some(value)
        })
    }
}

/// The page's folder and its cookie, as a browser keeps them.
struct Visit {
    page: String,
    cookie: String,
}

impl Site {
    fn raw(&self, bytes: &[u8]) -> Option<Reply> {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).unwrap();
        stream
            .set_read_timeout(Some(Duration::from_secs(20)))
            .unwrap();
        // A server that has seen enough may close before all is sent.
        let _ = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        let end = answer.windows(4).position(|it| it == b"\r\n\r\n")?;
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        Some(Reply {
            status: head.split(' ').nth(1)?.parse().ok()?,
            head,
            body: answer[end + 4..].to_vec(),
        })
    }

    fn host(&self) -> String {
        format!("Host: 127.0.0.1:{}\r\n", self.port)
    }

    fn ask(&self, method: &str, target: &str, headers: &str) -> Reply {
        let host = match headers.to_ascii_lowercase().contains("host:") {
            true => String::new(),
            false => self.host(),
        };
        let request = format!("{method} {target} HTTP/1.1\r\n{host}{headers}\r\n");
        self.raw(request.as_bytes()).unwrap()
    }

    fn enter(&self) -> Visit {
        let reply = self.ask("GET", &format!("/?token={}", self.token), "");
        assert_eq!(reply.status, 303, "{}", reply.head);
        let cookie = reply.header("Set-Cookie").unwrap();
        assert!(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"));
        Visit {
            page: reply.header("Location").unwrap().to_owned(),
            cookie: format!("Cookie: other=1; {}\r\n", cookie.split(';').next().unwrap()),
        }
    }
}

fn with_site(test: impl FnOnce(&Site)) {
    let set = TraceSet::open(&[] as &[&str]).unwrap();
    let model = Model::load(&set, &mut |_| true);
    let analysis = Analysis::new(&model, Nanos(i64::MIN)..=Nanos(i64::MAX));
    let options = Options {
        title: "<script>alert(1)</script>".to_owned(),
        ..Options::default()
    };
    let timeline = ServedTimeline::new(&analysis, options);
    let server = Server::bind(0).unwrap();
    let address = server.address();
    let token = address.split_once("?token=").unwrap().1.to_owned();
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let running = scope.spawn(|| server.run(&timeline, &|| is_over.load(Ordering::SeqCst)));
        let site = Site {
            port: server.port(),
            token,
        };
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| test(&site)));
        is_over.store(true, Ordering::SeqCst);
        running.join().unwrap().unwrap();
        if let Err(panic) = result {
            std::panic::resume_unwind(panic);
        }
    });
}

#[test]
fn the_token_opens_the_page_once_and_the_cookie_from_then_on() {
    with_site(|site| {
        let token = format!("/?token={}", site.token);
        assert_eq!(site.token.len(), 32);
        let visit = site.enter();
        assert_eq!(site.ask("GET", &token, "").status, 403);
        for _ in 0..3 {
            let page = site.ask("GET", &visit.page, &visit.cookie);
            assert_eq!(page.status, 200);
            assert!(page.body.starts_with(b"<!doctype html>"));
        }
        let trace = site.ask("GET", &format!("{}api/trace", visit.page), &visit.cookie);
        assert_eq!(trace.header("Content-Type"), Some("application/json"));
        let trace: serde_json::Value = serde_json::from_slice(&trace.body).unwrap();
        assert_eq!(trace["title"], "<script>alert(1)</script>");
    });
}

#[test]
fn without_cookie_or_token_nothing_is_shown() {
    with_site(|site| {
        let visit = site.enter();
        let wrong = "0".repeat(32);
        let almost = &visit.cookie[..visit.cookie.len() - 3];
        for (target, headers) in [
            ("/".to_owned(), String::new()),
            (format!("/?token={wrong}"), String::new()),
            ("/?token=".to_owned(), String::new()),
            ("/api/trace".to_owned(), String::new()),
            ("/nothing".to_owned(), visit.cookie.clone()),
            (visit.page.clone(), String::new()),
            (format!("{}api/trace", visit.page), String::new()),
            (format!("{}style.css", visit.page), String::new()),
            (visit.page.clone(), format!("{almost}\r\n")),
            (
                visit.page.clone(),
                format!("Cookie: rostrace-{}={wrong}\r\n", site.port),
            ),
        ] {
            let reply = site.ask("GET", &target, &headers);
            assert_eq!(reply.status, 403, "{target} {headers}");
            // Nothing, or the page that says what to do, which is the same for all.
            let is_page = target.ends_with('/') || target.starts_with("/?");
            assert_eq!(!reply.body.is_empty(), is_page, "{target}");
            if is_page {
                let nobody = site.ask("GET", "/", "").body;
                assert_eq!(reply.body, nobody, "{target}");
                assert!(
                    String::from_utf8(nobody)
                        .unwrap()
                        .contains("prints a new address")
                );
            }
            assert_eq!(reply.header("Set-Cookie"), None);
        }
    });
}

#[test]
fn a_wrong_token_does_not_use_up_the_right_one() {
    with_site(|site| {
        assert_eq!(site.ask("GET", "/?token=guess", "").status, 403);
        assert_eq!(
            site.ask("POST", &format!("/?token={}", site.token), "")
                .status,
            403
        );
        site.enter();
    });
}

#[test]
fn foreign_names_and_foreign_pages_are_refused() {
    with_site(|site| {
        let visit = site.enter();
        let port = site.port;
        for headers in [
            "Host: evil.example\r\n".to_owned(),
            format!("Host: evil.example:{port}\r\n"),
            "Host: 127.0.0.1\r\n".to_owned(),
            format!("Host: 127.0.0.1:{port}\r\nHost: evil.example\r\n"),
            format!("Host: 127.0.0.1:{port}\r\nOrigin: http://evil.example\r\n"),
            format!("Host: 127.0.0.1:{port}\r\nOrigin: null\r\n"),
            format!(
                "Host: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{}\r\n",
                port ^ 1
            ),
            format!("Host: 127.0.0.1:{port}\r\nSec-Fetch-Site: cross-site\r\n"),
        ] {
            let reply = site.ask("GET", &visit.page, &format!("{headers}{}", visit.cookie));
            assert_eq!(reply.status, 403, "{headers}");
        }
        let nameless = format!("GET {} HTTP/1.1\r\n{}\r\n", visit.page, visit.cookie);
        assert_eq!(site.raw(nameless.as_bytes()).unwrap().status, 403);
        for headers in [
            format!("Host: localhost:{port}\r\n"),
            format!(
                "Host: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\nSec-Fetch-Site: same-origin\r\n"
            ),
        ] {
            let reply = site.ask("GET", &visit.page, &format!("{headers}{}", visit.cookie));
            assert_eq!(reply.status, 200, "{headers}");
        }
    });
}

#[test]
fn a_link_from_another_site_gets_the_cookie_by_a_page_that_moves_on() {
    with_site(|site| {
        let target = format!("/?token={}", site.token);
        let reply = site.ask(
            "GET",
            &target,
            "Sec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\n",
        );
        assert_eq!(reply.status, 200);
        assert!(reply.header("Refresh").unwrap().starts_with("0; url=/"));
        assert!(reply.header("Set-Cookie").is_some());
    });
}

#[test]
fn only_get_is_answered() {
    with_site(|site| {
        let visit = site.enter();
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "HEAD", "CONNECT", "get"] {
            assert_eq!(site.ask(method, &visit.page, "").status, 403, "{method}");
            let reply = site.ask(method, &visit.page, &visit.cookie);
            assert_eq!(reply.status, 405, "{method}");
            assert_eq!(reply.header("Access-Control-Allow-Origin"), None);
        }
    });
}

#[test]
fn every_answer_has_the_headers_that_protect_the_page() {
    with_site(|site| {
        let visit = site.enter();
        for reply in [
            site.ask("GET", "/", ""),
            site.ask("GET", &visit.page, &visit.cookie),
            site.ask("GET", &format!("{}main.js", visit.page), &visit.cookie),
        ] {
            let policy = reply.header("Content-Security-Policy").unwrap();
            assert!(policy.starts_with("default-src 'self'"));
            assert!(!policy.contains("unsafe"));
            assert_eq!(reply.header("X-Content-Type-Options"), Some("nosniff"));
            assert_eq!(reply.header("Referrer-Policy"), Some("no-referrer"));
            assert_eq!(reply.header("Access-Control-Allow-Origin"), None);
        }
    });
}

#[test]
fn paths_lead_nowhere_but_to_the_page() {
    with_site(|site| {
        let visit = site.enter();
        for path in [
            "../../etc/passwd",
            "..%2f..%2fetc%2fpasswd",
            "/etc/passwd",
            "./style.css",
            "api",
            "api/",
            "api/../style.css",
            "api/unknown",
            "api/view",
            "api/view?from=x&to=1&pixels=1",
            "api/instance?id=0",
            "api/instance?id=99999999999999999999",
            "api/occurrence?subjects=1&direction=sideways",
            "\0",
        ] {
            let reply = site.ask("GET", &format!("{}{path}", visit.page), &visit.cookie);
            assert_eq!(reply.status, 404, "{path:?}");
        }
        let empty = site.ask(
            "GET",
            &format!("{}api/view?from=-9223372036854775808&to=9223372036854775807&pixels=4294967295&tracks=0,7,-1", visit.page),
            &visit.cookie,
        );
        assert_eq!((empty.status, empty.body.len()), (200, 8));
    });
}

#[test]
fn what_is_too_large_or_no_http_is_refused() {
    with_site(|site| {
        let visit = site.enter();
        let huge = format!("X: {}\r\n", "a".repeat(200_000));
        let request = format!("GET {} HTTP/1.1\r\n{}{huge}\r\n", visit.page, site.host());
        assert_eq!(
            site.raw(request.as_bytes()).map(|reply| reply.status),
            Some(400)
        );
        for bytes in [
            b"\x16\x03\x01\x02\x00\x01\x00\r\n\r\n".as_slice(),
            b"GET\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"GET / HTTP/1.1\r\nno colon\r\n\r\n",
            b"\xff\xfe / HTTP/1.1\r\n\r\n",
        ] {
            assert_eq!(site.raw(bytes).unwrap().status, 400, "{bytes:?}");
        }
        assert_eq!(site.ask("GET", &visit.page, &visit.cookie).status, 200);
    });
}

#[test]
fn slow_and_many_clients_do_not_keep_others_waiting() {
    with_site(|site| {
        let visit = site.enter();
        let slow: Vec<TcpStream> = (0..12)
            .map(|_| {
                let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, site.port)).unwrap();
                stream.write_all(b"GET / HTTP/1.1\r\nHo").unwrap();
                stream
            })
            .collect();
        let begin = Instant::now();
        assert_eq!(site.ask("GET", &visit.page, &visit.cookie).status, 200);
        assert!(
            begin.elapsed() < Duration::from_secs(2),
            "{:?}",
            begin.elapsed()
        );
        // Nobody has for ever: also one that sends a byte now and then is let go.
        let mut stream = slow.into_iter().next().unwrap();
        stream
            .set_read_timeout(Some(Duration::from_millis(500)))
            .unwrap();
        let mut byte = [0];
        let is_let_go = (0..40).any(|_| {
            let _ = stream.write_all(b"x");
            matches!(stream.read(&mut byte), Ok(0)) || stream.write_all(b"x").is_err()
        });
        assert!(
            is_let_go && begin.elapsed() < Duration::from_secs(15),
            "{:?}",
            begin.elapsed()
        );
    });
}

#[test]
fn more_clients_than_a_browser_has_are_turned_away_and_leave_no_trace() {
    with_site(|site| {
        let visit = site.enter();
        let crowd: Vec<TcpStream> = (0..60)
            .map(|_| TcpStream::connect((Ipv4Addr::LOCALHOST, site.port)).unwrap())
            .collect();
        drop(crowd);
        let end = Instant::now() + Duration::from_secs(5);
        let request = format!(
            "GET {} HTTP/1.1\r\n{}{}\r\n",
            visit.page,
            site.host(),
            visit.cookie
        );
        let is_served = || {
            site.raw(request.as_bytes())
                .is_some_and(|reply| reply.status == 200)
        };
        while !is_served() {
            assert!(Instant::now() < end);
            std::thread::sleep(Duration::from_millis(50));
        }
    });
}

#[test]
fn nothing_listens_on_any_other_address() {
    with_site(|site| {
        let own = UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0)).and_then(|socket| {
            // No packet is sent: this only picks the address that would be used.
            socket.connect(("192.0.2.1", 9))?;
            socket.local_addr()
        });
        let mut others: Vec<SocketAddr> = vec![
            (Ipv4Addr::new(127, 0, 0, 2), site.port).into(),
            (Ipv6Addr::LOCALHOST, site.port).into(),
        ];
        others.extend(own.map(|own| SocketAddr::new(own.ip(), site.port)));
        let others = others
            .iter()
            .filter(|other| other.ip() != Ipv4Addr::LOCALHOST);
        for other in others {
            let connected = TcpStream::connect_timeout(other, Duration::from_secs(2));
            assert!(connected.is_err(), "{other}");
        }
    });
}

#[test]
fn two_servers_do_not_let_each_others_visitors_in() {
    with_site(|one| {
        with_site(|other| {
            let visit = one.enter();
            assert_ne!(one.token, other.token);
            assert_eq!(other.ask("GET", &visit.page, &visit.cookie).status, 403);
            assert_eq!(
                other
                    .ask("GET", &format!("/?token={}", one.token), "")
                    .status,
                403
            );
        });
    });
}
