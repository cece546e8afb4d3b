// What is known of the box or edge that was chosen, with links to where it is shown at length.

const PANEL_ROWS = 60;

const nodeLink = (node) => (node.lives.length > 0 ? h("a", { href: `#nodes/${node.lives.at(-1).id}` }, name(node.name, false)) : name(node.name, false));
const topicLink = (topic) => h("a", { href: `#topics/${topic.id}` }, name(topic.name, false));
const callbackLink = (callback, text) => h("a", { href: `#callbacks/${callback.id}` }, name(text ?? callback.name, false));

function factList(facts) {
  return h("dl", { class: "facts" }, facts.filter(([, value]) => value !== null && value !== undefined).map(([key, value]) => [h("dt", {}, key), h("dd", { class: "number" }, value)]));
}

/** A heading and rows, the first ones of many. */
function panelList(title, rows) {
  if (rows.length === 0) return null;
  const more = rows.length - PANEL_ROWS;
  return [h("h3", {}, `${title} (${count(rows.length)})`), h("ul", {}, rows.slice(0, PANEL_ROWS).map((row) => h("li", {}, row)), more > 0 && h("li", { class: "quiet" }, `and ${count(more)} more`))];
}

function communicationFigures(communications) {
  const dropped = total(communications.map((it) => it.dropped));
  return [
    `p50 ${duration(largest(communications.map((it) => it.p50)))}, p99 ${duration(largest(communications.map((it) => it.p99)))}, max ${duration(largest(communications.map((it) => it.max)))}`,
    dropped > 0 && [" · ", h("span", { class: "bad" }, `${count(dropped)} dropped`)],
  ];
}

function receivedRow(subscription) {
  const from = [...new Set(subscription.topic.publishers.map((it) => it.node))];
  return [topicLink(subscription.topic), h("span", { class: "figures" },
    `${frequency(subscription.rate)} · `, subscription.communications.length > 0 ? communicationFigures(subscription.communications) : "no message",
    h("br"), "from ", from.length === 0 ? "nobody in this trace" : from.length > 3 ? `${count(from.length)} nodes` : from.map((node, index) => [index > 0 && ", ", nodeLink(node)]))];
}

function publishedRow(publisher) {
  const to = [...new Set(publisher.topic.subscriptions.map((it) => it.node))];
  return [topicLink(publisher.topic), h("span", { class: "figures" },
    `${frequency(publisher.rate)} · ${count(publisher.messages)} messages`,
    h("br"), "to ", to.length === 0 ? "nobody in this trace" : to.length > 3 ? `${count(to.length)} nodes` : to.map((node, index) => [index > 0 && ", ", nodeLink(node)]))];
}

/** Calls of one service: `other` is the node on its other side. */
function callsRow(call, towards, other) {
  const roundTrip = call.p99 === null ? "" : ` · round trip p50 ${duration(call.p50)}, p99 ${duration(call.p99)}, max ${duration(call.max)}`;
  return [name(call.service.name, false), call.service.is_action && h("span", { class: "tag" }, "action"), h("span", { class: "figures" },
    call.unattributed > 0 ? `${count(call.unattributed)} executions, the trace does not tell for whom` : `${count(call.calls)} calls, ${count(call.answered)} answers${roundTrip}`, other && [h("br"), `${towards} `, nodeLink(other)])];
}

/** What is hidden at first comes last. */
const byImportance = (ends) => ends.toSorted((a, b) => Number(a.topic.hidden !== null) - Number(b.topic.hidden !== null));

function nodePanel(node, actions, isOpen) {
  const wasLate = node.latest && [duration(node.lateness), " in ", callbackLink(node.latest)];
  return [
    h("h2", {}, nodeLink(node)),
    factList([
      ["process", node.lives.length === 0 ? null : node.lives.length === 1 ? `${node.lives[0].process} ${node.lives[0].pid}` : `${count(node.lives.length)} lives, in ${count(new Set(node.lives.map((it) => it.pid)).size)} processes`],
      ["busy", node.busy === null ? null : share(node.busy)],
      ["executions", count(node.executions)],
      ["worst lateness", wasLate],
    ]),
    node.callbacks.length > 0 && h("p", {}, h("button", { type: "button", onclick: () => actions.toggle(node) }, isOpen ? "Close the node" : "Show its callbacks in the picture")),
    panelList("Callbacks", node.callbacks.map((callback) => [callbackLink(callback), h("span", { class: "figures" }, `${count(callback.executions)} × · p99 ${duration(callback.p99)}, max ${duration(callback.max)} · busy ${share(callback.busy)}`)])),
    panelList("Receives", byImportance(node.subscriptions).map(receivedRow)),
    panelList("Publishes", byImportance(node.publishers).map(publishedRow)),
    panelList("Asks", node.asked.map((call) => callsRow(call, "of", call.server))),
    panelList("Answers", node.served.map((call) => callsRow(call, "asked by", call.client))),
    node.lives.length > 1 && panelList("Lives", node.lives.map((life) => h("a", { href: `#nodes/${life.id}` }, `${life.process} ${life.pid}`))),
  ];
}

function callbackPanel(callback) {
  const received = callback.node.subscriptions.filter((it) => it.callback === callback);
  const published = callback.node.publishers.flatMap((publisher) => publisher.causes.filter((cause) => cause.callback === callback).map((cause) => ({ publisher, cause })));
  return [
    h("h2", {}, callbackLink(callback)),
    factList([
      ["node", nodeLink(callback.node)],
      ["executions", count(callback.executions)],
      ["duration", `p99 ${duration(callback.p99)}, max ${duration(callback.max)}`],
      ["busy", share(callback.busy)],
      ["worst lateness", callback.lateness === null ? null : duration(callback.lateness)],
    ]),
    panelList("Receives", received.map(receivedRow)),
    panelList("Answers", callback.node.served.filter((call) => call.callback === callback).map((call) => callsRow(call, "asked by", call.client))),
    panelList("Published while it ran", published.map(({ publisher, cause }) => [topicLink(publisher.topic), h("span", { class: "figures" }, `${count(cause.messages)} of ${count(publisher.messages)} messages`)])),
  ];
}

function topicPanel(topic) {
  const dropped = total(topic.subscriptions.flatMap((it) => it.communications).map((it) => it.dropped));
  return [
    h("h2", {}, topicLink(topic)),
    topic.hidden && h("p", { class: "quiet small" }, `Hidden at first: ${topic.hidden}.`),
    factList([["messages", count(total(topic.publishers.map((it) => it.messages)) ?? 0)], ["dropped", dropped === null ? null : count(dropped)]]),
    panelList("Published by", topic.publishers.map((publisher) => [nodeLink(publisher.node), h("span", { class: "figures" }, `${frequency(publisher.rate)} · ${count(publisher.messages)} messages`)])),
    panelList("Received by", topic.subscriptions.map((subscription) => [nodeLink(subscription.node), h("span", { class: "figures" }, `${frequency(subscription.rate)} · `, subscription.communications.length > 0 ? communicationFigures(subscription.communications) : "no message")])),
  ];
}

function edgePanel(edge) {
  const { figures } = edge;
  const ofTopic = (topic) => [...edge.communications].filter((it) => it.subscription.topic === topic);
  return [
    h("h2", {}, name(edge.from.label, false), " → ", name(edge.to.label, false)),
    factList([
      [edge.topics.size === 0 ? "calls" : edge.calls.size > 0 ? "messages and calls" : "messages", count(figures.messages)],
      ["rate", figures.rate === null ? null : frequency(figures.rate)],
      ["latency p50", figures.p50 === null ? null : duration(figures.p50)],
      ["latency p99", figures.p99 === null ? null : duration(figures.p99)],
      ["latency max", figures.max === null ? null : duration(figures.max)],
      ["dropped", figures.dropped === null ? null : count(figures.dropped)],
    ]),
    edge.communications.size > 1 && h("p", { class: "quiet small" }, `Of ${count(edge.communications.size)} communications together: rates and drops add up, of each latency the worst is shown.`),
    panelList("Topics", [...edge.topics].map((topic) => {
      const communications = ofTopic(topic);
      const rate = total([...edge.publishers].filter((it) => it.topic === topic).map((it) => it.rate));
      return [topicLink(topic), h("span", { class: "figures" }, `${frequency(rate)} · `, communications.length > 0 ? communicationFigures(communications) : edge.to.topic ? "" : "no message")];
    })),
    panelList("Services and actions", [...edge.calls].map((call) => callsRow(call))),
  ];
}

function namespacePanel(box, actions) {
  const nodes = [];
  (function collect(space) { for (const child of space.children) child.kind === "node" ? nodes.push(child) : collect(child); })(box.subject);
  return [
    h("h2", {}, name(box.subject.path, false)),
    h("p", {}, h("button", { type: "button", onclick: () => actions.toggle(box.subject) }, box.items ? "Close the namespace" : "Open the namespace")),
    panelList("Nodes", nodes.map((node) => [nodeLink(node), h("span", { class: "figures" }, `busy ${share(node.busy)} · worst lateness ${duration(node.lateness)}`)])),
  ];
}

/** The content of the panel. */
function panelOf(thing, actions) {
  if (thing.from) return edgePanel(thing);
  if (thing.callback) return callbackPanel(thing.subject);
  const { subject } = thing;
  if (subject.kind === "topic") return topicPanel(subject);
  if (subject.kind === "namespace") return namespacePanel(thing, actions);
  if (subject.kind === "outside") return nodePanel(subject.node, actions, true);
  return nodePanel(subject, actions, Boolean(thing.items));
}
