// Where the lanes are: groups under headings, one below the other, in the pixels of the content that is scrolled.

import { arranged, folded, groupsOfMode } from './arrange.js';
import { element } from './element.js';
import { changed, state } from './state.js';
import { apart, named, short } from './text.js';
import { count, duration, share } from './time.js';

const HEADING = 26;
const ROWS = { few: 34, many: 22 };
let row = ROWS.many;
const STRIP = 5;
const ROOM = 4;

/** Longer names are shown by where they differ from others. */
const LONGEST = 26;

/** Labels that exist, by the key of their item. */
const shown = new Map();

/** The lanes of the mode that is chosen, with their places. Few lanes are higher than many. */
export function layOut() {
  for (const label of shown.values()) label.remove();
  shown.clear();
  row = ROWS.few;
  place();
  if (state.layoutHeight > innerHeight * 0.7) {
    row = ROWS.many;
    place();
  }
}

function place() {
  const layout = [];
  const telling = apart(groupsOfMode().flatMap((group) => [group.name, ...group.lanes.map((lane) => lane.name)]));
  const seenOf = (name) => (name.length > LONGEST ? telling.get(name) : undefined);
  let y = 0;
  for (const group of arranged()) {
    const isOpen = !state.collapsed.has(group.key);
    // Where there are many, a process with one thread needs no heading.
    const isAlone = state.isLarge && group.entries.length === 1 && !group.isMixed;
    if (!isAlone) {
      layout.push({ kind: 'group', key: group.key, group, seen: seenOf(group.name), isOpen, y, height: HEADING });
      y += HEADING;
      if (!isOpen) continue;
    }
    const [first, others] = folded(group);
    for (const entry of first) {
      const { lane } = entry;
      const isMixed = isAlone || group.isMixed;
      const name = isMixed ? entry.group.name : lane.name;
      const note = isMixed ? [lane.name, entry.group.note].join(' · ') : lane.note;
      const item = { kind: 'lane', key: `${group.key} ${lane.track}`, lane, name, seen: seenOf(name), note, isAlone, y, parts: [] };
      let at = y + ROOM;
      item.rowsY = at;
      at += Math.max(lane.rows, 1) * row;
      for (const part of ['executor', 'scheduling']) {
        if (lane[part] === undefined) continue;
        item.parts.push({ part, track: lane[part], y: at + 1, height: STRIP });
        at += STRIP + 1;
      }
      item.height = at + ROOM - y;
      y += item.height;
      layout.push(item);
    }
    if (others.length > 0) {
      layout.push({ kind: 'more', key: `${group.key} more`, group, others, y, height: HEADING });
      y += HEADING;
    }
  }
  state.layout = layout;
  state.layoutHeight = y + 40;
  state.laneOf = new Map();
  for (const item of layout) {
    if (item.kind !== 'lane') continue;
    state.laneOf.set(state.mode === 'threads' ? item.lane.thread : item.lane.subject, item);
  }
}

/** Lays out again with what is at the top, or under the pointer, staying where it is. */
export function layOutAround(scroller) {
  const anchor = state.hover?.item ?? lanesBetween(scroller.scrollTop, scroller.scrollTop).find((item) => item.kind === 'lane');
  const offset = anchor ? anchor.y - scroller.scrollTop : 0;
  layOut();
  const now = anchor && state.layout.find((item) => item.kind === 'lane' && item.lane.track === anchor.lane.track);
  if (now) scroller.scrollTop = Math.max(now.y - offset, 0);
}

export function rowHeight() {
  return row - 2;
}

export function rowY(item, number) {
  return item.rowsY + number * row + 1;
}

/** Lanes and headings that touch a range of pixels. */
export function lanesBetween(top, bottom) {
  let low = 0;
  let high = state.layout.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (state.layout[middle].y + state.layout[middle].height < top) low = middle + 1;
    else high = middle;
  }
  const found = [];
  for (let at = low; at < state.layout.length && state.layout[at].y <= bottom; at += 1) found.push(state.layout[at]);
  return found;
}

/** The numbers of the tracks that are in view. */
export function tracksOf(items) {
  const tracks = [];
  for (const item of items) {
    if (item.kind !== 'lane') continue;
    for (const name of ['track', 'executor', 'scheduling', 'drops']) {
      if (item.lane[name] !== undefined) tracks.push(item.lane[name]);
    }
  }
  return tracks;
}

/** The lane that an execution is in; nothing if it is not shown. */
export function laneOfPlace(place) {
  const key = state.mode === 'threads' ? place.thread : place.subject;
  return state.laneOf.get(key) ?? null;
}

/** Shows the lane of the selected execution, whatever it was hidden by. */
export function openGroupOf(place) {
  if (laneOfPlace(place)) return;
  const isIts = (lane) => (state.mode === 'threads' ? lane.thread === place.thread : lane.subject === place.subject);
  groupsOfMode().forEach((group, number) => {
    const lane = group.lanes.find(isIts);
    if (!lane) return;
    const key = state.pinned.has(lane.track) ? 'pinned' : lane.tf ? 'tf' : number;
    state.collapsed.delete(`${state.mode} ${key}`);
  });
  layOut();
  changed();
}

/** Puts the names beside the lanes in view; the others have no elements. */
export function placeLabels(container, items) {
  const wanted = new Set();
  for (const item of items) {
    wanted.add(item.key);
    let label = shown.get(item.key);
    if (!label) {
      label = { group: heading, more, lane: name }[item.kind](item);
      shown.set(item.key, label);
      container.append(label);
    }
    if (item.kind === 'group') label.setAttribute('aria-expanded', String(item.isOpen));
    else if (item.kind === 'lane') label.classList.toggle('focus', isInFocus(item.lane));
    label.style.top = `${item.y}px`;
    label.style.height = `${item.height}px`;
  }
  for (const [key, label] of shown) {
    if (wanted.has(key)) continue;
    label.remove();
    shown.delete(key);
  }
}

function isInFocus(lane) {
  return lane.subject !== undefined && (state.focus?.subjects.includes(lane.subject) ?? false);
}

function heading(item) {
  const { name, note } = item.group;
  const remark = element('span', 'note', short(note));
  const button = element('button', 'group', named(item.seen?.text ?? name, { title: name, byEnd: item.seen?.byEnd }), remark);
  button.dataset.group = name.slice(0, 200);
  button.title = `${short(name)} (${short(note)})`;
  button.addEventListener('click', () => {
    if (state.collapsed.has(item.key)) state.collapsed.delete(item.key);
    else state.collapsed.add(item.key);
    layOut();
    changed();
  });
  return button;
}

/** In the place of lanes that are folded. */
function more({ group, others }) {
  const most = figure(others[0].lane);
  const button = element('button', 'more', `${count(others.length)} more, each ${most.startsWith('<') ? '' : 'at most '}${most}`);
  button.addEventListener('click', () => {
    state.expanded.add(group.key);
    layOut();
    changed();
  });
  return button;
}

/** What a lane is sorted by. */
function figure({ busy, longest }) {
  if (state.sort === 'load') return `${share(busy / state.trace.length_ns)}`;
  return state.sort === 'worst' ? duration(longest) : '';
}

function name({ lane, name: own, seen, note, height, isAlone }) {
  const executions = lane.count === 1 ? '1 execution' : `${count(lane.count)} executions`;
  const lost = lane.lost > 0 ? `, ${count(lane.lost)} dropped` : '';
  const load = `${share(lane.busy / state.trace.length_ns)} busy, longest ${duration(lane.longest)}`;
  const label = element('div', 'lane', named(seen?.text ?? own, { title: own, byEnd: seen?.byEnd }));
  label.dataset.lane = own.slice(0, 200);
  label.title = [own, note, `${executions}${lost}`, load].filter(Boolean).map(short).join('\n');
  label.classList.toggle('low', height < 36);
  label.classList.toggle('alone', isAlone);
  if (note && !isAlone || height >= 36) label.append(element('bdi', 'count', note ? short(note) : executions));
  const text = figure(lane);
  if (text) label.append(element('span', 'figure', text));
  const isPinned = state.pinned.has(lane.track);
  const pin = element('button', 'pin', isPinned ? '●' : '○');
  pin.title = isPinned ? 'Back to its place' : 'Pin: keep it on top';
  pin.setAttribute('aria-label', pin.title);
  pin.setAttribute('aria-pressed', String(isPinned));
  pin.addEventListener('click', () => togglePin(lane.track));
  label.append(pin);
  return label;
}

export function togglePin(track) {
  if (!state.pinned.delete(track)) state.pinned.add(track);
  layOut();
  changed();
}
