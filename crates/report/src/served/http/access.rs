//! Who may ask: the browser that was opened with the token, and nobody else.
//!
//! The address that is printed holds a token that works once. Whoever uses it gets a cookie, which scripts cannot read and other sites
//! cannot use; from then on the token is dead, and whoever started the server can have a new one. Browsers send cookies to all ports of a machine, so the cookie is bound to a folder with a secret
//! name: servers of other people on this machine never see it. A page of a foreign name that is made to point at this machine (DNS
//! rebinding) fails by its `Host`.

use std::io;
use std::sync::{Mutex, MutexGuard};

use super::request::Request;

/// The secrets of one server.
#[derive(Debug)]
pub(super) struct Access {
    port: u16,
    token: Mutex<Token>,
    cookie: String,
    folder: String,
}

#[derive(Debug)]
struct Token {
    text: String,
    is_used: bool,
}

impl Token {
    fn new() -> io::Result<Token> {
        Ok(Token {
            text: secret()?,
            is_used: false,
        })
    }
}

/// What is done with a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict<'r> {
    /// Nothing is said, not even why.
    Refused,
    /// A person came with an address that does not work: told what to do, the same whatever the address was.
    Astray,
    /// The token was right: the cookie is given, and the page is shown.
    Welcome,
    /// Something of the folder is asked for.
    Allowed(&'r str),
}

impl Access {
    pub(super) fn new(port: u16) -> io::Result<Access> {
        Ok(Access {
            port,
            token: Mutex::new(Token::new()?),
            cookie: secret()?,
            folder: secret()?,
        })
    }

    /// The address that opens the page, once.
    pub(super) fn address(&self) -> String {
        format!(
            "http://127.0.0.1:{}/?token={}",
            self.port,
            self.token().text
        )
    }

    /// Another address; the one before works no longer. Who came by it may stay.
    pub(super) fn renew(&self) -> io::Result<String> {
        *self.token() = Token::new()?;
        Ok(self.address())
    }

    pub(super) fn is_opened(&self) -> bool {
        self.token().is_used
    }

    fn token(&self) -> MutexGuard<'_, Token> {
        // A thread that panicked has left it whole.
        self.token.lock().unwrap_or_else(|it| it.into_inner())
    }

    /// Where the page is.
    pub(super) fn page(&self) -> String {
        format!("/{}/", self.folder)
    }

    pub(super) fn set_cookie(&self) -> String {
        let (name, value, page) = (self.cookie_name(), &self.cookie, self.page());
        format!("{name}={value}; Path={page}; HttpOnly; SameSite=Strict")
    }

    fn cookie_name(&self) -> String {
        format!("rostrace-{}", self.port)
    }

    pub(super) fn verdict<'r>(&self, request: &'r Request) -> Verdict<'r> {
        if !self.is_for_us(request) {
            return Verdict::Refused;
        }
        if request.path == "/" {
            if request.method != "GET" {
                return Verdict::Refused;
            }
            let given = request.query.text("token").unwrap_or_default();
            let mut token = self.token();
            if !is_same(given, &token.text) || token.is_used {
                return Verdict::Astray;
            }
            token.is_used = true;
            return Verdict::Welcome;
        }
        let in_folder = request.path.strip_prefix(&self.page());
        match in_folder.filter(|_| self.has_cookie(request)) {
            Some(name) => Verdict::Allowed(name),
            // What a page loads is no person.
            None if request.method == "GET" && request.path.ends_with('/') => Verdict::Astray,
            None => Verdict::Refused,
        }
    }

    /// Whether a request names this server, and does not come from another one's page.
    fn is_for_us(&self, request: &Request) -> bool {
        let names = [
            format!("127.0.0.1:{}", self.port),
            format!("localhost:{}", self.port),
        ];
        let mut hosts = request.headers("host");
        let host = hosts
            .next()
            .is_some_and(|host| names.iter().any(|name| name == host));
        let is_single = hosts.next().is_none();
        let own_origin = |origin: &str| {
            let name = origin.strip_prefix("http://");
            name.is_some_and(|name| names.iter().any(|own| own == name))
        };
        let is_navigation = request
            .headers("sec-fetch-mode")
            .all(|mode| mode == "navigate");
        let own_site = |site: &str| {
            // A link to the token may be followed from anywhere; what the page loads comes from the page.
            matches!(site, "same-origin" | "none") || is_navigation && request.path == "/"
        };
        host && is_single
            && request.headers("origin").all(own_origin)
            && request.headers("sec-fetch-site").all(own_site)
    }

    fn has_cookie(&self, request: &Request) -> bool {
        let name = self.cookie_name();
        let cookies = request.headers("cookie").flat_map(|line| line.split(';'));
        let mut values = cookies.filter_map(|cookie| {
            let (known, value) = cookie.trim().split_once('=')?;
            (known == name).then_some(value)
        });
        values.any(|value| is_same(value, &self.cookie))
    }
}

/// 128 bits that nobody can guess.
fn secret() -> io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Takes as long whatever the first difference is.
fn is_same(given: &str, secret: &str) -> bool {
    let (given, secret) = (given.as_bytes(), secret.as_bytes());
    let pairs = given.iter().zip(secret);
    given.len() == secret.len() && pairs.fold(0, |different, (a, b)| different | (a ^ b)) == 0
}
