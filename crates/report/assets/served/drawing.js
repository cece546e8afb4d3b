// The picture of the lanes. Spans of at least a pixel are drawn as they are; a block of many is a pale body, whose strength is the share of
// time in callbacks, with a bar as high as its longest execution, so that the worst stands out at any zoom.

import { drawFlow, drawMessages } from './arrows.js';
import { gridTimes } from './axis.js';
import { causeColour, colour } from './colour.js';
import { lanesBetween, rowHeight, rowY } from './lanes.js';
import { state } from './state.js';
import { EXECUTOR, SCHEDULING, subjectColour } from './subject_colour.js';
import { duration } from './time.js';

const LABEL_FROM = 26;
const THIN = 1.5;
/** What is this near to an edge counts as seen. */
const MARGIN = 2;

export function drawLanes(context, width, height, scroll) {
  const { from, to } = state.view;
  const view = { width, height, scroll, x: (time) => ((time - from) / (to - from)) * width, pixel: (to - from) / width };
  state.drawn = { lanes: 0, spans: 0, blocks: 0, arrows: 0, drops: 0 };
  context.clearRect(0, 0, width, height);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.direction = 'ltr';
  const items = lanesBetween(scroll, scroll + height);
  drawGround(context, view, items);
  for (const item of items) if (item.kind === 'lane') drawLane(context, view, item);
  drawRange(context, view);
  drawPointer(context, view);
  if (state.showArrows) drawMessages(context, view);
  if (state.selected) {
    drawFlow(context, view);
    drawSelected(context, view);
  }
  return items;
}

function drawGround(context, view, items) {
  context.fillStyle = colour('grid');
  for (const time of gridTimes(view.width)) context.fillRect(Math.round(view.x(time)), 0, 1, view.height);
  for (const item of items) {
    const y = item.y - view.scroll;
    if (item.kind !== 'lane') {
      context.fillStyle = colour('soft');
      context.fillRect(0, y, view.width, item.height);
      context.fillStyle = colour('line');
      context.fillRect(0, y, view.width, 1);
    }
    context.fillStyle = colour(item.kind === 'group' ? 'line' : 'grid');
    context.fillRect(0, y + item.height - 1, view.width, 1);
  }
  // What lies outside of the trace is not a time in which nothing happened.
  context.fillStyle = colour('ground');
  const [begin, end] = [view.x(state.trace.from_ns), view.x(state.trace.from_ns + state.trace.length_ns)];
  if (begin > 0) context.fillRect(0, 0, begin, view.height);
  if (end < view.width) context.fillRect(end, 0, view.width - end, view.height);
  context.fillStyle = colour('bad-soft');
  for (const [from, to] of state.trace.losses) {
    const [a, b] = [view.x(from), view.x(to)];
    if (b >= 0 && a <= view.width) context.fillRect(a, 0, Math.max(b - a, 2), view.height);
  }
}

function drawLane(context, view, item) {
  const rows = state.tracks.get(item.lane.track);
  state.drawn.lanes += 1;
  if (rows) {
    const longest = longestOf(rows, MARGIN * view.pixel);
    rows.forEach((row, number) => drawRow(context, view, row, rowY(item, number) - view.scroll, longest));
    markLongest(context, view, item, longest);
  }
  for (const part of item.parts) {
    const names = part.part === 'executor' ? EXECUTOR : SCHEDULING;
    const states = state.tracks.get(part.track);
    if (states?.[0]) drawStates(context, view, states[0], part.y - view.scroll, part.height, names);
  }
  const drops = state.tracks.get(item.lane.drops);
  if (drops?.[0]) drawDrops(context, view, drops[0], item.rowsY - view.scroll);
}

/** The longest execution in view: its row, its place there. */
function longestOf(rows, edge) {
  const [from, to] = [state.view.from - edge, state.view.to + edge];
  let found = null;
  rows.forEach((row, number) => {
    for (let place = row.firstAfter(from); place < row.count && row.start(place) <= to; place += 1) {
      const length = row.longestLength(place);
      if (!found || length > found.length) found = { row: number, place, length, start: row.longestStart(place) };
    }
  });
  return found;
}

function isDimmed(subject) {
  return state.focus !== null && !state.focus.subjects.includes(subject);
}

function drawRow(context, view, row, y, longest) {
  const height = rowHeight();
  const { from, to } = state.view;
  const edge = MARGIN * view.pixel;
  for (let place = row.firstAfter(from - edge); place < row.count && row.start(place) <= to + edge; place += 1) {
    const subject = row.subject(place);
    const colours = subjectColour(subject);
    const start = view.x(row.start(place));
    const end = view.x(row.start(place) + row.length(place));
    context.globalAlpha = isDimmed(subject) ? 0.22 : 1;
    const executions = row.executions(place);
    // A single one that is thinner than it can be drawn is a block of one: its height says how long it is.
    if (executions > 1 || end - start < THIN && !row.isOpen(place)) {
      const wide = Math.max(end - start, 1);
      const share = Math.min(row.busy(place) / Math.max(row.length(place), view.pixel), 1);
      context.fillStyle = colours.soft[Math.min(Math.floor(share * 6), 5)];
      context.fillRect(start, y, wide, height);
      const high = Math.max(height * (row.longestLength(place) / Math.max(longest?.length ?? 0, 1)) ** 0.4, 2);
      context.fillStyle = colours.solid;
      context.fillRect(start, y + height - high, wide, high);
      if (executions > 1) state.drawn.blocks += 1;
      else state.drawn.spans += 1;
      continue;
    }
    state.drawn.spans += 1;
    context.fillStyle = colours.solid;
    const wide = end - start;
    if (row.isOpen(place)) {
      drawOpen(context, start, y, height);
    } else if (wide < 6) {
      context.fillRect(start, y, Math.max(wide - (wide > 3 ? 0.5 : 0), 1), height);
    } else {
      context.beginPath();
      context.roundRect(start, y, wide - 0.75, height, 3);
      context.fill();
      if (wide > LABEL_FROM) drawLabel(context, view, subject, start, end, y, row.length(place));
    }
  }
  context.globalAlpha = 1;
}

/** An execution whose end is not known: it begins, and then nothing is certain. */
function drawOpen(context, x, y, height) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x + 6, y + height / 2);
  context.lineTo(x, y + height);
  context.fill();
}

function drawLabel(context, view, subject, start, end, y, length) {
  const left = Math.max(start, 0) + 5;
  const room = Math.min(end, view.width) - left - 5;
  if (room < LABEL_FROM - 10) return;
  const name = state.mode === 'threads' ? state.trace.subjects[subject]?.name ?? '' : duration(length);
  const text = fitted(context, name, room);
  if (text === '') return;
  context.fillStyle = colour('slice-text');
  context.fillText(text, left, y + rowHeight() / 2 + 0.5);
  if (state.mode !== 'threads') return;
  const used = context.measureText(text).width;
  const note = duration(length);
  if (room - used > context.measureText(note).width + 14) {
    context.globalAlpha *= 0.62;
    context.fillText(note, left + used + 9, y + rowHeight() / 2 + 0.5);
    context.globalAlpha /= 0.62;
  }
}

/** As much of a text as there is room for: both its ends. Isolated, so that right-to-left names do not turn their surroundings. */
export function fitted(context, name, room) {
  const isolated = (text) => `\u2068${text}\u2069`;
  const most = Math.ceil(room / 2.5);
  if (name.length <= most && context.measureText(isolated(name)).width <= room) return isolated(name);
  const cut = (letters) => isolated(`${name.slice(0, letters >> 1)}…${name.slice(name.length - (letters - (letters >> 1)))}`);
  let [low, high] = [0, Math.min(most, name.length)];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (context.measureText(cut(middle)).width <= room) low = middle;
    else high = middle - 1;
  }
  return low < 2 ? '' : cut(low);
}

/** A mark over the longest execution of a lane, where it is too narrow to be seen by itself. */
function markLongest(context, view, item, longest) {
  if (!longest || longest.length / view.pixel > 14) return;
  const x = view.x(longest.start + longest.length / 2);
  const y = rowY(item, longest.row) - view.scroll - 1;
  context.fillStyle = colour('ink');
  context.beginPath();
  context.moveTo(x - 4, y - 3);
  context.lineTo(x + 4, y - 3);
  context.lineTo(x, y + 3);
  context.fill();
}

function drawStates(context, view, row, y, height, names) {
  const { from, to } = state.view;
  for (let place = row.firstAfter(from); place < row.count && row.start(place) <= to; place += 1) {
    const start = view.x(row.start(place));
    const wide = Math.max(view.x(row.start(place) + row.length(place)) - start, 0.5);
    if (row.executions(place) === 1) {
      context.fillStyle = colour(names[row.subject(place)]);
      context.fillRect(start, y, wide, height);
      continue;
    }
    let at = y + height;
    for (let number = 0; number < 4; number += 1) {
      const high = height * row.share(place, number);
      if (high === 0) continue;
      context.fillStyle = colour(names[number]);
      context.fillRect(start, at - high, wide, high);
      at -= high;
    }
  }
}

function drawDrops(context, view, row, y) {
  const { from, to } = state.view;
  context.fillStyle = colour('bad');
  const first = row.firstAfter(from);
  let seen = 0;
  while (first + seen < row.count && row.start(first + seen) <= to) seen += 1;
  // Diamonds that would hide each other, and the lane, become ticks.
  const isCrowded = seen * 16 > view.width;
  for (let place = first; place < first + seen; place += 1) {
    const x = view.x(row.start(place));
    if (isCrowded) {
      context.fillRect(x - 0.75, y - 3, 1.5, 6);
      state.drawn.drops += row.executions(place);
      continue;
    }
    const isChosen = row.start(place) === state.dropped?.published;
    const size = isChosen ? 7 : row.executions(place) > 1 ? 5 : 4;
    context.beginPath();
    context.moveTo(x, y - 2);
    context.lineTo(x + size, y + size - 2);
    context.lineTo(x, y + 2 * size - 2);
    context.lineTo(x - size, y + size - 2);
    context.fill();
    if (isChosen) {
      context.closePath();
      context.strokeStyle = colour('ink');
      context.lineWidth = 1.5;
      context.stroke();
    }
    state.drawn.drops += row.executions(place);
  }
}

function drawRange(context, view) {
  if (!state.range) return;
  const [a, b] = [view.x(state.range.from), view.x(state.range.to)];
  context.fillStyle = colour('accent-soft');
  context.fillRect(a, 0, b - a, view.height);
  context.fillStyle = colour('accent');
  context.fillRect(a, 0, 1, view.height);
  context.fillRect(b, 0, 1, view.height);
}

/** A line through all lanes at the time under the pointer, and a frame around what it is over. */
function drawPointer(context, view) {
  if (state.pointerTime === null) return;
  context.globalAlpha = 0.45;
  context.fillStyle = colour('quiet');
  context.fillRect(Math.round(view.x(state.pointerTime)), 0, 1, view.height);
  context.globalAlpha = 1;
  const { kind, item, number, row, place } = state.hover ?? {};
  if (kind !== 'execution') return;
  const x = view.x(row.start(place));
  const wide = Math.max(view.x(row.start(place) + row.length(place)) - x, 1);
  context.strokeStyle = colour('ink');
  context.lineWidth = 1.25;
  outline(context, x, rowY(item, number) - view.scroll, wide);
}

/** The row of its lane that an execution is in. */
export function rowOf(item, start, id) {
  const rows = state.tracks.get(item.lane.track) ?? [];
  if (rows.length < 2) return 0;
  const found = rows.findIndex((row) => {
    for (let place = row.firstAfter(start); place < row.count && row.start(place) <= start; place += 1) {
      if (row.item(place) === id) return true;
    }
    return false;
  });
  return Math.max(found, 0);
}

function drawSelected(context, view) {
  const { place, why } = state.selected;
  const item = state.laneOf.get(state.mode === 'threads' ? place.thread : place.subject);
  if (!item) return;
  const y = rowY(item, rowOf(item, place.start, place.id)) - view.scroll;
  const x = view.x(place.start);
  const wide = Math.max(view.x(place.start + place.length) - x, 2);
  // What it had to wait for, before it.
  for (const [begin, length, wait] of why.parts) {
    if (begin >= place.start) continue;
    const [a, b] = [view.x(begin), view.x(Math.min(begin + length, place.start))];
    context.fillStyle = causeColour(why.waits[wait].cause);
    context.fillRect(a, y + rowHeight() - 4, Math.max(b - a, 0.5), 4);
  }
  context.strokeStyle = colour('paper');
  context.lineWidth = 4;
  outline(context, x, y, wide);
  context.strokeStyle = colour('accent');
  context.lineWidth = 2;
  outline(context, x, y, wide);
}

function outline(context, x, y, wide) {
  context.beginPath();
  context.roundRect(x - 1, y - 1, wide + 2, rowHeight() + 2, 4);
  context.stroke();
}
