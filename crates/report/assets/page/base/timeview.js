// A drawing over time that can be zoomed into, down to a single instance: the wheel zooms around the cursor, dragging pans, dragging with shift
// selects, two fingers pinch, + − ← → 0 do the same from the keyboard.

const TIME_AXIS_HEIGHT = 30;
const SHORTEST_VIEW = 200;

/** Instants with round names in the chosen axis mode: [{time, label}]. An index makes no sense here, so that it is system time then. */
function timeTicks(from, to, width) {
  const simulated = axis === "simulated" && simulatedClock;
  const shown = (time) => (simulated ? simulatedTime(time) : time);
  let [low, high] = [shown(from), shown(to)];
  if (Number.isNaN(low)) low = simulatedClock.simulated[0];
  if (!(high > low)) return [];
  const wanted = (high - low) / Math.max(2, Math.floor(width / 110));
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= wanted) ?? wanted;
  const decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / 1e9) + 1e-9)));
  const ticks = [];
  for (let number = Math.ceil(low / step); number * step <= high && ticks.length < 100; number++) {
    const value = number * step;
    ticks.push({ time: simulated ? systemTime(value, from, to) : value, label: (value / 1e9).toFixed(decimals) });
  }
  return ticks;
}

/** When the simulated clock showed this: the clock does not go back between the two. */
function systemTime(value, from, to) {
  let [low, high] = [from, to];
  for (let turn = 0; turn < 60; turn++) {
    const middle = (low + high) / 2;
    const shown = simulatedTime(middle);
    if (Number.isNaN(shown) || shown < value) low = middle;
    else high = middle;
  }
  return high;
}

/**
 *   title, definition, file, described: as of a drawing
 *   from, to: the whole; view: [from, to] to begin with
 *   gutter(width): how wide the names on the left are
 *   height(): of the content; what is higher than `most` is scrolled
 *   draw(pen, frame): frame has x(time), time(x), from, to, left, top, width, height, scroll; y of the content is frame.top − frame.scroll + …
 *   hit(x, y, frame): what is there: {lines: [text …], …} or nothing; onClick(hit)
 *   numbers(): CSV
 */
function timeView(options) {
  const state = { from: options.view?.[0] ?? options.from, to: options.view?.[1] ?? options.to };
  const base = h("canvas", {});
  const over = h("canvas", { class: "over", "data-timeview": options.title });
  const pane = h("div", { class: "pane" }, base, over);
  const sheet = h("div", { class: "sheet" }, pane);
  const described = `${options.described ?? options.title}. Keys: plus and minus zoom, left and right move, 0 shows all.`;
  const scroller = h("div", { class: "scroller", tabindex: 0, role: "application", "aria-label": described, onscroll: () => { hideTip(); redraw(); } }, sheet);
  const tip = h("div", { class: "tip", hidden: true, role: "status" });
  const stage = h("div", { class: "timeview" }, scroller, tip);

  function frameOf(width, height, top = 0, scroll = 0) {
    const left = Math.round(options.gutter(width));
    const inner = Math.max(10, width - left - 8);
    const scale = inner / (state.to - state.from);
    return {
      left, top, width: inner, height: height - TIME_AXIS_HEIGHT, scroll, from: state.from, to: state.to,
      x: (time) => left + (time - state.from) * scale,
      time: (x) => state.from + (x - left) / scale,
      scale,
    };
  }

  const currentFrame = () => frameOf(scroller.clientWidth, pane.clientHeight, 0, scroller.scrollTop);

  function paint(pen, frame) {
    const [ink, line, quiet] = [colour("ink"), colour("line"), colour("quiet")];
    const bottom = frame.top + frame.height;
    const ticks = timeTicks(frame.from, frame.to, frame.width);
    for (const tick of ticks) {
      const x = Math.round(frame.x(tick.time)) + 0.5;
      pen.line([x, frame.top, x, bottom + 4], { stroke: line });
    }
    pen.clipped(0, frame.top, frame.left + frame.width + 8, frame.height, () => options.draw(pen, frame));
    pen.line([frame.left, bottom + 0.5, frame.left + frame.width, bottom + 0.5], { stroke: quiet });
    for (const tick of ticks) {
      const [x, half] = [frame.x(tick.time), textWidth(tick.label, 11) / 2];
      if (x - half > frame.left - 20 && x + half < frame.left + frame.width + 8) pen.text(tick.label, x, bottom + 14, { fill: ink, size: 11, align: "center" });
    }
    pen.text(axisTitle(), frame.left - 10, bottom + 14, { fill: quiet, size: 11, align: "right", fit: frame.left - 14 });
  }

  /** An index means nothing here: what is drawn has no rows. */
  const axisTitle = () => (axis === "simulated" && simulatedClock ? AXES.simulated.title : AXES.system.title);

  let due = 0;
  function redraw() {
    due ||= requestAnimationFrame(() => {
      due = 0;
      const width = scroller.clientWidth;
      if (!width || !stage.isConnected) return;
      const content = options.height() + TIME_AXIS_HEIGHT;
      const height = Math.min(content, options.most ?? Math.max(260, innerHeight * 0.7));
      sheet.style.height = `${content}px`;
      scroller.style.height = `${height + 2}px`;
      pane.style.height = `${height}px`;
      for (const canvas of [base, over]) { canvas.style.width = `${width}px`; canvas.style.height = `${height}px`; }
      paint(new CanvasPen(base, width, height), frameOf(width, height, 0, scroller.scrollTop));
      over.dataset.from = String(state.from);
      over.dataset.to = String(state.to);
      over.dataset.axis = axisTitle();
      over.dataset.ticks = timeTicks(state.from, state.to, width).map((tick) => tick.label).join(" ");
      over.dataset.drawn = "true";
      options.onView?.(state.from, state.to);
    });
  }

  /** Shows a range of time, inside of the whole. */
  function show(from, to) {
    const whole = options.to - options.from;
    const span = Math.min(whole, Math.max(SHORTEST_VIEW, to - from));
    const middle = (from + to) / 2;
    state.from = Math.max(options.from, Math.min(options.to - span, middle - span / 2));
    state.to = state.from + span;
    redraw();
  }

  function zoom(factor, around = (state.from + state.to) / 2) {
    const span = Math.min(options.to - options.from, Math.max(SHORTEST_VIEW, (state.to - state.from) * factor));
    const share = (around - state.from) / (state.to - state.from);
    show(around - span * share, around - span * share + span);
  }

  const pan = (share) => { const by = (state.to - state.from) * share; show(state.from + by, state.to + by); };
  const reset = () => show(options.from, options.to);
  const isWhole = () => state.to - state.from >= (options.to - options.from) * 0.9999;

  // What is under the cursor.
  function hover(x, y, selecting) {
    const frame = currentFrame();
    const pen = new CanvasPen(over, scroller.clientWidth, pane.clientHeight);
    if (selecting !== undefined) pen.rect(Math.min(x, selecting), 0, Math.abs(x - selecting), frame.height, { fill: colour("accent"), alpha: 0.2 });
    if (x < frame.left || x > frame.left + frame.width || y > frame.height) return hideTip();
    pen.line([x + 0.5, 0, x + 0.5, frame.height], { stroke: colour("quiet"), dash: [3, 3] });
    pen.line([frame.left, y + 0.5, frame.left + frame.width, y + 0.5], { stroke: colour("quiet"), dash: [3, 3], alpha: 0.5 });
    const found = selecting === undefined ? options.hit?.(x, y, frame) : null;
    const length = selecting === undefined ? [] : [duration(Math.abs(x - selecting) / frame.scale)];
    tip.replaceChildren(...(found?.lines ?? []).concat(length, `${sinceBegin(frame.time(x))} · ${clockTime(frame.time(x))}`).map((line, number) => h("div", { class: number === 0 && found ? "first" : undefined, dir: "auto" }, line)));
    tip.hidden = false;
    over.style.cursor = found ? "pointer" : "crosshair";
    const [room, width] = [stage.clientWidth, tip.offsetWidth];
    tip.style.left = `${Math.max(0, x + 16 + width > room ? x - width - 12 : x + 16)}px`;
    tip.style.top = `${Math.max(0, Math.min(y + 14, pane.clientHeight - tip.offsetHeight))}px`;
    return found;
  }

  function hideTip() {
    tip.hidden = true;
    if (over.width > 1) new CanvasPen(over, scroller.clientWidth || 1, pane.clientHeight || 1);
  }

  // Fingers and mouse alike; two at a time pinch.
  const down = new Map();
  let drag = null;
  const place = (event) => { const box = over.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  over.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    const [x, y] = place(event);
    down.set(event.pointerId, [x, y]);
    try { over.setPointerCapture(event.pointerId); } catch { /* It is gone already. */ }
    drag = { x, y, from: state.from, to: state.to, scroll: scroller.scrollTop, moved: false, selects: event.shiftKey, pinch: pinchOf() };
    scroller.focus({ preventScroll: true });
  });
  function pinchOf() {
    if (down.size < 2) return null;
    const [[a], [b]] = [...down.values()];
    return { middle: (a + b) / 2, distance: Math.max(8, Math.abs(a - b)) };
  }
  over.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (!down.has(event.pointerId) || !drag) return void hover(x, y);
    down.set(event.pointerId, [x, y]);
    if (Math.abs(x - drag.x) + Math.abs(y - drag.y) > 4) drag.moved = true;
    if (drag.pinch) {
      const now = pinchOf();
      if (!now) return;
      const frame = currentFrame();
      const span = (drag.to - drag.from) * (drag.pinch.distance / now.distance);
      const around = drag.from + ((drag.pinch.middle - frame.left) / frame.width) * (drag.to - drag.from);
      const from = around - span * ((now.middle - frame.left) / frame.width);
      show(from, from + span);
    } else if (drag.selects) hover(x, y, drag.x);
    else if (drag.moved) {
      hideTip();
      const by = ((drag.x - x) / currentFrame().width) * (drag.to - drag.from);
      if (event.pointerType !== "touch") scroller.scrollTop = drag.scroll + drag.y - y;
      show(drag.from + by, drag.to + by);
    }
  });
  const released = (event) => {
    const [x, y] = place(event);
    const known = down.delete(event.pointerId);
    if (!known || !drag) return;
    if (drag.selects && drag.moved) {
      const frame = currentFrame();
      const ends = [frame.time(drag.x), frame.time(x)].sort((a, b) => a - b);
      hideTip();
      show(...ends);
    } else if (!drag.moved && event.type === "pointerup") {
      const found = options.hit?.(x, y, currentFrame());
      if (found) options.onClick?.(found);
    }
    if (down.size === 0) drag = null;
  };
  over.addEventListener("pointerup", released);
  over.addEventListener("pointercancel", released);
  over.addEventListener("pointerleave", () => { if (!drag) hideTip(); });
  over.addEventListener("dblclick", reset);
  over.addEventListener("wheel", (event) => {
    const [x] = place(event);
    // Over the names, or sideways, or with shift, the wheel does what it does elsewhere; and so does zooming out of the whole.
    const frame = currentFrame();
    if (event.shiftKey || x < frame.left) return;
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      event.preventDefault();
      return pan(event.deltaX / frame.width);
    }
    if (event.deltaY > 0 && isWhole()) return;
    event.preventDefault();
    zoom(Math.exp(Math.max(-0.6, Math.min(0.6, event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.002)))), frame.time(x));
  }, { passive: false });
  const KEYS = { "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), 0: reset };
  scroller.addEventListener("keydown", (event) => {
    if (!KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    KEYS[event.key]();
  });

  const save = (format) => {
    const [width, height] = [1400, Math.min(3000, options.height() + TIME_AXIS_HEIGHT)];
    return saveDrawing(options.file ?? options.title, format, width, height, (pen, top) => paint(pen, frameOf(width, height, top)));
  };
  const tool = (label, hint, act) => h("button", { type: "button", title: hint, "aria-label": hint, onclick: act }, label);
  const tools = [tool("−", "Zoom out", () => zoom(2)), tool("+", "Zoom in", () => zoom(0.5)), tool("all", "Show all of the time (0, or double click)", reset)];
  keepDrawing(stage, redraw);
  const figure = drawingFrame({ title: options.title, definition: options.definition, file: options.file, save, numbers: options.numbers, tools }, stage,
    h("p", { class: "quiet small hint" }, "Wheel or + − zoom, drag or ← → move, shift-drag selects, double click or 0 shows all."));
  return { figure, show, redraw, view: () => [state.from, state.to], scrollTo: (y) => { scroller.scrollTop = y; } };
}

/** The first row of rows in the order of begins that may reach a time; `latestEnds` are the latest ends so far. */
function latestEnds(ends) {
  const latest = new Float64Array(ends.length);
  let most = -Infinity;
  for (let row = 0; row < ends.length; row++) {
    if (ends[row] > most) most = ends[row];
    latest[row] = most;
  }
  return latest;
}

/** Colours for many things: the palette, then further hues. */
function manyColours(number) {
  if (number < SERIES) return seriesColour(number);
  const hue = (number * 137.508) % 360;
  return `hsl(${hue.toFixed(0)} ${50 + (number % 3) * 12}% ${document.documentElement.dataset.theme === "dark" ? 58 : 44}%)`;
}
