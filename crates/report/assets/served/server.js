// What is asked of the server. At most one view is under way at a time: whoever moves fast gets the newest, not all.

import { changed, state } from './state.js';
import { readSpans } from './spans.js';

/** How much more than the view is asked for on either side, so that moving shows no holes. */
const BEYOND = 0.5;
const SETTLED = 120;
const ENDED = 'The server has ended. Start rostrace again to go on.';

async function ask(question, parameters = {}) {
  const query = new URLSearchParams(parameters).toString().replaceAll('%2C', ',');
  state.pending += 1;
  try {
    const response = await fetch(`api/${question}?${query}`);
    if (!response.ok) throw new Error(`the server refused ${question}: ${response.status}`);
    if (state.error === state.refusal) state.error = null;
    state.refusal = null;
    return response;
  } catch (error) {
    state.refusal = error instanceof TypeError ? ENDED : String(error.message);
    state.error ??= state.refusal;
    throw error;
  } finally {
    state.pending -= 1;
    changed();
  }
}

export async function askTrace() {
  return (await ask('trace')).json();
}

export async function askOverview() {
  const numbers = new Float32Array(await (await ask('overview')).arrayBuffer());
  const half = numbers.length / 2;
  return { busy: numbers.subarray(0, half), dropped: numbers.subarray(half) };
}

export async function askInstance(id) {
  return (await ask('instance', { id })).json();
}

/** The next, previous, longest or latest execution of some callbacks; nothing if there is none. */
export async function askOccurrence(subjects, direction, from, than) {
  const parameters = { subjects: subjects.join(','), direction, from: Math.round(from), than };
  return (await (await ask('occurrence', parameters)).json()).instance ?? null;
}

/** The longest execution of all, or the one with so many before it. */
export async function askLongest(rank) {
  return (await (await ask('occurrence', { direction: 'longest', rank })).json()).instance ?? null;
}

export async function askDropped(id) {
  return (await ask('dropped', { id })).json();
}

export async function askRange(from, to) {
  return (await ask('range', { from: Math.floor(from), to: Math.ceil(to) })).json();
}

let awakeTimer = 0;
let awakeTold = '';

/** Asks which lanes have anything in view when it has stood still for a while; `act` is called when that is known. */
export function askAwake(act) {
  const { from, to } = state.view;
  const key = state.hideIdle ? `${from} ${to}` : '';
  if (key === awakeTold) return;
  awakeTold = key;
  clearTimeout(awakeTimer);
  if (!key) {
    state.awake = null;
    return act();
  }
  awakeTimer = setTimeout(async () => {
    // Lanes do not move under a finger; the next picture asks again.
    if (state.isDragging) {
      awakeTold = '';
      return;
    }
    try {
      const response = await ask('awake', { from: Math.floor(from), to: Math.ceil(to) });
      const { tracks } = await response.json();
      if (awakeTold !== key) return;
      state.awake = new Set(tracks);
    } catch {
      state.awake = null;
    }
    act();
  }, 2 * SETTLED);
}

let isAsking = false;
let shown = '';

/** Asks for what is in view, if that is not what was shown last. */
export async function askView(width, tracks) {
  if (isAsking || !state.trace || width < 1) return;
  const { from, to } = state.view;
  const length = to - from;
  const key = `${from} ${to} ${width} ${tracks.join()}`;
  if (key === shown || state.refusal === ENDED) return;
  isAsking = true;
  try {
    const asked = { from: Math.floor(from - length * BEYOND), to: Math.ceil(to + length * BEYOND) };
    const pixels = Math.ceil(width * (1 + 2 * BEYOND));
    const response = await ask('view', { ...asked, pixels, tracks: tracks.join(',') });
    state.tracks = readSpans(await response.arrayBuffer());
    shown = key;
  } catch {
    shown = key;
  } finally {
    isAsking = false;
    changed();
  }
}

let arrowTimer = 0;
let arrowsTold = '';

/** Asks for the messages in view when it has stood still for a moment. */
export function askArrows() {
  const { from, to } = state.view;
  const key = state.showArrows ? `${from} ${to}` : '';
  if (key === arrowsTold) return;
  arrowsTold = key;
  clearTimeout(arrowTimer);
  if (!key) {
    state.arrows = [];
    return;
  }
  arrowTimer = setTimeout(async () => {
    try {
      const response = await ask('arrows', { from: Math.floor(from), to: Math.ceil(to) });
      const answer = await response.json();
      if (arrowsTold !== key) return;
      state.arrows = answer.arrows;
      state.tooManyArrows = answer.too_many;
    } catch {
      state.arrows = [];
    }
    changed();
  }, SETTLED);
}
