// Where the lanes are: groups under headings, one below the other, in the pixels of the content that is scrolled.

import { changed, state } from './state.js';
import { count } from './time.js';

const HEADING = 26;
const ROWS = { few: 34, many: 22 };
let row = ROWS.many;
const STRIP = 5;
const ROOM = 4;

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
  const groups = state.mode === 'threads' ? state.trace.threads : state.trace.callbacks;
  const layout = [];
  let y = 0;
  groups.forEach((group, number) => {
    const lanes = group.lanes.filter((lane) => state.showBuiltIn || !lane.built_in);
    if (lanes.length === 0) return;
    const key = `${state.mode} ${number}`;
    const isOpen = !state.collapsed.has(key);
    layout.push({ kind: 'group', key, group, isOpen, y, height: HEADING });
    y += HEADING;
    if (!isOpen) return;
    for (const lane of lanes) {
      const item = { kind: 'lane', key: `${key} ${lane.track}`, lane, y, parts: [] };
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
  });
  state.layout = layout;
  state.layoutHeight = y + 40;
  state.laneOf = new Map();
  for (const item of layout) {
    if (item.kind !== 'lane') continue;
    state.laneOf.set(state.mode === 'threads' ? item.lane.thread : item.lane.subject, item);
  }
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

/** Opens the group that an execution is in. */
export function openGroupOf(place) {
  if (laneOfPlace(place)) return;
  const groups = state.mode === 'threads' ? state.trace.threads : state.trace.callbacks;
  groups.forEach((group, number) => {
    const lane = group.lanes.find((one) => (state.mode === 'threads' ? one.thread === place.thread : one.subject === place.subject));
    if (!lane) return;
    state.collapsed.delete(`${state.mode} ${number}`);
    if (lane.built_in) state.showBuiltIn = true;
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
      label = item.kind === 'group' ? heading(item) : name(item);
      shown.set(item.key, label);
      container.append(label);
    }
    if (item.kind === 'group') label.setAttribute('aria-expanded', String(item.isOpen));
    else label.classList.toggle('focus', isInFocus(item.lane));
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
  const button = document.createElement('button');
  button.className = 'group';
  button.dataset.group = item.group.name.slice(0, 200);
  const text = document.createElement('bdi');
  text.textContent = short(item.group.name);
  const note = document.createElement('span');
  note.className = 'note';
  note.textContent = short(item.group.note);
  button.title = `${short(item.group.name)} (${short(item.group.note)})`;
  button.append(text, note);
  button.addEventListener('click', () => {
    if (state.collapsed.has(item.key)) state.collapsed.delete(item.key);
    else state.collapsed.add(item.key);
    layOut();
    changed();
  });
  return button;
}

function name(item) {
  const label = document.createElement('div');
  label.className = 'lane';
  label.dataset.lane = item.lane.name.slice(0, 200);
  const text = document.createElement('bdi');
  text.textContent = short(item.lane.name);
  const note = document.createElement('bdi');
  note.className = 'count';
  const executions = item.lane.count === 1 ? '1 execution' : `${count(item.lane.count)} executions`;
  note.textContent = item.lane.note ? short(item.lane.note) : executions;
  label.title = [item.lane.name, item.lane.note, executions].filter(Boolean).map(short).join('\n');
  label.classList.toggle('low', item.height < 36);
  label.append(text);
  if (item.lane.note || item.height >= 36) label.append(note);
  return label;
}

/** No more of a name than anyone reads: the whole of it is in the panel. */
export function short(text) {
  return text.length > 300 ? `${text.slice(0, 299)}…` : text;
}
