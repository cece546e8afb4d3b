// Facts, flow and explanation of the selected execution. Every name is a text node: what a trace calls itself is never markup.

import { causeColour } from './colour.js';
import { laneOfPlace, openGroupOf } from './lanes.js';
import { askInstance } from './server.js';
import { changed, glideTo, showSpan, state } from './state.js';
import { duration, exactDuration, percent, wallClock, wallDate } from './time.js';

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
  state.notice = null;
  panel.replaceChildren(...content(facts));
  panel.hidden = false;
  panel.dataset.instance = String(id);
  panel.scrollTop = 0;
  openGroupOf(facts.place);
  if (reveal) bring(facts.place);
  changed();
}

export function deselect() {
  asked += 1;
  state.selected = null;
  panel.hidden = true;
  panel.replaceChildren();
  delete panel.dataset.instance;
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

function element(kind, className, ...children) {
  const made = document.createElement(kind);
  if (className) made.className = className;
  made.append(...children);
  return made;
}

/** A name, kept apart from its surroundings whatever it is written in. */
function named(text) {
  const made = element('bdi', '', text);
  made.title = text.slice(0, 1000);
  return made;
}

function content(facts) {
  const close = element('button', 'close', '×');
  close.setAttribute('aria-label', 'Close');
  close.addEventListener('click', deselect);
  const parts = [close, element('h2', '', named(facts.name)), numbers(facts)];
  if (facts.damaged) parts.push(element('p', 'alarm', 'Events were lost meanwhile: what is told here may not be all.'));
  parts.push(actions(facts), explanation(facts), flow('Upstream: what led to it', facts.upstream, upstreamNote(facts)));
  const cut = facts.downstream_is_cut ? 'More follows, which is not listed here.' : '';
  parts.push(flow('Downstream: what it led to', facts.downstream, facts.downstream.length ? cut : 'It published nothing that anyone receives.'));
  parts.push(details(facts));
  return parts.flat();
}

function upstreamNote(facts) {
  if (facts.upstream.length > 0) return '';
  return facts.kind === 'timer' ? 'A timer fired.' : 'The trace does not tell which message led to it.';
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
  for (const wait of why.waits) {
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
    const row = element('li', '', swatch, label, number, element('span', 'share', why.total > 0 ? percent(wait.duration / why.total) : ''));
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
  ring_buffer_full: 'dropped: buffer full', history_full: 'dropped: history full', middleware: 'lost', recording_end: 'not yet received', unknown: 'unknown',
};

function flow(title, messages, note) {
  const list = element('ul', 'flow');
  for (const message of messages) {
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
  }
  add('process', 'process', `${facts.process} ${facts.pid}`.trim());
  add('thread', 'thread', facts.tid);
  add('host', 'host', facts.host);
  add('symbol', 'function', facts.symbol);
  return [element('h3', '', 'Facts'), list];
}
