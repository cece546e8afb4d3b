// Puts the parts together. `window.rostrace` tells tests and the curious what is drawn.

import { drawAxis, viewText } from './axis.js';
import { chooseArrangement, hiddenText } from './arrange.js';
import { drawLanes } from './drawing.js';
import * as keyboard from './keyboard.js';
import { lanesBetween, layOut, layOutAround, placeLabels, togglePin, tracksOf } from './lanes.js';
import { drawLegend, showLegend } from './legend.js';
import { selectDropped } from './message.js';
import * as overview from './overview.js';
import * as panel from './panel.js';
import * as pointer from './pointer.js';
import { followRange } from './range.js';
import * as search from './search.js';
import { askArrows, askAwake, askOverview, askTrace, askView } from './server.js';
import { changed, onChange, setView, showAll, state, zoom } from './state.js';
import { forgetSubjectColours } from './subject_colour.js';
import { short } from './text.js';
import { startTheme } from './theme.js';
import { count, duration, relative } from './time.js';

const $ = (id) => document.getElementById(id);
const [scroller, content, canvas, labels, axis, strip] = ['scroller', 'content', 'canvas', 'labels', 'axis', 'overview'].map($);

/** Lanes this near to the edge of the screen are asked for as well. */
const AHEAD = 300;

function fail(error) {
  state.error ??= String(error?.message ?? error);
  changed();
}
// A ring around the timeline helps those who came by keys, and nobody else.
addEventListener('keydown', (event) => { if (event.key === 'Tab') document.body.dataset.input = 'keys'; });
addEventListener('pointerdown', () => { document.body.dataset.input = 'pointer'; });
addEventListener('error', (event) => fail(event.error ?? event.message));
addEventListener('unhandledrejection', (event) => fail(event.reason));

/** The context of a canvas, in the pixels of the page, whatever those of the screen are. */
function contextOf(element, width, height) {
  const scale = devicePixelRatio || 1;
  const [wide, high] = [Math.round(width * scale), Math.round(height * scale)];
  if (element.width !== wide || element.height !== high) {
    element.width = wide;
    element.height = high;
    if (element === canvas) {
      element.style.width = `${width}px`;
      element.style.height = `${height}px`;
    }
  }
  const context = element.getContext('2d');
  context.setTransform(scale, 0, 0, scale, 0, 0);
  return context;
}

function draw() {
  if (!state.trace) return drawStatus();
  content.style.height = `${state.layoutHeight}px`;
  const width = Math.max(scroller.clientWidth - labels.offsetWidth, 1);
  const height = Math.max(scroller.clientHeight, 1);
  const items = drawLanes(contextOf(canvas, width, height), width, height, scroller.scrollTop);
  placeLabels(labels, items);
  // The scroll bar of the lanes has no counterpart above.
  drawAxis(contextOf(axis, axis.clientWidth, axis.clientHeight), width, axis.clientHeight);
  overview.drawOverview(contextOf(strip, strip.clientWidth, strip.clientHeight), strip.clientWidth, strip.clientHeight);
  if (state.hover && (state.hover.view.from !== state.view.from || state.hover.view.to !== state.view.to)) {
    state.hover = null;
    $('tip').hidden = true;
  }
  drawStatus();
  const near = lanesBetween(scroller.scrollTop - AHEAD, scroller.scrollTop + height + AHEAD);
  askView(Math.round(width), tracksOf(near));
  askArrows();
  askAwake(rearrange);
  followRange();
  remember();
}

/** Other lanes have something in view. */
function rearrange() {
  layOutAround(scroller);
  changed();
}

function drawStatus() {
  const status = $('status');
  status.classList.toggle('alarm', state.error !== null);
  status.textContent = state.error ?? state.notice ?? sentence();
  const { dataset } = document.body;
  dataset.pending = String(state.pending);
  dataset.error = state.error ?? '';
  if (!state.trace) return;
  dataset.mode = state.mode;
  dataset.from = String(Math.round(state.view.from));
  dataset.to = String(Math.round(state.view.to));
  dataset.selected = state.selected ? String(state.selected.place.id) : '';
}

function sentence() {
  if (!state.trace) return 'Loading …';
  const { executions, length_ns: length, losses } = state.trace;
  const parts = [viewText(), `${count(executions)} executions in ${duration(length)}`];
  if (state.selected) parts.push(`selected: ${short(state.selected.name)} at ${relative(state.selected.place.start, 1000)}`);
  if (losses.length > 0) parts.push('events were lost where it is red');
  if (state.range) parts.push(`marked: ${duration(state.range.to - state.range.from)} from ${relative(state.range.from, 1000)} (z zooms)`);
  if (state.showArrows && state.tooManyArrows) parts.push('messages appear when you zoom in');
  const hidden = hiddenText();
  if (hidden) parts.push(hidden);
  return parts.join(' · ');
}

let rememberTimer = 0;

/** The place is part of the address, so that reloading comes back to it. */
function remember() {
  clearTimeout(rememberTimer);
  rememberTimer = setTimeout(() => {
    const pins = [...state.pinned].join('.');
    const place = `#${Math.round(state.view.from)},${Math.round(state.view.to)},${state.mode},${state.selected?.place.id ?? ''},${state.sort},${pins}`;
    if (place !== location.hash) history.replaceState(null, '', place);
  }, 400);
}

function recall() {
  const [from, to, mode, selected, sort, pins] = location.hash.slice(1).split(',');
  if (['name', 'load', 'worst'].includes(sort)) state.sort = sort;
  if (pins) state.pinned = new Set(pins.split('.').map(Number));
  if (mode === 'threads' || mode === 'callbacks') state.mode = mode;
  if (!(Number(to) > Number(from))) return false;
  setView(Number(from), Number(to));
  if (selected) panel.select(Number(selected));
  return true;
}

function press(id) {
  $(id).click();
}

function setMode(mode) {
  state.mode = mode;
  $('by-thread').setAttribute('aria-pressed', String(mode === 'threads'));
  $('by-callback').setAttribute('aria-pressed', String(mode === 'callbacks'));
  layOut();
  scroller.scrollTop = 0;
  if (state.selected) {
    panel.bring(state.selected.place);
  }
  changed();
}

function toggle(id, key, after = () => {}) {
  $(id).addEventListener('click', () => {
    state[key] = !state[key];
    after();
    changed();
  });
  onChange(() => $(id).setAttribute('aria-pressed', String(state[key])));
}

/** Everything is drawn again in the colours of the theme. */
function themeChanged() {
  forgetSubjectColours();
  drawLegend($('legend'));
  changed();
}

/** Changes how lanes are arranged, and goes to the first. */
function arrange(change) {
  change();
  layOut();
  scroller.scrollTop = 0;
  changed();
}

function listenToAll() {
  pointer.listen(canvas, scroller, axis, $('tip'));
  overview.listen(strip);
  panel.listen($('panel'), scroller);
  search.listen({ query: $('query'), matches: $('matches'), steps: $('steps'), scroller });
  keyboard.listen(scroller, press);
  scroller.addEventListener('scroll', changed);
  new ResizeObserver(() => {
    layOut();
    changed();
  }).observe(scroller);
  $('by-thread').addEventListener('click', () => setMode('threads'));
  $('by-callback').addEventListener('click', () => setMode('callbacks'));
  toggle('arrows', 'showArrows');
  toggle('built-in', 'showBuiltIn', layOut);
  $('idle').addEventListener('click', () => {
    state.hideIdle = !state.hideIdle;
    changed();
  });
  onChange(() => $('idle').setAttribute('aria-pressed', String(!state.hideIdle)));
  $('worst').addEventListener('click', search.stepLongest);
  $('filter').addEventListener('input', () => arrange(() => { state.filter = $('filter').value; }));
  $('filter').addEventListener('keydown', (event) => {
    if (event.key !== 'Escape' && event.key !== 'Enter') return;
    if (event.key === 'Escape') arrange(() => { state.filter = $('filter').value = ''; });
    scroller.focus();
  });
  $('sort').addEventListener('change', () => arrange(() => { state.sort = $('sort').value; }));
  onChange(() => { $('sort').value = state.sort; });
  $('legend-button').addEventListener('click', () => showLegend($('signs'), $('signs-list')));
  $('signs-close').addEventListener('click', () => $('signs').close());
  $('zoom-in').addEventListener('click', () => zoom(0.5));
  $('zoom-out').addEventListener('click', () => zoom(2));
  $('zoom-all').addEventListener('click', showAll);
  for (const direction of ['next', 'previous', 'longest', 'latest']) $(direction).addEventListener('click', () => search.step(direction));
  $('forget').addEventListener('click', search.forget);
  $('help-button').addEventListener('click', () => $('help').showModal());
  $('help-close').addEventListener('click', () => $('help').close());
}

async function begin() {
  onChange(draw);
  startTheme($('theme'), themeChanged);
  state.trace = await askTrace();
  document.title = `${short(state.trace.title)} · rostrace`;
  $('title').textContent = short(state.trace.title);
  $('title').title = short(state.trace.title);
  chooseArrangement();
  listenToAll();
  drawLegend($('legend'));
  setView(state.trace.from_ns, state.trace.from_ns + state.trace.length_ns);
  const isRecalled = recall();
  setMode(state.mode);
  const nothing = $('nothing');
  if (state.layout.length === 0) {
    nothing.hidden = false;
    nothing.textContent = 'No callback ran in this part of the trace, or none fits what was asked for.';
  }
  const { at } = state.trace;
  if (at && !isRecalled) {
    const length = Math.min(Math.max(at.instance ? at.instance.length * 12 : 0, 20e6), state.trace.length_ns);
    setView(at.time - length / 2, at.time + length / 2);
    if (at.instance) {
      await panel.select(at.instance.id);
      const item = state.laneOf.get(state.mode === 'threads' ? at.instance.thread : at.instance.subject);
      if (item) scroller.scrollTop = Math.max(item.y - scroller.clientHeight / 3, 0);
    }
  }
  document.body.dataset.ready = 'true';
  changed();
  state.overview = await askOverview();
  changed();
}

window.rostrace = {
  get ready() { return document.body.dataset.ready === 'true' && state.pending === 0; },
  get view() { return { ...state.view }; },
  get mode() { return state.mode; },
  get selected() { return state.selected; },
  get drawn() { return { ...state.drawn }; },
  get error() { return state.error; },
  get trace() { return state.trace; },
  get arrows() { return state.arrows; },
  get dropped() { return state.dropped; },
  /** All headings and lanes as they are laid out, in view or not. */
  get layout() { return state.layout.map(({ kind, key, name, group, lane }) => ({ kind, key, name: name ?? group.name, track: lane?.track, busy: lane?.busy, longest: lane?.longest })); },
  get hidden() { return { ...state.hidden }; },
  /** Lanes in view with their places on the screen, and what is drawn in their rows. */
  get lanes() {
    const box = canvas.getBoundingClientRect();
    return lanesBetween(scroller.scrollTop, scroller.scrollTop + scroller.clientHeight)
      .filter((item) => item.kind === 'lane')
      .map((item) => ({
        name: item.name,
        drops: (state.tracks.get(item.lane.drops) ?? []).flatMap((row) => Array.from({ length: row.count }, (_, place) => ({
          id: row.item(place), messages: row.executions(place), y: box.top + item.rowsY - scroller.scrollTop + 2,
          x: box.left + ((row.start(place) - state.view.from) / (state.view.to - state.view.from)) * box.width,
        }))),
        y: box.top + item.rowsY - scroller.scrollTop + 10,
        spans: (state.tracks.get(item.lane.track) ?? []).flatMap((row) => Array.from({ length: row.count }, (_, place) => ({
          start: row.start(place), length: row.length(place), executions: row.executions(place), instance: row.item(place),
          longest: row.longestLength(place),
          x: box.left + ((row.start(place) + row.length(place) / 2 - state.view.from) / (state.view.to - state.view.from)) * box.width,
        }))),
      }));
  },
  select: (id) => panel.select(id, { reveal: true }),
  selectDropped: (id) => selectDropped(id, { reveal: true }),
  pin: (track) => togglePin(track),
  setView: (from, to) => setView(from, to),
};

begin().catch(fail);
