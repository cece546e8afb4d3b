// The figures of boxes and edges that colours can stand for. Where one stands for several communications, rates and drops add up and of latencies the worst counts.
// Of calls of services, the round trip is the latency.

function largest(values) {
  let most = null;
  for (const value of values) if (value !== null && value !== undefined && (most === null || value > most)) most = value;
  return most;
}

function total(values) {
  let sum = null;
  for (const value of values) if (value !== null && value !== undefined) sum = (sum ?? 0) + value;
  return sum;
}

function edgeFigures(edge) {
  const communications = [...edge.communications];
  const calls = [...edge.calls];
  const timed = [...communications, ...calls];
  return {
    rate: total([...edge.publishers, ...calls].map((it) => it.per_second)),
    p50: largest(timed.map((it) => it.p50)),
    p99: largest(timed.map((it) => it.p99)),
    max: largest(timed.map((it) => it.max)),
    dropped: total(communications.map((it) => it.dropped)),
    messages: (total([...edge.publishers].map((it) => it.messages)) ?? 0) + (total(calls.map((it) => it.calls)) ?? 0),
    busy: null,
    lateness: null,
  };
}

/** Of a box, without what goes through topics that are not shown. */
function boxFigures(box, isShown) {
  const received = (subscriptions) => subscriptions.filter((it) => isShown(it.topic)).flatMap((it) => it.communications);
  const of = (publishers, communications, busy, lateness) => ({
    rate: total(publishers.filter((it) => isShown(it.topic)).map((it) => it.per_second)),
    p99: largest(communications.map((it) => it.p99)),
    dropped: total(communications.map((it) => it.dropped)),
    busy, lateness,
  });
  const { subject } = box;
  if (box.callback) {
    const own = subject.node.subscriptions.filter((it) => it.callback === subject);
    return { ...of([], received(own), subject.busy, subject.lateness), rate: subject.per_second };
  }
  if (box.topic) return of(subject.publishers, received(subject.subscriptions), null, null);
  const nodes = box.members ?? [];
  return of(nodes.flatMap((it) => it.publishers), received(nodes.flatMap((it) => it.subscriptions)), largest(nodes.map((it) => it.busy)), largest(nodes.map((it) => it.lateness)));
}

/** What can be picked. `written` is how a value is shown, `logarithmic` whether its scale is; what is zero has no colour. */
const FIGURES = {
  none: { title: "nothing" },
  rate: { title: "rate", written: frequency, logarithmic: true, boxes: "published per second of the recording", edges: "messages and calls per second of the recording", definition: "publisher-subscription-topic" },
  p99: { title: "latency p99", written: duration, logarithmic: true, boxes: "worst p99 of what is received", edges: "worst p99, of services that of the round trip", definition: "communication" },
  dropped: { title: "drops", written: count, logarithmic: true, boxes: "messages that did not arrive", edges: "messages that did not arrive", definition: "communication" },
  busy: { title: "busy share", written: share, logarithmic: false, boxes: "time in callbacks", edges: null, definition: "callback" },
  lateness: { title: "worst lateness", written: duration, logarithmic: true, boxes: "worst callback", edges: null, definition: "callback" },
};

/** The scale of a figure over everything that is seen: {low, high, colour(value)}; nothing if there is no value. */
function figureScale(key, figures) {
  const figure = FIGURES[key];
  const values = figures.map((it) => it[key]).filter((value) => value > 0);
  if (!figure.written || values.length === 0) return null;
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (!figure.logarithmic) low = 0;
  const along = (value) => {
    if (high <= low) return 0.5;
    return figure.logarithmic ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  };
  const stops = ["cool", "warm", "hot"].map(colour);
  return { low, high, stops, colour: (value) => (value > 0 ? mixed(stops, along(value)) : null) };
}

function mixed(stops, at) {
  const place = Math.min(Math.max(at, 0), 1) * (stops.length - 1);
  const first = Math.min(Math.floor(place), stops.length - 2);
  const channel = (index) => {
    const [a, b] = [stops[first], stops[first + 1]].map((stop) => parseInt(stop.slice(1 + 2 * index, 3 + 2 * index), 16));
    return Math.round(a + (b - a) * (place - first));
  };
  return `rgb(${channel(0)}, ${channel(1)}, ${channel(2)})`;
}
