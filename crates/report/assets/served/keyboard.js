// Everything that can be done with the mouse can be done with keys.

import { changed, glideTo, pan, showAll, showSpan, state, zoom } from './state.js';
import { deselect, follow } from './panel.js';
import { laneOfPlace, togglePin } from './lanes.js';
import { forget, step, stepLongest } from './search.js';

const STEP = 0.15;

/** `press` does what the button of that id does. */
export function listen(scroller, press) {
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLInputElement;
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping || document.querySelector('dialog[open]')) return;
    // Buttons need Enter and space; all other keys mean the timeline wherever the focus is.
    const action = actions(scroller, press)[event.key];
    if (!action) return;
    event.preventDefault();
    action();
  });
}

function actions(scroller, press) {
  const around = () => state.pointerTime ?? undefined;
  return {
    w: () => zoom(0.72, around()),
    '+': () => zoom(0.72, around()),
    '=': () => zoom(0.72, around()),
    s: () => zoom(1 / 0.72, around()),
    '-': () => zoom(1 / 0.72, around()),
    a: () => pan(-STEP),
    ArrowLeft: () => pan(-STEP),
    d: () => pan(STEP),
    ArrowRight: () => pan(STEP),
    ArrowUp: () => { scroller.scrollTop -= 60; },
    ArrowDown: () => { scroller.scrollTop += 60; },
    PageUp: () => { scroller.scrollTop -= scroller.clientHeight * 0.9; },
    PageDown: () => { scroller.scrollTop += scroller.clientHeight * 0.9; },
    Home: () => pan((state.trace.from_ns - state.view.from) / (state.view.to - state.view.from)),
    End: () => pan((state.trace.from_ns + state.trace.length_ns - state.view.to) / (state.view.to - state.view.from)),
    0: showAll,
    z: () => { if (state.range) glideTo(state.range.from, state.range.to); },
    f: () => { if (state.selected) showSpan(state.selected.place.start, state.selected.place.length); },
    n: () => step('next'),
    p: () => step('previous'),
    x: () => step('longest'),
    g: stepLongest,
    l: () => press('legend-button'),
    i: () => press('idle'),
    k: () => { if (state.selected) togglePin(laneOfPlace(state.selected.place)?.lane.track); },
    t: () => step('latest'),
    u: () => follow('upstream'),
    j: () => follow('downstream'),
    v: () => press(state.mode === 'threads' ? 'by-callback' : 'by-thread'),
    m: () => press('arrows'),
    b: () => press('built-in'),
    '/': () => document.getElementById('query').focus(),
    '?': () => press('help-button'),
    Escape: () => {
      if (state.range) state.range = null;
      else if (state.selected || state.dropped) deselect();
      else forget();
      changed();
    },
  };
}
