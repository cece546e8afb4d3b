// Message flow: each message a line through the instants of its path, with the executions of callbacks behind it.

const INSTANT_WORDS = { start: "start", end: "end", publish: "publish", rcl_publish: "publish (rcl)", handed: "handed over", take: "take", instant: "" };

/** What became of a message that did not come through. */
const END_WORDS = {
  came_through: "came through", ring_buffer_full: "lost: pushed out of the ring buffer", history_full: "lost: the history was full", middleware: "lost in the middleware",
  recording_end: "under way when the recording ended", unknown: "the trace does not tell whether it arrived", not_passed_on: "the callback published nothing for the next hop", ended: "goes no further",
};

/** The messages of a path as they are in the file, read once. Times are NaN where something did not happen. */
function messagesOf(detail, column) {
  detail.read ??= (() => {
    const begins = column(detail.flow.begin);
    const later = (time, after) => (after === 0 ? NaN : time + (after > 0 ? after - 1 : after));
    const reached = begins.slice();
    const instants = detail.flow.after.map((reference) => Float64Array.from(column(reference), (after, row) => {
      const time = later(reached[row], after);
      if (after !== 0) reached[row] = time;
      return time;
    }));
    const delayed = detail.flow.delayed.map((reference) => Float64Array.from(column(reference), (after, row) => later(begins[row], after)));
    return { begins, instants, delayed, ends: column(detail.flow.ends) };
  })();
  return detail.read;
}

/** Lines of the shown instants: by message its times, NaN where there is none. */
function flowLines(detail, messages, { coarse, delay }) {
  const rows = detail.instants.map((instant, number) => number).filter((number) => !coarse || detail.instants[number].coarse);
  const times = rows.map((number) => (delay && messages.delayed.length > 0 ? messages.instants[number].map((time, row) => (Number.isNaN(time) ? messages.delayed[number][row] : time)) : messages.instants[number]));
  const lasts = new Float64Array(messages.begins.length);
  for (let row = 0; row < lasts.length; row++) {
    let last = messages.begins[row];
    for (const column of times) if (column[row] > last) last = column[row];
    lasts[row] = last;
  }
  return { rows, times, latest: latestEnds(lasts), lasts };
}

/**
 * The chart of a path. `switches` is what the reader chose and is kept: {coarse, delay}; the view of the beginning is around the slowest message.
 */
function flowFigure(detail, title, { column, ends, end, executions, switches, worst }) {
  const messages = messagesOf(detail, column);
  const number = messages.begins.length;
  const byId = new Map(executions.map((callback) => [callback.id, callback]));
  const [measuredFrom, measuredTo] = detail.flow.measured;
  const latency = (row) => messages.instants[measuredTo][row] - messages.instants[measuredFrom][row];
  let lines = flowLines(detail, messages, switches);
  // Of many instants each has less room.
  const rowHeight = () => Math.max(20, Math.min(34, 600 / Math.max(1, lines.rows.length - 1)));
  let selected = worst === undefined ? -1 : slowestRow();
  const facts = h("div", { "data-message": "" });

  function slowestRow() {
    let best = -1;
    for (let row = 0; row < number; row++) if (!Number.isNaN(latency(row)) && (best < 0 || latency(row) > latency(best))) best = row;
    return best;
  }

  function draw(pen, frame) {
    const [ink, line, bad, quiet] = [colour("ink"), colour("line"), colour("bad"), colour("quiet")];
    const room = rowHeight();
    const y = (place) => frame.top - frame.scroll + 20 + place * room;
    lines.rows.forEach((instant, place) => {
      const { kind, of } = detail.instants[instant];
      pen.line([frame.left, y(place) + 0.5, frame.left + frame.width, y(place) + 0.5], { stroke: line });
      const word = INSTANT_WORDS[kind];
      if (room < 30) return pen.text(`${word} ${of}`, 6, y(place), { fill: kind === "start" || kind === "publish" ? ink : quiet, size: 11.5, fit: frame.left - 14, keepEnd: true });
      pen.text(of, 6, y(place) - 6, { fill: ink, size: 11.5, fit: frame.left - 14, keepEnd: true });
      pen.text(word, 6, y(place) + 8, { fill: quiet, size: 10.5, fit: frame.left - 14 });
    });
    pen.clipped(frame.left, frame.top, frame.width, frame.height, () => {
      lines.rows.forEach((instant, place) => {
        if (place + 1 < lines.rows.length) for (const id of detail.instants[instant].callbacks) if (byId.has(id)) drawExecutions(pen, frame, byId.get(id), y(place), room);
      });
      const first = firstNotBefore(lines.latest, frame.from);
      const last = firstNotBefore(messages.begins, frame.to);
      const many = last - first > 400;
      for (let row = first; row < last; row++) if (row !== selected && lines.lasts[row] >= frame.from) drawMessage(row, many ? 0.8 : 1.3, many ? 0.55 : 0.9);
      if (selected >= 0) drawMessage(selected, 3, 1);
    });

    function drawMessage(row, width, alpha) {
      const points = [];
      let at = -1;
      lines.times.forEach((column, place) => {
        if (Number.isNaN(column[row])) return;
        points.push(frame.x(column[row]), y(place));
        at = place;
      });
      if (at < 0) return;
      const outcome = ends[messages.ends[row]];
      const lost = outcome !== "came_through" && outcome !== "not_passed_on";
      if (points.length > 2) pen.line(points, { stroke: lost && !switches.delay ? bad : seriesColour(row), width, alpha });
      if (outcome === "came_through" || (switches.delay && at === lines.rows.length - 1)) return;
      const [x, bottom] = points.slice(-2);
      if (lost) {
        pen.line([x - 4, bottom - 4, x + 4, bottom + 4], { stroke: bad, width: 2 });
        pen.line([x - 4, bottom + 4, x + 4, bottom - 4], { stroke: bad, width: 2 });
      } else pen.polygon([x - 3, bottom, x, bottom + 3, x + 3, bottom, x, bottom - 3], { fill: quiet });
    }
  }

  function hit(x, y, frame) {
    const place = (y - frame.top + frame.scroll - 20) / rowHeight();
    const first = firstNotBefore(lines.latest, frame.from);
    const last = firstNotBefore(messages.begins, frame.to);
    let [best, nearest] = [-1, 9];
    for (let row = first; row < last; row++) {
      let [fromTime, fromPlace] = [NaN, -1];
      for (let at = 0; at < lines.times.length; at++) {
        const time = lines.times[at][row];
        if (Number.isNaN(time)) continue;
        if (fromPlace >= 0 && place >= fromPlace - 0.3 && place <= at + 0.3) {
          const share = Math.max(0, Math.min(1, (place - fromPlace) / (at - fromPlace)));
          const distance = Math.abs(frame.x(fromTime + share * (time - fromTime)) - x);
          if (distance < nearest) [best, nearest] = [row, distance];
        }
        [fromTime, fromPlace] = [time, at];
      }
      // A message that was published and lost at once is a point.
      if (fromPlace === 0 && Math.abs(place) < 0.4 && Math.abs(frame.x(fromTime) - x) < nearest) [best, nearest] = [row, Math.abs(frame.x(fromTime) - x)];
    }
    if (best < 0) return null;
    const took = latency(best);
    return { row: best, lines: [Number.isNaN(took) ? END_WORDS[ends[messages.ends[best]]] : `latency ${duration(took)}`, `began ${sinceBegin(messages.begins[best])}`, `reached ${sinceBegin(lines.lasts[best])}`] };
  }

  function select(row) {
    selected = row;
    const fact = (term, ...content) => [h("dt", {}, term), h("dd", {}, content)];
    const known = detail.instants.map((instant, at) => ({ instant, time: messages.instants[at][row] })).filter(({ time }) => !Number.isNaN(time));
    const outcome = ends[messages.ends[row]];
    facts.replaceChildren(
      h("h3", {}, Number.isNaN(latency(row)) ? END_WORDS[outcome] : `This message took ${duration(latency(row))}`),
      h("dl", { class: "facts" },
        known.map(({ instant, time }, at) => fact(sinceBegin(time), `${INSTANT_WORDS[instant.kind]} `, instant.kind === "start" && instant.callbacks.length > 0 ? h("a", { href: `#schedule/callback/${instant.callbacks.find((id) => ranAt(byId.get(id), time)) ?? instant.callbacks[0]}/at/${Math.round(time)}` }, name(instant.of, false)) : name(instant.of, false), at > 0 && h("span", { class: "quiet" }, ` +${duration(time - known[at - 1].time)}`)))));
    figure.redraw();
  }

  const figure = timeView({
    title: "Message flow", definition: "path", file: `Message flow of ${title}`, from: FROM, to: Math.max(FROM + 1000, end), view: viewAround(selected),
    described: `${count(number)} messages through ${detail.instants.length} instants`,
    gutter: (width) => Math.min(width * 0.34, 300), height: () => (lines.rows.length - 1) * rowHeight() + 40, most: 700,
    draw, hit, onClick: ({ row }) => select(row),
    numbers: () => flowNumbers(detail, messages, ends),
  });

  /** So that about thirty messages are seen. */
  function viewAround(row) {
    if (row < 0) return undefined;
    const apart = number > 1 ? (messages.begins[number - 1] - messages.begins[0]) / (number - 1) : 0;
    const around = Math.max(apart * 15, (lines.lasts[row] - messages.begins[row]) * 1.5, 1e6);
    const middle = (messages.begins[row] + lines.lasts[row]) / 2;
    return [Math.max(FROM, middle - around), Math.min(Math.max(FROM + 1000, end), middle + around)];
  }

  const toggle = (label, key, hint) => h("label", { class: "choice", title: hint }, h("input", { type: "checkbox", checked: switches[key], onchange: (event) => { switches[key] = event.target.checked; lines = flowLines(detail, messages, switches); figure.redraw(); } }), ` ${label}`);
  const controls = h("div", { class: "row controls" },
    choiceOf("granularity", [["raw", "every instant"], ["node", "nodes only"]], switches.coarse ? "node" : "raw", (to) => { switches.coarse = to === "node"; lines = flowLines(detail, messages, switches); figure.redraw(); }),
    detail.flow.delayed.length > 0 && toggle("treat drop as delay", "delay", "A message that was lost counts as one that came with the next"),
    h("button", { type: "button", onclick: () => { const row = slowestRow(); if (row >= 0) { select(row); figure.show(...viewAround(row)); } } }, "Slowest"));
  const reduced = number < detail.flow.of && h("p", { class: "quiet small" }, `${count(number)} of ${count(detail.flow.of)} messages are shown: the slowest, lost ones, and some of every time.`);
  const marks = h("p", { class: "quiet small hint" }, "Grey: executions of the callbacks. ", h("span", { class: "bad" }, "✕"), " lost. ◆ not passed on.");
  if (selected >= 0) select(selected);
  return { element: h("div", {}, controls, figure.figure, marks, reduced, facts), show: (begin, length) => figure.show(begin - length, begin + length * 2) };
}

function ranAt(callback, time) {
  if (!callback) return false;
  const row = firstNotBefore(callback.starts, time);
  return callback.starts[row] === time;
}

/** The executions of a callback as pale rectangles between two instants. */
function drawExecutions(pen, frame, callback, y, height) {
  callback.latest ??= latestEnds(callback.ends);
  let reached = -Infinity;
  for (let row = firstNotBefore(callback.latest, frame.from); row < callback.starts.length && callback.starts[row] <= frame.to; row++) {
    const [from, to] = [frame.x(callback.starts[row]), frame.x(callback.ends[row])];
    if (to <= reached) continue;
    const begin = Math.max(from, reached, frame.left);
    reached = Math.max(to, begin + 1);
    pen.rect(begin, y, reached - begin, height, { fill: colour("ink"), alpha: 0.14 });
  }
}

function flowNumbers(detail, messages, ends) {
  const lines = [["message", "outcome", ...detail.instants.map((instant) => `${INSTANT_WORDS[instant.kind]} ${instant.of} [ns]`)].map(csvCell).join(",")];
  for (let row = 0; row < messages.begins.length; row++) {
    lines.push([row, ends[messages.ends[row]], ...messages.instants.map((column) => (Number.isNaN(column[row]) ? "" : absolute(column[row])))].join(","));
  }
  return `${lines.join("\n")}\n`;
}
