// Facts, flow and explanation of the selected execution. Every name is a text node: what a trace calls itself is never markup.

import { causeColour } from './colour.js';
import { element } from './element.js';
import { laneOfPlace, layOut, openGroupOf } from './lanes.js';
import { ordinal } from './search.js';
import { askInstance } from './server.js';
import { changed, glideTo, showSpan, state } from './state.js';
import { named } from './text.js';
import { count, duration, exactDuration, share, wallClock, wallDate } from './time.js';

let panel = null;
let scroller = null;
let asked = 0;

export function listen(element, lanes) {
  panel = element;
  scroller = lanes;
}

/** Selects an execution; `reveal` moves the view to it. */
export async function select(id, { reveal = false } = {}) {
  asked += 1;
  const mine = asked;
  let facts;
  try {
    facts = await askInstance(id);
  } catch {
    return;
  }
  // A later click wins, whoever is answered first.
  if (mine !== asked) return;
  state.selected = facts;
  state.dropped = null;
  state.notice = null;
  show('execution', content(facts));
  panel.dataset.instance = String(id);
  openGroupOf(facts.place);
  if (reveal) bring(facts.place);
  changed();
}

export function deselect() {
  asked += 1;
  // Its lane was shown whatever hid it.
  const wasSelected = state.selected !== null;
  state.notice = null;
  state.selected = null;
  state.dropped = null;
  hide();
  if (wasSelected) layOut();
  changed();
}

/** Shows something else than what was there: an execution, a dropped message, a range. */
export function show(kind, parts) {
  const close = element('button', 'close', '×');
  close.setAttribute('aria-label', 'Close');
  close.addEventListener('click', () => {
    if (kind === 'range') state.range = null;
    else deselect();
    changed();
  });
  panel.replaceChildren(close, ...parts);
  panel.hidden = false;
  panel.dataset.kind = kind;
  delete panel.dataset.instance;
  panel.scrollTop = 0;
  changed();
}

function hide() {
  panel.hidden = true;
  panel.replaceChildren();
  delete panel.dataset.instance;
  delete panel.dataset.kind;
}

/** Takes something away that is no longer there; the selected execution comes back. */
export function leave(kind) {
  if (panel.dataset.kind !== kind) return;
  hide();
  if (state.selected) {
    show('execution', content(state.selected));
    panel.dataset.instance = String(state.selected.place.id);
  }
  changed();
}

/** Goes to where an execution is, in time and among the lanes. */
export function bring(place) {
  const { from, to } = state.view;
  const length = to - from;
  const isTiny = place.length < length / 400;
  const isHuge = place.length > length * 0.9;
  const isSeen = place.start > from + length * 0.05 && place.start + place.length < to - length * 0.05;
  if (isTiny || isHuge) {
    const wanted = Math.max(place.length * 12, 20_000);
    const middle = place.start + place.length / 2;
    glideTo(middle - wanted / 2, middle + wanted / 2);
  } else if (!isSeen) {
    const middle = place.start + place.length / 2;
    glideTo(middle - length / 2, middle + length / 2);
  }
  const item = laneOfPlace(place);
  if (!item) return;
  const [top, bottom] = [scroller.scrollTop, scroller.scrollTop + scroller.clientHeight];
  if (item.y < top || item.y + item.height > bottom) scroller.scrollTop = item.y - scroller.clientHeight / 3;
}

/** Along the flow: to the sender of what it received, to the first receiver of what it sent. */
export function follow(direction) {
  const next = state.selected?.[direction].find((message) => message.instance);
  if (next) select(next.instance.id, { reveal: true });
}

function content(facts) {
  const parts = [element('h2', '', element('bdi', '', facts.name)), numbers(facts), beside(facts)];
  if (facts.damaged) parts.push(element('p', 'alarm', 'Events were lost meanwhile: what is shown here may not be all.'));
  parts.push(actions(facts), explanation(facts), flow('Upstream: what led to it', facts.upstream, upstreamNote(facts)));
  const cut = facts.downstream_is_cut ? 'More follows, which is not listed here.' : '';
  parts.push(flow('Downstream: what it led to', facts.downstream, facts.downstream.length ? cut : downstreamNote(facts)));
  parts.push(details(facts));
  return parts.flat();
}

function upstreamNote(facts) {
  if (facts.upstream.length > 0) return '';
  return facts.kind === 'timer' ? 'A timer fired.' : 'The trace does not tell which message led to it.';
}

/** Whether nobody received what it published, or whether that is not known. */
function downstreamNote({ published, published_by_unknown: unknown }) {
  if (published === 0) return 'It published nothing.';
  const messages = published === 1 ? '1 message' : `${count(published)} messages`;
  return unknown ? `It published ${messages}; the trace does not tell on which topic, nor who received them.` : `It published ${messages} that nobody receives.`;
}

function numbers(facts) {
  const all = element('div', 'big');
  const add = (key, value, label, title) => {
    if (value === undefined || value === null) return;
    const number = element('b', '', duration(value));
    number.dataset[key] = String(value);
    number.title = title ?? exactDuration(value);
    all.append(element('div', '', number, element('span', '', label)));
  };
  if (facts.duration === undefined) all.append(element('div', '', element('b', '', '?'), element('span', '', 'its end is not known')));
  add('duration', facts.duration, 'duration');
  add('lateness', facts.lateness, facts.kind === 'timer' ? 'after it was due' : 'after the publication');
  add('period', facts.since_previous, 'since the previous start');
  return all;
}

/** What is usual for this callback, and where this one stands. */
function beside(facts) {
  if (facts.usual === undefined || facts.duration === undefined || facts.of < 2) return element('p', 'beside', facts.of === 1 ? 'its only execution with a known end' : '');
  const rank = `${ordinal(facts.longer + 1)}longest of ${count(facts.of)}`;
  const times = facts.usual > 0 ? facts.duration / facts.usual : 0;
  const made = element('p', 'beside', `usual ${duration(facts.usual)}, ${rank}${times >= 2 ? `: ${times >= 10 ? Math.round(times) : times.toFixed(1)} times the usual` : ''}`);
  made.dataset.usual = String(facts.usual);
  made.dataset.longer = String(facts.longer);
  return made;
}

function actions(facts) {
  const bar = element('div', 'buttons actions');
  const add = (text, title, action) => {
    const button = element('button', '', text);
    button.title = title;
    button.addEventListener('click', action);
    bar.append(button);
  };
  add('Zoom to it', 'f', () => showSpan(facts.place.start, facts.place.length));
  const before = facts.why.begin;
  if (before < facts.place.start) {
    add('With its wait', 'From when it should have begun', () => showSpan(before, facts.place.start + facts.place.length - before));
  }
  return bar;
}

function explanation(facts) {
  const { why } = facts;
  if (why.waits.length === 0) return [];
  const canvas = element('canvas', 'why-bar');
  canvas.width = 800;
  canvas.height = 22;
  canvas.setAttribute('role', 'img');
  canvas.setAttribute('aria-label', 'Where the time went; the list below says the same');
  const context = canvas.getContext('2d');
  for (const [begin, length, wait] of why.parts) {
    context.fillStyle = causeColour(why.waits[wait].cause);
    context.fillRect(((begin - why.begin) / why.total) * 800, 0, Math.max((length / why.total) * 800, 0.5), 22);
  }
  const list = element('ul', 'waits');
  // The bar has the order of time; here the largest comes first.
  for (const wait of [...why.waits].sort((a, b) => b.duration - a.duration)) {
    const swatch = element('i', '');
    swatch.style.background = causeColour(wait.cause);
    const text = element('bdi', '', wait.times > 1 ? `${wait.text} (${wait.times} times)` : wait.text);
    let label = text;
    if (wait.instance) {
      label = element('button', '', text);
      label.addEventListener('click', () => select(wait.instance.id, { reveal: true }));
    }
    const number = element('span', 'number', duration(wait.duration));
    number.title = exactDuration(wait.duration);
    const row = element('li', '', swatch, label, number, element('span', 'share', why.total > 0 ? share(wait.duration / why.total) : ''));
    row.dataset.cause = wait.cause;
    row.dataset.duration = String(wait.duration);
    list.append(row);
  }
  const title = element('h3', '', `Why: ${duration(why.total)} to its end`);
  const parts = [title, canvas, list];
  if (why.damaged) parts.push(element('p', 'alarm', 'Events were lost meanwhile: what ran then may be missing here.'));
  return parts;
}

const STATUSES = {
  ring_buffer_full: 'dropped: buffer full', history_full: 'dropped: history full', middleware: 'lost', recording_end: 'not yet received', unknown: 'not known',
};

/** More receivers than this of which nothing else is known are one row. */
const FEW = 3;

/** Receivers of a topic that came to the same end, and lead nowhere, are counted. */
function together(messages) {
  const keyOf = (message) => (message.instance ? null : `${message.depth} ${message.topic} ${message.status}`);
  const counts = new Map();
  for (const message of messages) counts.set(keyOf(message), (counts.get(keyOf(message)) ?? 0) + 1);
  const seen = new Set();
  return messages.flatMap((message) => {
    const key = keyOf(message);
    if (key === null || counts.get(key) <= FEW) return [message];
    if (seen.has(key)) return [];
    seen.add(key);
    return [{ ...message, latency: undefined, name: `${count(counts.get(key))} receivers` }];
  });
}

function flow(title, messages, note) {
  const list = element('ul', 'flow');
  for (const message of together(messages)) {
    const kind = message.instance ? 'button' : 'div';
    const number = message.latency === undefined ? STATUSES[message.status] ?? 'taken' : duration(message.latency);
    const topic = element('bdi', 'topic', message.topic);
    const row = element(kind, 'message', named(message.name), topic, element('span', 'number', number));
    row.classList.toggle('lost', message.status in STATUSES);
    row.style.marginInlineStart = `${Math.min(message.depth, 6) * 12}px`;
    row.style.width = `calc(100% - ${Math.min(message.depth, 6) * 12}px)`;
    if (message.instance) {
      row.dataset.instance = String(message.instance.id);
      row.addEventListener('click', () => select(message.instance.id, { reveal: true }));
    }
    list.append(element('li', '', row));
  }
  const parts = [element('h3', '', title), list];
  if (note) parts.push(element('p', '', note));
  return parts;
}

function details(facts) {
  const list = element('dl', '');
  const add = (key, label, value) => {
    if (value === '' || value === undefined || value === null) return;
    const entry = element('dd', '', element('bdi', '', String(value)));
    entry.dataset.fact = key;
    list.append(element('dt', '', label), entry);
  };
  const names = { timer: 'timer', subscription: 'subscription', service: 'service', client: 'client' };
  add('node', 'node', facts.node);
  add('kind', 'trigger', [names[facts.kind] ?? 'unknown', facts.intra_process ? '(inside the process)' : ''].join(' ').trim());
  add('topic', facts.kind === 'subscription' ? 'topic' : 'name', facts.topic);
  add('period', 'period', facts.period_ns === undefined ? '' : exactDuration(facts.period_ns));
  add('start', 'start', `${wallDate(facts.place.start)} ${wallClock(facts.place.start, 9)}`);
  add('start_ns', 'start, ns', facts.start_ns);
  add('relative', 'since begin', `${(facts.place.start / 1e9).toFixed(9)} s`);
  add('duration', 'duration', facts.duration === undefined ? 'not known' : exactDuration(facts.duration));
  add('lateness', 'lateness', facts.lateness === undefined ? '' : exactDuration(facts.lateness));
  if (facts.cpu) {
    add('running', 'on a CPU', duration(facts.cpu.running));
    add('waiting', 'waiting for one', `${duration(facts.cpu.waiting)}, preempted ${facts.cpu.preemptions} times`);
    add('blocked', 'sleeping', duration(facts.cpu.blocked));
    if (facts.cpu.waiting_or_blocked) add('waiting_or_blocked', 'waiting or sleeping', duration(facts.cpu.waiting_or_blocked));
    add('source', 'known by', facts.cpu.source);
  }
  add('process', 'process', `${facts.process} ${facts.pid}`.trim());
  add('thread', 'thread', facts.tid);
  add('host', 'host', facts.host);
  add('symbol', 'function', facts.symbol);
  return [element('h3', '', 'Facts'), list];
}
