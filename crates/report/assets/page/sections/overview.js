// The first screen: what was recorded, whether it can be trusted, and the worst findings.

view("overview", {
  title: "Overview",
  async draw(root) {
    const { data } = await part("overview");
    append(root, [
      h("h1", {}, name(document.getElementById("title").textContent, false)),
      h("p", { class: "quiet" }, recordedSentence(data)),
      trust(data),
      data.simulated_time && h("p", { class: "notice warn", id: "simulated-time" }, `${data.simulated_time[0].toUpperCase()}${data.simulated_time.slice(1)}.`),
      changeSection(data),
      h("h2", {}, "Findings, worst first ", definitionLink("findings-severity")),
      findingList(data.findings),
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

/** Damage comes first: numbers of a broken recording mean little. Then what cannot be known: empty tables would look like a system that does nothing. */
function trust(data) {
  if (data.damage.length === 0 && data.unknown.length === 0) return h("p", { class: "notice good" }, "The recording is complete: no event was lost, and everything could be read.");
  const lost = data.damage.some((damage) => damage.is_loss);
  const heading = lost ? "Not everything is in this recording; results that it touches are marked." : "The recording has peculiarities; no event was lost.";
  return [
    data.damage.length > 0 && h("div", { class: `notice ${lost ? "bad" : "warn"}`, id: "damage" },
      h("strong", {}, heading),
      h("ul", {}, data.damage.map((damage) => h("li", {}, damage.message))),
      lostTimes(data),
      h("p", { class: "remedy" }, "Which files, and why: ", copyable(`rostrace info ${data.traces}`))),
    data.unknown.length > 0 && h("div", { class: "notice warn", id: "unknown" },
      h("strong", {}, lost ? "Some things cannot be known from this recording." : "No event was lost, but not everything can be known from this recording."),
      h("ul", {}, data.unknown.map((unknown) => h("li", {}, `${unknown.what}.`))),
      remedies(data.unknown).map(([remedy, command]) => h("p", { class: "remedy" }, `${remedy} `, copyable(command)))),
  ];
}

const LOST_IN_SIGHT = 3;

/** When events are missing: nothing that happened then, or lasted into it, is known for sure. */
function lostTimes({ lost, duration: whole }) {
  if (lost.length === 0) return null;
  const time = lost.reduce((sum, [from, to]) => sum + to - from, 0);
  const longest = [...lost].sort((a, b) => b[1] - b[0] - (a[1] - a[0])).slice(0, LOST_IN_SIGHT).sort((a, b) => a[0] - b[0]);
  const one = ([from, to], index) => [index > 0 && (index + 1 === lost.length ? " and " : ", "), h("b", {}, `${sinceBegin(from)} to ${sinceBegin(to)}`), ` (${clockTime(from)} to ${clockTime(to)})`];
  const more = lost.length - longest.length;
  return h("p", { id: "lost-times" }, "Events are missing from ", longest.map(one), more > 0 && ` and ${count(more)} shorter times`, `: ${share(time / Math.max(1, whole))} of the time. What happened then is not known, and no figure is computed across it. `,
    h("a", { href: "#schedule" }, "Look at it in the schedule"));
}

/** Each remedy once, whatever it is for. */
function remedies(unknown) {
  return [...new Map(unknown.map(({ remedy, command }) => [remedy, command]))];
}

/** A command, with a button that copies it. */
function copyable(command) {
  const button = h("button", { type: "button", class: "copy", title: "Copy this command", "aria-label": `Copy ${command}` }, "Copy");
  // An option is not torn apart behind its hyphens.
  const words = command.split(/( )/).map((word) => (word.startsWith("-") ? h("span", { class: "option" }, word) : word));
  const code = h("code", { class: "command" }, words);
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(command);
      button.textContent = "Copied";
    } catch {
      // A page that was opened from a file may not be allowed to.
      getSelection().selectAllChildren(code);
      button.textContent = "Selected";
    }
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  });
  return h("span", { class: "copyable" }, code, button);
}

const CHANGES_IN_SIGHT = 3;

/** What would make most of the lateness go away, before anything else: that is what somebody who opens this has come for. */
function changeSection({ changes }) {
  if (changes.explained === 0) return null;
  const { list } = changes;
  const late = changes.late === 0 ? `None of ${count(changes.explained)} executions was late.` : [`${count(changes.late)} of ${count(changes.explained)} executions were late, by `, h("b", { class: "number" }, duration(changes.lateness)), " together",
    changes.unexplained > 0 && `; ${share(changes.unexplained / changes.lateness)} of that for reasons that the recording does not tell`, "."];
  return h("section", { id: "changes" },
    h("h2", {}, "What to change, the largest gain first ", definitionLink("what-to-change")),
    h("p", { class: "quiet" }, late, " ", copyable(changes.command)),
    list.length === 0
      ? h("p", { class: "notice good", id: "no-change" }, "Nothing stands out.")
      : [h("ol", { class: "changes" }, list.slice(0, CHANGES_IN_SIGHT).map(changeItem)),
        list.length > CHANGES_IN_SIGHT && folded("more-findings", `${count(list.length - CHANGES_IN_SIGHT)} more, with less to gain`, () => h("ol", { class: "changes", style: `counter-reset: change ${CHANGES_IN_SIGHT}` }, list.slice(CHANGES_IN_SIGHT).map(changeItem)))]);
}

function changeItem(change) {
  const { others } = change;
  return h("li", { class: "change", "data-gain": change.gain },
    h("span", { class: "sentence" }, h("b", {}, linked(capital(change.action), change.links)), ": ", name(change.evidence, false), "."),
    change.share !== null && h("span", { class: "gain", title: `${share(change.share)} of all lateness` }, h("span", { style: `width:${(100 * Math.min(1, change.share)).toFixed(1)}%` })),
    h("p", { class: "quiet" }, name(capital(change.note), false), "."),
    others.length > 0 && h("p", { class: "quiet" }, "Also late because of it: ", others.slice(0, CHANGES_IN_SIGHT).map(([title, link], index) => [index > 0 && ", ", h("a", { href: link }, name(title, false))]), others.length > CHANGES_IN_SIGHT && ` and ${count(others.length - CHANGES_IN_SIGHT)} more`, "."),
    h("p", { class: "small" }, copyable(change.command)));
}

function capital(sentence) {
  return `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}`;
}

/** A sentence in which names lead to what they name. */
function linked(text, links) {
  const found = links.map(([title, link]) => ({ title, link, at: text.indexOf(title) })).filter(({ at }) => at >= 0).sort((a, b) => a.at - b.at || b.title.length - a.title.length);
  const pieces = [];
  let end = 0;
  for (const { title, link, at } of found) {
    if (at < end) continue;
    pieces.push(name(text.slice(end, at), false), h("a", { href: link }, name(title, false)));
    end = at + title.length;
  }
  return [pieces, name(text.slice(end), false)];
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
  const worst = finding.apart ? " at worst, apart from standstills" : " at worst";
  switch (finding.kind) {
    case "blocked":
      return [thing(finding.callback), finding.ended ? " ran for " : " did not end: it ran for at least ", strong(duration(finding.worst)), finding.ended ? " without a pause" : "", `, ${share(finding.share)} of the recording, and kept thread ${finding.tid}`, !finding.callback.startsWith(finding.process) && [" of ", name(finding.process, false)], " from everything else",
        finding.times > 1 ? `; ${count(finding.times)} of its executions did so` : finding.usual !== null && finding.usual < finding.worst && `; usually ${duration(finding.usual)}`, "."];
    case "long_execution":
      return [thing(finding.callback), " ran for ", strong(duration(finding.worst)), worst, finding.period !== null && `, ${share(finding.worst / finding.period)} of its period of ${duration(finding.period)}`, finding.usual !== null && `; usually ${duration(finding.usual)}`, "."];
    case "late_execution":
      return [thing(finding.callback), " began ", strong(duration(finding.worst)), ` late${worst}, ${share(finding.worst / finding.period)} of its period of ${duration(finding.period)}; usually ${duration(finding.usual)}.`];
    case "skipped_firings":
      return [thing(finding.callback), " left out ", strong(count(finding.skipped)), ` of ${count(finding.skipped + finding.fired)} firings.`];
    case "lost_messages":
      return [strong(count(finding.lost)), ` of ${count(finding.sent)} messages on `, thing(finding.topic), " did not get from ", name(finding.from, false), " to ", name(finding.to, false), `: ${DROP_CAUSES[finding.cause] ?? finding.cause}.`];
    case "overflowing_queue":
      return ["The queue of ", thing(finding.to), " for ", thing(finding.topic), ", ", finding.depth === 1 ? "one message" : `${count(finding.depth)} messages`, " long, overflows all the time: ", strong(count(finding.overwritten)), ` of ${count(finding.sent)} messages were pushed out before they were received.`];
    case "pause":
      return [thing(finding.topic), " paused for ", strong(duration(finding.longest)), `, ${times(finding.longest / finding.usual)} the usual ${duration(finding.usual)}; published by `, name(finding.node, false), "."];
    case "silent_topics":
      if (finding.number === 1) return [thing(finding.topics[0]), SILENCES[finding.silence](1), "."];
      return [strong(count(finding.number)), ` of ${count(finding.of)} topics`, SILENCES[finding.silence](finding.number), ": ", listing(finding.topics, finding.number)];
    case "busy_thread":
      return ["Thread ", strong(String(finding.tid)), " of ", thing(finding.process), finding.share >= 0.9 ? " was always busy: in callbacks for " : " was in callbacks for ", strong(share(finding.share)), " of the time."];
    case "standstill":
      return [finding.process === null ? "Everything" : ["All threads of ", thing(finding.process)], finding.running !== null && [" but ", name(finding.running, false)], " stood still for ", strong(duration(finding.duration)), finding.times > 1 && `, which did the most harm of ${count(finding.times)} such times`,
        ": ", finding.process === null ? `${count(finding.number)} callbacks of ${count(finding.processes)} processes` : `${count(finding.number)} callbacks`, " were held up together, and nothing that was recorded happened meanwhile: ", listing(finding.victims, finding.number), "."];
    case "ended_early":
      return [thing(finding.process), ENDS[finding.end], strong(duration(finding.before_end)), " before the end of the recording, while others went on", finding.inside && [", inside ", name(finding.inside, false)], finding.end === "unknown" && "; the trace does not tell how", "."];
    case "late_nodes":
      if (finding.number === 1) return [thing(finding.nodes[0]), " was created ", strong(duration(finding.after)), " after half of all nodes existed."];
      return [strong(count(finding.number)), " nodes were created long after the others, the last one ", strong(duration(finding.after)), " after half of all nodes existed: ", listing(finding.nodes, finding.number)];
    case "slow_path":
      return [thing(finding.path), " took ", strong(duration(finding.worst)), ` at worst, ${times(finding.worst / finding.usual)} the usual ${duration(finding.usual)}.`];
    default:
      return [finding.kind];
  }
}

const SILENCES = {
  never: (number) => ` ${number === 1 ? "has" : "have"} a publisher and subscribers, but no message came`,
  once: (number) => ` had one message and never another, though ${number === 1 ? "its node" : "their nodes"} went on publishing elsewhere; that may be by design, the trace does not tell whether it is kept for late subscribers`,
  stopped: (number) => ` stopped for good before the recording ended, though ${number === 1 ? "its publisher was" : "their publishers were"} still there and most other topics went on`,
};

const ENDS = { orderly: " ended ", abrupt: " crashed or was killed ", unknown: " was last heard of " };

/** Below a word, and made when that is opened. */
function folded(kind, title, content) {
  const item = h("details", { class: kind }, h("summary", {}, title));
  item.addEventListener("toggle", () => { if (item.open && item.childNodes.length === 1) append(item, [content()]); });
  return item;
}

/** The first few of a list; all of them when asked. */
function listing(names, number) {
  const few = number <= 4 ? number : 3;
  const joined = (some) => some.map((text, index) => [index > 0 && ", ", h("b", {}, name(text, false))]);
  if (number <= few) return joined(names);
  return [joined(names.slice(0, few)), " and ", folded("inline", `${count(number - few)} more`, () => [joined(names.slice(few)), number > names.length && " …"])];
}

const LOCATIONS = {
  itself: (because) => ["because an earlier execution of itself ran for ", h("b", { class: "number" }, duration(because.longest))],
  same_thread: (because) => ["because ", becauseName(because), " ran for up to ", h("b", { class: "number" }, duration(because.longest)), " on the same thread"],
  same_group: (because) => ["because ", becauseName(because), " ran for up to ", h("b", { class: "number" }, duration(because.longest)), " in the same mutually exclusive group"],
  same_processor: (because) => ["because ", becauseName(because), " ran for up to ", h("b", { class: "number" }, duration(because.longest)), " on the same processor"],
  everywhere: (because) => ["because ", because.name === "everything" ? "everything" : ["all threads of ", name(because.name, false)], " stood still for up to ", h("b", { class: "number" }, duration(because.longest))],
  busy_thread: (because) => ["because ", becauseName(because), " was busy with many callbacks, of which none accounts for most of it (the longest ran for ", h("b", { class: "number" }, duration(because.longest)), ")"],
  on_the_way: (because) => ["because ", becauseName(because), " ran for up to ", h("b", { class: "number" }, duration(because.longest)), " on the way"],
};

const OCCASIONS = { late_execution: "late executions", skipped_firings: "gaps", lost_messages: "lost messages", overflowing_queue: "lost messages", pause: "pauses", long_execution: "long executions", blocked: "long executions", slow_path: "slow messages", busy_thread: "executions" };

function becauseName(because) {
  return h("a", { href: because.link }, name(because.name, false));
}

/** What the kernel tells of a standstill; without its events nobody knows what kept everything. */
function standstillReason({ meanwhile, running }) {
  if (meanwhile === null) return ["why is not known: the recording has no scheduling events of the kernel, which say who had the CPUs", running !== null && "; what was under way may be the reason, or have stood still too"];
  const { idle, busiest, waited, asleep } = meanwhile;
  if (busiest !== null && meanwhile.share >= 0.5) return ["because ", h("b", {}, name(busiest, false)), " had ", h("b", { class: "number" }, share(meanwhile.share)), ` of the CPUs' time; ${count(waited)} of the threads waited for a CPU`];
  if (idle >= 0.5) return [`the CPUs had nothing to do for ${share(idle)} of that time, and ${count(asleep)} of the threads were not woken: what should have woken them is not known`];
  return [`${count(waited)} of the threads waited for a CPU`, busiest !== null && [", of which ", name(busiest, false), ` had the largest part, ${share(meanwhile.share)}`]];
}

const REASONS = {
  inactive: (it) => [reasonName(it), ` has a lifecycle and was never active (last state: ${it.state})`],
  upstream: (it) => [reasonName(it), " only waits for messages, and none came on ", name(it.topic, false), " either"],
  unpublished: (it) => [reasonName(it), " only waits for messages, and nothing recorded publishes ", name(it.topic, false)],
  nothing_ran: (it) => ["no callback of ", reasonName(it), " ever ran"],
  ran_no_more: (it) => [reasonName(it), ", which published there, ran no more"],
  went_on: (it) => [reasonName(it), ", which published there, went on running without publishing"],
  loading: (it) => [reasonName(it), " creates nodes one after another, and took up to ", h("b", { class: "number" }, duration(it.time)), " for one"],
  began_late: (it) => [it.number === 1 ? "its process began " : "their processes began ", h("b", { class: "number" }, duration(it.time)), " after half of all nodes existed"],
};

function reasonName(reason) {
  return h("a", { href: reason.link }, name(reason.name, false));
}

/** Why something did not come or came late; what is not known is said to be so. */
function reasonLine({ number, reasons }) {
  if (reasons.length === 0) return h("p", { class: "because", "data-because": "unknown" }, "why is not known: the recording does not tell.");
  const shown = reasons.reduce((sum, it) => sum + it.number, 0);
  return h("p", { class: "because", "data-because": reasons[0].reason }, "because ",
    reasons.map((it, index) => [index > 0 && "; ", REASONS[it.reason](it), number > 1 && ` (${count(it.number)} of ${count(number)})`]),
    shown < number && `; of the other ${count(number - shown)} it is something else, or not known`, ".");
}

function becauseLine(finding) {
  const { because } = finding;
  if (finding.reasons) return finding.silence === "once" ? null : reasonLine(finding);
  if (finding.kind === "standstill") return h("p", { class: "because", "data-because": "standstill" }, standstillReason(finding), ".");
  if (!because && finding.kind === "busy_thread" && finding.largest !== null) return h("p", { class: "because", "data-because": "many" }, `because of ${count(finding.callbacks)} callbacks together, none of which takes most of that time; the largest part has `, h("b", {}, name(finding.largest, false)), `, ${share(finding.largest_share)}.`);
  if (!because) return null;
  if (finding.kind === "busy_thread") return h("p", { class: "because", "data-because": because.name }, "because of ", becauseName(because), ", which took most of that time, up to ", h("b", { class: "number" }, duration(because.longest)), " at once.");
  const occasions = because.of > 1 ? `${count(because.times)} of ${count(because.of)} ${OCCASIONS[finding.kind] ?? "times"}` : "the only time";
  return h("p", { class: "because", "data-because": because.name }, LOCATIONS[because.location](because), `; ${occasions}.`);
}

const PHASES = { start_up: ["while starting up", "Most nodes did not exist yet, or had just been created"], shutdown: ["at the end", "Processes had begun to end"] };

function findingFacts(finding, word) {
  const weight = { severe: "bad", noticeable: "warn" }[word];
  const phase = PHASES[finding.phase];
  return [
    h("b", { class: `tag severity ${weight ?? ""}`, title: `severity ${digits(finding.severity)}` }, word),
    phase && h("b", { class: "tag", title: phase[1] }, phase[0]),
  ];
}

/** Where to look, and what to type: in sight for what comes first, below a word for what follows from it. */
function findingLinks(finding, isFirst) {
  const commands = () => finding.commands.map((command) => h("span", {}, copyable(command)));
  return h("p", { class: "links small" },
    finding.at !== null && finding.instant !== null && h("a", { href: finding.instant, class: "instant", title: wallClock(finding.at) }, `Look at ${sinceBegin(finding.at)} (${clockTime(finding.at)})`),
    h("a", { href: finding.link }, "Details"),
    isFirst ? commands() : folded("commands", "Commands", commands));
}

function findingBody(finding, word, isFirst) {
  return [h("span", { class: "sentence" }, findingFacts(finding, word), " ", findingSentence(finding)), becauseLine(finding), findingLinks(finding, isFirst)];
}

const MEMBERS_IN_SIGHT = 5;

/** Findings below another one; many of them are folded. */
function memberList(title, members, more) {
  if (members.length === 0) return null;
  const item = (member) => h("li", { class: "finding", "data-kind": member.kind, "data-severity": member.severity }, findingBody(member, member.word, false));
  const hidden = members.slice(MEMBERS_IN_SIGHT);
  return h("div", { class: "caused" },
    h("p", { class: "quiet" }, title),
    h("ul", {}, members.slice(0, MEMBERS_IN_SIGHT).map(item),
      hidden.length > 0 && h("li", {}, folded("others", `${count(hidden.length + more)} more`, () => h("ul", {}, hidden.map(item), more > 0 && h("li", { class: "quiet" }, `and ${count(more)} that are less severe`))))));
}

function findingItem(group) {
  const { head, members } = group;
  const weight = { severe: "bad", noticeable: "warn" }[group.word] ?? "mild";
  const caused = members.filter((member) => member.follows);
  const also = members.filter((member) => !member.follows);
  const number = caused.length + group.more;
  return h("li", { class: "finding-group", "data-weight": weight },
    h("div", { class: "finding", "data-kind": head.kind, "data-severity": group.severity }, findingBody(head, group.word, true)),
    memberList(number === 1 ? "This follows from it:" : `These ${count(number)} follow from it:`, caused, group.more),
    memberList("Also:", also, 0));
}

const FOREMOST = 5;

function findingList(groups) {
  if (groups.length === 0) return h("p", { class: "notice good", id: "nothing" }, "Nothing stands out.");
  // What is as bad as the system no longer doing what it was set to do is never hidden behind a click, unless there is too much of it.
  const first = Math.max(FOREMOST, Math.min(groups.filter((group) => group.word === "severe").length, 2 * FOREMOST));
  const rest = groups.slice(first);
  return [
    h("ol", { class: "findings" }, groups.slice(0, first).map(findingItem)),
    rest.length > 0 && folded("more-findings", `${count(rest.length)} more, less severe`, () => h("ol", { class: "findings", start: first + 1, style: `counter-reset: finding ${first}` }, rest.map(findingItem))),
  ];
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
