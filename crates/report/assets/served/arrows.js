// Messages as arrows: from where they were published to the callback that received them.

import { colour } from './colour.js';
import { rowOf } from './drawing.js';
import { rowHeight, rowY } from './lanes.js';
import { state } from './state.js';

/** Fewer arrows can be stronger. */
const FEW = 150;

function anchor(view, thread, subject, time, id) {
  const item = state.laneOf.get(state.mode === 'threads' ? thread : subject);
  if (!item) return null;
  const y = rowY(item, rowOf(item, time, id)) - view.scroll + rowHeight() / 2;
  return { x: view.x(time), y };
}

function ends(view, arrow) {
  const from = anchor(view, arrow.from_thread, arrow.from_subject, arrow.published, arrow.from_instance);
  const to = anchor(view, arrow.to_thread, arrow.to_subject, arrow.received, arrow.to_instance);
  if (!from || !to) return null;
  const isSame = from.y === to.y;
  // It leaves at the edge of its lane, so that it does not run through what it left.
  const half = rowHeight() / 2;
  from.y += isSame ? half : Math.sign(to.y - from.y) * half;
  if (isSame) to.y += half;
  return { from, to, isSame };
}

function trace(context, { from, to, isSame }) {
  if (isSame) {
    // From a lane to itself: an arc below it.
    const deep = Math.min(4 + Math.abs(to.x - from.x) * 0.2, 16);
    context.beginPath();
    context.moveTo(from.x, from.y);
    context.bezierCurveTo(from.x + 2, from.y + deep, to.x - 2, to.y + deep, to.x, to.y);
    context.stroke();
    return;
  }
  // Also a message that takes no time at all leaves its lane in a curve.
  const reach = Math.max(Math.abs(to.x - from.x) * 0.4, Math.min(Math.abs(to.y - from.y) * 0.35, 36), 6);
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.bezierCurveTo(from.x + reach, from.y, to.x - reach, to.y, to.x, to.y);
  context.stroke();
}

function head(context, { x, y }, size) {
  context.beginPath();
  context.moveTo(x, y);
  context.lineTo(x - size, y - size * 0.55);
  context.lineTo(x - size, y + size * 0.55);
  context.fill();
}

/** All messages in view. Those of what the pointer is over stand out. */
export function drawMessages(context, view) {
  const over = state.hover?.count === 1 ? state.hover.id : -1;
  context.lineWidth = 1;
  const strength = state.arrows.length <= FEW ? 0.55 : state.arrows.length <= 400 ? 0.32 : 0.16;
  for (const arrow of state.arrows) {
    if (!state.showBuiltIn && state.trace.subjects[arrow.to_subject]?.built_in) continue;
    const found = ends(view, arrow);
    if (!found) continue;
    const isOver = arrow.from_instance === over || arrow.to_instance === over;
    const isDim = state.focus && !state.focus.subjects.includes(arrow.to_subject) && !state.focus.subjects.includes(arrow.from_subject);
    context.globalAlpha = isOver ? 1 : isDim ? strength * 0.25 : strength;
    context.strokeStyle = colour(isOver ? 'accent' : 'quiet');
    context.fillStyle = context.strokeStyle;
    trace(context, found);
    if (!found.isSame && (state.arrows.length <= FEW || isOver)) head(context, found.to, 6);
    state.drawn.arrows += 1;
  }
  context.globalAlpha = 1;
}

/** The way of the messages that led to the selected execution, and of those that it led to. */
export function drawFlow(context, view) {
  context.lineWidth = 1.75;
  for (const arrow of state.selected.arrows) {
    const found = ends(view, arrow);
    if (!found) continue;
    context.strokeStyle = colour('paper');
    context.lineWidth = 4;
    trace(context, found);
    context.strokeStyle = colour('accent');
    context.fillStyle = colour('accent');
    context.lineWidth = 1.75;
    trace(context, found);
    if (!found.isSame) head(context, found.to, 8);
    context.beginPath();
    context.arc(found.from.x, found.from.y, 2.5, 0, 2 * Math.PI);
    context.fill();
    state.drawn.arrows += 1;
  }
}
