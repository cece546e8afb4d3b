// The first screen: what was recorded, whether it can be trusted, and what hurts most.

view("overview", {
  title: "Overview",
  async draw(root) {
    const { data } = await part("overview");
    append(root, [
      h("h1", {}, name(document.getElementById("title").textContent, false)),
      h("p", { class: "quiet" }, recordedSentence(data)),
      trust(data),
      data.simulated_time && h("p", { class: "notice warn", id: "simulated-time" }, `${data.simulated_time[0].toUpperCase()}${data.simulated_time.slice(1)}.`),
      h("h2", {}, "What hurts most ", definitionLink("what-hurts-most-severity")),
      data.findings.length > 0 ? h("ol", { class: "findings" }, data.findings.map(findingItem)) : h("p", { class: "notice good" }, "Nothing stands out."),
      h("h2", {}, "What was recorded"),
      h("div", { class: "tiles" }, recordedTiles(data.recorded)),
      h("dl", { class: "facts card" }, recordedFacts(data)),
    ]);
  },
});

function recordedSentence(data) {
  const narrowed = data.narrowed ? " · a part of the recording" : "";
  return `${calendarTime(FROM)} · ${duration(data.duration)} · ${count(data.recorded.events)} events${narrowed}`;
}

/** Damage comes first: numbers of a broken recording mean little. */
function trust(data) {
  if (data.damage.length === 0) return h("p", { class: "notice good" }, "The recording is complete: no event was lost, and everything could be read.");
  const lost = data.damage.some((damage) => damage.is_loss);
  const heading = lost ? "Not everything is in this recording; results that it touches are marked." : "The recording has peculiarities; no event was lost.";
  return h("div", { class: `notice ${lost ? "bad" : "warn"}`, id: "damage" },
    h("strong", {}, heading),
    h("ul", {}, data.damage.map((damage) => h("li", {}, damage.message))), h("span", { class: "small" }, "rostrace info says where and when."));
}

const DROP_CAUSES = {
  ring_buffer_full: "pushed out of the intra-process buffer",
  history_full: "newer ones pushed them out of the queue of the subscription",
  middleware: "lost in the middleware although there was room",
};

/** A finding as a sentence: names stand by themselves, numbers are bold. */
function findingSentence(finding) {
  const thing = (text) => h("b", {}, name(text, false));
  const strong = (text) => h("b", { class: "number" }, text);
  const times = (value) => `${digits(value)} times`;
  switch (finding.kind) {
    case "long_execution":
      return [thing(finding.callback), " ran for ", strong(duration(finding.worst)), ` at worst, ${share(finding.worst / finding.period)} of its period of ${duration(finding.period)}; usually ${duration(finding.usual)}.`];
    case "late_execution":
      return [thing(finding.callback), " began ", strong(duration(finding.worst)), ` late at worst, ${share(finding.worst / finding.period)} of its period of ${duration(finding.period)}; usually ${duration(finding.usual)}.`];
    case "skipped_firings":
      return [thing(finding.callback), " left out ", strong(count(finding.skipped)), ` of ${count(finding.skipped + finding.fired)} firings.`];
    case "lost_messages":
      return [strong(count(finding.lost)), ` of ${count(finding.sent)} messages on `, thing(finding.topic), " did not get from ", name(finding.from, false), " to ", name(finding.to, false), `: ${DROP_CAUSES[finding.cause] ?? finding.cause}.`];
    case "pause":
      return [thing(finding.topic), " paused for ", strong(duration(finding.longest)), `, ${times(finding.longest / finding.usual)} the usual ${duration(finding.usual)}; published by `, name(finding.node, false), "."];
    case "busy_thread":
      return ["Thread ", strong(String(finding.tid)), " of ", thing(finding.process), " was in callbacks for ", strong(share(finding.share)), " of the time", finding.mostly && [", most of it in ", name(finding.mostly, false)], "."];
    case "slow_path":
      return [thing(finding.path), " took ", strong(duration(finding.worst)), ` at worst, ${times(finding.worst / finding.usual)} the usual ${duration(finding.usual)}.`];
    default:
      return [finding.kind];
  }
}

function findingItem(finding) {
  const weight = finding.severity >= 1 ? "bad" : finding.severity >= 0.5 ? "warn" : "mild";
  return h("li", { class: "finding", "data-weight": weight, "data-kind": finding.kind, "data-severity": finding.severity },
    h("span", {}, findingSentence(finding)),
    h("a", { href: finding.link, title: finding.at === null ? undefined : wallClock(finding.at) }, finding.at === null ? "Look" : `Look, ${sinceBegin(finding.at)} (${clockTime(finding.at)})`));
}

function recordedTiles(recorded) {
  const tile = (value, label, link) => h("a", { class: "tile card", href: link }, h("b", { class: "number", "data-fact": label }, count(value)), h("span", { class: "quiet" }, label));
  // What nobody wrote is counted apart, as `rostrace info` does.
  const parted = ({ application, built_in: own }, label, link) => h("a", { class: "tile card", href: link, title: `${count(application)} of the application, ${count(own)} built in` },
    h("b", { class: "number", "data-fact": label }, count(application)), h("span", { class: "quiet" }, own > 0 ? `${label} + ${count(own)} built in` : label));
  return [
    parted(recorded.census.nodes, "nodes", "#graph"),
    parted(recorded.census.topics, "topics", "#topics"),
    parted(recorded.census.callbacks, "callbacks", "#callbacks"),
    tile(recorded.executions, "executions", "#schedule"),
    tile(recorded.messages, "messages", "#paths"),
    tile(recorded.processes, "processes", "#processes"),
  ];
}

function recordedFacts(data) {
  const fact = (label, values) => values.length > 0 && [h("dt", {}, label), h("dd", {}, values.map((value, index) => [index > 0 && ", ", name(value, false)]))];
  return [
    fact("From", data.sources),
    fact("Hosts", data.hosts),
    fact("ROS 2", data.distributions),
    fact("Middleware", data.middlewares),
    [h("dt", {}, "Time"), h("dd", {}, `${calendarTime(FROM)} to ${calendarTime(FROM + data.duration)}`)],
  ];
}
