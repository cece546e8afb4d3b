// What the page knows. Everything that is drawn is a function of this; `changed` asks for a new picture.
// Times are nanoseconds since the begin of the trace.

export const state = {
  trace: null,
  mode: 'threads',
  view: { from: 0, to: 1 },
  /** Where the lanes are: see lanes.js. */
  layout: [],
  layoutHeight: 0,
  collapsed: new Set(),
  /** Groups of which all lanes are shown. */
  expanded: new Set(),
  /** How lanes are arranged (arrange.js): 'name', 'load' or 'worst'; words that they have to fit; tracks that stay on top. */
  sort: 'name',
  filter: '',
  pinned: new Set(),
  /** Lanes without anything in view are hidden; the tracks of those with something. */
  hideIdle: false,
  awake: null,
  hidden: { builtIn: 0, idle: 0, filtered: 0 },
  isLarge: false,
  isDragging: false,
  showArrows: true,
  showBuiltIn: false,
  /** By number of the track: what the server shown. */
  tracks: new Map(),
  arrows: [],
  tooManyArrows: false,
  /** Facts of the selected execution. */
  selected: null,
  /** Facts of the selected message that was dropped. */
  dropped: null,
  /** What the pointer is over. */
  hover: null,
  /** A range of time that was marked. */
  range: null,
  /** What was searched: { label, subjects }. */
  focus: null,
  overview: null,
  /** The time under the pointer. */
  pointerTime: null,
  /** What is said instead of the usual sentence. */
  notice: null,
  pending: 0,
  /** The first thing that went wrong; what the server refused is forgiven when it answers again. */
  error: null,
  refusal: null,
  drawn: { lanes: 0, spans: 0, blocks: 0, arrows: 0, drops: 0 },
};

/** The shortest time that can be seen, and how far the view may leave the trace. */
const SHORTEST = 200;
const MARGIN = 0.05;

const listeners = [];
let isAsked = false;

/** Calls `draw` before the next picture if anything changed. */
export function onChange(draw) {
  listeners.push(draw);
}

export function changed() {
  if (isAsked) return;
  isAsked = true;
  requestAnimationFrame(() => {
    isAsked = false;
    for (const listener of listeners) listener();
  });
}

let animation = 0;

/** Sets what is seen, at once. */
export function setView(from, to) {
  cancelAnimationFrame(animation);
  place(from, to);
}

function place(from, to) {
  const { from_ns: first, length_ns: length } = state.trace;
  const most = length * (1 + 2 * MARGIN);
  const wanted = Math.min(Math.max(to - from, SHORTEST), most);
  const middle = (from + to) / 2;
  let begin = middle - wanted / 2;
  const slack = Math.max(wanted * 0.5, length * MARGIN);
  begin = Math.min(Math.max(begin, first - slack), first + length + slack - wanted);
  if (wanted === most) begin = first - length * MARGIN;
  state.view = { from: begin, to: begin + wanted };
  changed();
}

/** Goes there in a few pictures, so that the eye can follow. */
export function glideTo(from, to) {
  if (matchMedia('(prefers-reduced-motion: reduce)').matches) return setView(from, to);
  cancelAnimationFrame(animation);
  const start = performance.now();
  const old = { ...state.view };
  const step = (now) => {
    const part = Math.min((now - start) / 220, 1);
    const eased = 1 - (1 - part) ** 3;
    // Lengths change by factors, so that zooming has the same speed all the way.
    const length = (old.to - old.from) * ((to - from) / (old.to - old.from)) ** eased;
    const middle = (old.from + old.to) / 2 + ((from + to) / 2 - (old.from + old.to) / 2) * eased;
    if (part < 1) {
      place(middle - length / 2, middle + length / 2);
      animation = requestAnimationFrame(step);
    } else {
      place(from, to);
    }
  };
  animation = requestAnimationFrame(step);
}

/** Zooms around a time; factors below 1 show less. */
export function zoom(factor, around = (state.view.from + state.view.to) / 2) {
  const { from, to } = state.view;
  // At the limit nothing moves.
  const possible = Math.max(factor, Math.min(SHORTEST / (to - from), 1));
  setView(around - (around - from) * possible, around + (to - around) * possible);
}

/** Moves by a share of what is seen. */
export function pan(share) {
  const { from, to } = state.view;
  setView(from + (to - from) * share, to + (to - from) * share);
}

export function showAll() {
  glideTo(state.trace.from_ns, state.trace.from_ns + state.trace.length_ns);
}

/** Shows a span of time with room around it. */
export function showSpan(start, length) {
  const room = Math.max(length * 0.75, 500);
  glideTo(start - room, start + length + room);
}
