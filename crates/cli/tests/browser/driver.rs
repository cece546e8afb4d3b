//! A real browser, driven through WebDriver: Debian's Chromium and its chromedriver.

use std::io::{BufRead, BufReader, Lines};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use base64::Engine;
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::http;

/// How long a page may take for what it is asked to do; far more than it needs, for machines that do other things as well.
const PATIENCE: Duration = Duration::from_secs(300);

pub struct Browser {
    driver: Child,
    session: String,
    downloads: TempDir,
}

impl Browser {
    /// The driver, what it prints, and the port that it listens to.
    fn start_driver() -> Option<(Child, Lines<BufReader<ChildStdout>>, u16)> {
        let mut driver = Command::new("chromedriver")
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let mut lines = BufReader::new(driver.stdout.take()?).lines();
        let port = lines.find_map(|line| {
            let line = line.ok()?;
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        match port {
            Some(port) => Some((driver, lines, port)),
            None => {
                let _ = driver.wait();
                None
            }
        }
    }

    /// Says so loudly if there is no browser: a test that looked at nothing must not look like one that passed.
    pub fn start() -> Option<Browser> {
        // Now and then it ends at once, where others take the port that it found free.
        let Some((driver, lines, port)) = (0..5).find_map(|_| Browser::start_driver()) else {
            use std::io::Write;
            let is_there = Command::new("chromedriver").arg("--version").output();
            assert!(is_there.is_err(), "chromedriver does not start");
            let sentence = "SKIPPED: there is no chromedriver; `cargo xtask test` installs it. Nothing was tested.";
            let _ = writeln!(std::io::stderr(), "{sentence}");
            return None;
        };
        // Whatever it prints later must not fill the pipe.
        std::thread::spawn(move || lines.for_each(drop));
        let downloads = tempfile::tempdir().unwrap();
        let patience = PATIENCE.as_millis() as u64;
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "timeouts": { "script": patience, "pageLoad": patience },
            "goog:loggingPrefs": { "browser": "ALL" },
            "goog:chromeOptions": {
                "args": ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--window-size=1400,900"],
                "prefs": { "download.default_directory": downloads.path(), "download.prompt_for_download": false, "profile.default_content_setting_values.automatic_downloads": 1 },
            },
        } } });
        let base = format!("http://127.0.0.1:{port}/session");
        let answer = post(&base, &wanted);
        let id = answer["sessionId"]
            .as_str()
            .expect("a session has a name")
            .to_owned();
        Some(Browser {
            driver,
            session: format!("{base}/{id}"),
            downloads,
        })
    }

    fn ask(&self, command: &str, body: &Value) -> Value {
        post(&format!("{}/{command}", self.session), body)
    }

    pub fn open(&self, address: &str) {
        self.ask("url", &json!({ "url": address }));
    }

    /// Opens a file, at a place in it.
    pub fn open_file(&self, file: &Path, place: &str) {
        // Another place in the same file would not load it again.
        self.open("about:blank");
        self.open(&format!("file://{}#{place}", file.display()));
    }

    /// The value of an expression in the page.
    pub fn value(&self, expression: &str) -> Value {
        self.ask(
            "execute/sync",
            &json!({ "script": format!("return {expression};"), "args": [] }),
        )
    }

    pub fn text(&self, expression: &str) -> String {
        let value = self.value(expression);
        value
            .as_str()
            .unwrap_or_else(|| panic!("{expression} is no text: {value}"))
            .to_owned()
    }

    /// Waits until an expression is true in the page.
    pub fn wait(&self, expression: &str) {
        let since = Instant::now();
        while self.value(&format!("Boolean({expression})")) != json!(true) {
            if since.elapsed() > PATIENCE {
                let problems = self.problems();
                panic!("waited in vain for: {expression}; the console says {problems:?}");
            }
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    /// Does something that counts only if it is quick, a double click for one, until it had its effect: a busy machine may be too slow at first.
    pub fn repeat(&self, expression: &str, action: impl Fn()) {
        const ATTEMPT: Duration = Duration::from_secs(3);
        let since = Instant::now();
        loop {
            let attempt = Instant::now();
            action();
            while attempt.elapsed() < ATTEMPT {
                if self.value(&format!("Boolean({expression})")) == json!(true) {
                    return;
                }
                std::thread::sleep(Duration::from_millis(30));
            }
            assert!(since.elapsed() < PATIENCE, "in vain for: {expression}");
        }
    }

    /// Goes to a part of the report and waits until it is there.
    pub fn go(&self, place: &str) {
        let view = json!(place.split(['/', '?']).next().unwrap());
        let place = json!(format!("#{place}"));
        let go = format!(
            "delete document.getElementById('main').dataset.ready; if (location.hash === {place}) dispatchEvent(new Event('hashchange')); else location.hash = {place};"
        );
        self.value(&format!("(() => {{ {go} }})()"));
        // What was clicked before may lead elsewhere only now: then it goes there again.
        self.wait(&format!(
            "(() => {{ const ready = document.getElementById('main')?.dataset.ready; if (ready === {view}) return true; if (ready) {{ {go} }} return false; }})()"
        ));
    }

    /// Clicks the first element that a selector finds, as a person would: it must be there and in the open.
    pub fn click(&self, selector: &str) {
        self.wait(&format!("document.querySelector({})", json!(selector)));
        self.ask_element(selector, "click", &json!({}));
    }

    /// Types into the first element that a selector finds.
    pub fn write(&self, selector: &str, text: &str) {
        self.ask_element(selector, "value", &json!({ "text": text }));
    }

    /// Asks the first element that a selector finds.
    fn ask_element(&self, selector: &str, command: &str, body: &Value) {
        let wanted = json!({ "using": "css selector", "value": selector });
        let found = self.ask("element", &wanted);
        let element = found.as_object().and_then(|it| it.values().next());
        let element = element.and_then(Value::as_str).unwrap();
        self.ask(&format!("element/{element}/{command}"), body);
    }

    /// Errors and warnings in the console since the last time.
    pub fn problems(&self) -> Vec<String> {
        let entries = self.ask("se/log", &json!({ "type": "browser" }));
        let entries = entries.as_array().cloned().unwrap_or_default();
        let serious = entries
            .iter()
            .filter(|entry| entry["level"] == "SEVERE" || entry["level"] == "WARNING");
        serious
            .map(|entry| entry["message"].as_str().unwrap_or_default().to_owned())
            .collect()
    }

    pub fn resize(&self, width: u32, height: u32) {
        let metrics = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 700 });
        self.developer("Emulation.setDeviceMetricsOverride", &metrics);
    }

    pub fn dark(&self, dark: bool) {
        let value = if dark { "dark" } else { "light" };
        self.developer(
            "Emulation.setEmulatedMedia",
            &json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] }),
        );
    }

    /// As it would be on paper: `print`, or nothing for the screen.
    pub fn medium(&self, medium: &str) {
        self.developer("Emulation.setEmulatedMedia", &json!({ "media": medium }));
    }

    /// The page as a PDF file.
    pub fn print(&self) -> Vec<u8> {
        let answer = self.developer("Page.printToPDF", &json!({ "printBackground": true }));
        decoded(&answer)
    }

    fn developer(&self, command: &str, parameters: &Value) -> Value {
        self.ask(
            "goog/cdp/execute",
            &json!({ "cmd": command, "params": parameters }),
        )
    }

    /// The turn of a mouse wheel over a point of the page.
    pub fn wheel(&self, x: i64, y: i64, by: i64) {
        self.developer(
            "Input.dispatchMouseEvent",
            &json!({ "type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": by }),
        );
    }

    /// Presses a key, as a person would: where the focus is. Names as WebDriver has them.
    pub fn press(&self, key: &str) {
        let key = match key {
            "Tab" => "\u{e004}",
            "Enter" => "\u{e007}",
            "Escape" => "\u{e00c}",
            "ArrowLeft" => "\u{e012}",
            "ArrowRight" => "\u{e014}",
            other => other,
        };
        self.act(&json!([{ "type": "key", "id": "keys", "actions": [{ "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }] }]));
    }

    /// Drags from one point of the page to another, perhaps with shift held.
    pub fn drag(&self, from: (i64, i64), to: (i64, i64), with_shift: bool) {
        let step =
            |x: i64, y: i64| json!({ "type": "pointerMove", "duration": 30, "x": x, "y": y });
        let middle = ((from.0 + to.0) / 2, (from.1 + to.1) / 2);
        let mouse = [
            step(from.0, from.1),
            json!({ "type": "pointerDown", "button": 0 }),
            step(middle.0, middle.1),
            step(to.0, to.1),
            json!({ "type": "pointerUp", "button": 0 }),
        ];
        let pause = json!({ "type": "pause" });
        let shift = |kind: &str| {
            if with_shift {
                json!({ "type": kind, "value": "\u{e008}" })
            } else {
                pause.clone()
            }
        };
        let keys = [
            shift("keyDown"),
            pause.clone(),
            pause.clone(),
            pause.clone(),
            shift("keyUp"),
        ];
        self.act(&json!([
            { "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": mouse },
            { "type": "key", "id": "keys", "actions": keys },
        ]));
    }

    pub fn double_click(&self, at: (i64, i64)) {
        let mut actions =
            vec![json!({ "type": "pointerMove", "duration": 0, "x": at.0, "y": at.1 })];
        for _ in 0..2 {
            actions.push(json!({ "type": "pointerDown", "button": 0 }));
            actions.push(json!({ "type": "pointerUp", "button": 0 }));
        }
        self.act(&json!([{ "type": "pointer", "id": "mouse", "parameters": { "pointerType": "mouse" }, "actions": actions }]));
    }

    fn act(&self, actions: &Value) {
        self.ask("actions", &json!({ "actions": actions }));
    }

    /// A point of an element, after it was scrolled to: shares of its width and height.
    pub fn point(&self, selector: &str, across: f64, down: f64) -> (i64, i64) {
        let selector = json!(selector);
        let box_of = self.value(&format!("(() => {{ const it = document.querySelector({selector}); it.scrollIntoView({{ block: 'center', behavior: 'instant' }}); const box = it.getBoundingClientRect(); return [box.left + box.width * {across}, box.top + box.height * {down}]; }})()"));
        let number = |place: usize| box_of[place].as_f64().unwrap().round() as i64;
        (number(0), number(1))
    }

    pub fn number(&self, expression: &str) -> f64 {
        let value = self.value(expression);
        value
            .as_f64()
            .unwrap_or_else(|| panic!("{expression} is no number: {value}"))
    }

    /// Keeps a picture in the folder that ROSTRACE_SCREENSHOTS names, for a person to look at.
    pub fn screenshot(&self, name: &str) {
        let Some(folder) = std::env::var_os("ROSTRACE_SCREENSHOTS").map(PathBuf::from) else {
            return;
        };
        let answer = self.developer("Page.captureScreenshot", &json!({ "format": "png" }));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join(format!("{name}.png")), decoded(&answer)).unwrap();
    }

    /// The next file that arrives with this ending: its content.
    pub fn download(&self, ending: &str) -> Vec<u8> {
        let since = Instant::now();
        loop {
            let files = std::fs::read_dir(self.downloads.path())
                .unwrap()
                .map(|entry| entry.unwrap().path());
            if let Some(file) = files
                .into_iter()
                .find(|file| file.extension().is_some_and(|it| it == ending))
            {
                let content = std::fs::read(&file).unwrap();
                std::fs::remove_file(&file).unwrap();
                return content;
            }
            assert!(
                since.elapsed() < PATIENCE,
                "no file with the ending {ending} arrived"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = http::ask("DELETE", &self.session, "", &[]);
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}

/// The file of an answer.
fn decoded(answer: &Value) -> Vec<u8> {
    let data = answer["data"].as_str().unwrap();
    base64::engine::general_purpose::STANDARD
        .decode(data)
        .unwrap()
}

fn post(address: &str, body: &Value) -> Value {
    let body = serde_json::to_vec(body).unwrap();
    let answer = http::ask("POST", address, "Content-Type: application/json\r\n", &body);
    let (_, answer) = answer.unwrap_or_else(|error| panic!("{address}: {error}"));
    let reported: Value = serde_json::from_slice(&answer).unwrap();
    let value = reported["value"].clone();
    assert!(
        value["error"].is_null(),
        "{address}: {}: {}",
        value["error"],
        value["message"]
    );
    value
}
