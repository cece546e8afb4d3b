// The whole trace as one strip: how busy the threads were, what was dropped, where events were lost, and what is in view.

import { colour } from './colour.js';
import { glideTo, setView, state } from './state.js';

const GRIP = 6;

export function drawOverview(context, width, height) {
  const { from_ns: first, length_ns: length, losses } = state.trace;
  const x = (time) => ((time - first) / length) * width;
  context.clearRect(0, 0, width, height);
  if (state.overview) drawBusy(context, width, height - 4);
  context.fillStyle = colour('bad-soft');
  for (const [from, to] of losses) context.fillRect(x(from), 0, Math.max(x(to) - x(from), 2), height);
  const [a, b] = [x(state.view.from), x(state.view.to)];
  context.fillStyle = colour('ground');
  context.globalAlpha = 0.72;
  context.fillRect(0, 0, Math.max(a, 0), height);
  context.fillRect(b, 0, Math.max(width - b, 0), height);
  context.globalAlpha = 1;
  const left = Math.max(a, 0);
  const right = Math.min(Math.max(b, left + 3), width);
  context.strokeStyle = colour('accent');
  context.lineWidth = 1.5;
  context.strokeRect(left + 0.75, 0.75, Math.max(right - left - 1.5, 2), height - 1.5);
  context.fillStyle = colour('accent');
  for (const at of [left, right - 3]) context.fillRect(at, height / 2 - 8, 3, 16);
  if (state.selected) {
    context.fillStyle = colour('bad');
    const at = x(state.selected.place.start);
    context.fillRect(at - 1, 0, 2, height);
  }
}

function drawBusy(context, width, height) {
  const { busy, dropped } = state.overview;
  const columns = new Float32Array(Math.ceil(width));
  const drops = new Float32Array(Math.ceil(width));
  const each = busy.length / columns.length;
  let most = 0;
  for (let at = 0; at < columns.length; at += 1) {
    const [from, to] = [Math.floor(at * each), Math.max(Math.floor((at + 1) * each), Math.floor(at * each) + 1)];
    for (let place = from; place < to && place < busy.length; place += 1) {
      columns[at] = Math.max(columns[at], busy[place]);
      drops[at] += dropped[place];
    }
    most = Math.max(most, columns[at]);
  }
  context.fillStyle = colour('executing');
  context.globalAlpha = 0.75;
  columns.forEach((value, at) => {
    const high = most > 0 ? Math.max((value / most) * (height - 4), value > 0 ? 1 : 0) : 0;
    context.fillRect(at, height - high + 2, 1, high);
  });
  context.globalAlpha = 1;
  context.fillStyle = colour('bad');
  drops.forEach((value, at) => {
    if (value > 0) context.fillRect(at, 0, 1.5, 4);
  });
}

/** Drag the window to move it, its edges to resize it, elsewhere to look at another part. */
export function listen(canvas) {
  let grip = null;
  const time = (event) => state.trace.from_ns + (event.offsetX / canvas.clientWidth) * state.trace.length_ns;
  const pixels = (duration) => (duration / state.trace.length_ns) * canvas.clientWidth;
  canvas.addEventListener('pointerdown', (event) => {
    const at = time(event);
    const { from, to } = state.view;
    const near = (edge) => Math.abs(pixels(edge - at)) < GRIP;
    const isWide = pixels(to - from) > 3 * GRIP;
    let kind = 'new';
    if (isWide && near(from)) kind = 'from';
    else if (isWide && near(to)) kind = 'to';
    else if (at > from && at < to || near((from + to) / 2)) kind = 'move';
    grip = { kind, at, from, to };
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener('pointermove', (event) => {
    if (!grip) return;
    const at = time(event);
    if (grip.kind === 'move') setView(grip.from + at - grip.at, grip.to + at - grip.at);
    else if (grip.kind === 'from') setView(Math.min(at, grip.to - 200), grip.to);
    else if (grip.kind === 'to') setView(grip.from, Math.max(at, grip.from + 200));
    else if (Math.abs(pixels(at - grip.at)) > 3) setView(Math.min(at, grip.at), Math.max(at, grip.at));
  });
  canvas.addEventListener('pointerup', (event) => {
    const at = time(event);
    if (grip?.kind === 'new' && Math.abs(pixels(at - grip.at)) <= 3) {
      const half = (grip.to - grip.from) / 2;
      glideTo(at - half, at + half);
    }
    grip = null;
  });
  canvas.addEventListener('pointercancel', () => { grip = null; });
}
