// What the signs mean: a line at the bottom that is always there, and all of it in a dialog.

import { colour } from './colour.js';
import { element } from './element.js';
import { state } from './state.js';
import { EXECUTOR, SCHEDULING, subjectColour } from './subject_colour.js';

const [WIDTH, HEIGHT] = [84, 24];

/** The strips below lanes, as far as this trace has them. */
function strips() {
  const lanes = state.trace.threads.flatMap((group) => group.lanes);
  const entries = [];
  if (lanes.some((lane) => lane.executor !== undefined)) entries.push([EXECUTOR[0], 'executor executes'], [EXECUTOR[1], 'looks for work'], [EXECUTOR[2], 'waits']);
  if (state.trace.has_scheduling) entries.push([SCHEDULING[0], 'on a CPU'], [SCHEDULING[1], 'waiting for one'], [SCHEDULING[2], 'sleeping']);
  return entries;
}

export function drawLegend(line) {
  if (!state.trace) return;
  line.replaceChildren(...strips().map(([name, text]) => {
    const swatch = element('i', '');
    swatch.style.background = colour(name);
    return element('span', '', swatch, text);
  }));
}

/** Drawn as in the lanes: [draw(context), words]. */
function signs() {
  const { solid, soft } = subjectColour(0);
  const fill = (context, style, ...rectangle) => { context.fillStyle = style; context.fillRect(...rectangle); };
  const shape = (context, style, ...points) => {
    context.fillStyle = style;
    context.beginPath();
    for (const [x, y] of points) context.lineTo(x, y);
    context.fill();
  };
  return [
    [(it) => fill(it, solid, 8, 4, 68, 16), 'One execution of a callback, from its start to its end. Each callback has its colour.'],
    [(it) => { [0.3, 0.5, 0.2, 1, 0.4, 0.3].forEach((high, at) => { fill(it, soft[at % 6], 8 + at * 11, 3, 11, 18); fill(it, solid, 8 + at * 11, 21 - 18 * high, 11, 18 * high); }); }, 'Many executions in one pixel. The stronger the pale body, the more of the time is in callbacks; the bar is as high as the longest of them.'],
    [(it) => { fill(it, solid, 40, 9, 3, 12); shape(it, colour('ink'), [37, 3], [46, 3], [41.5, 9]); }, '▾ The longest execution of its lane in view.'],
    [(it) => shape(it, solid, [38, 4], [46, 12], [38, 20]), 'An execution whose end is not in the trace.'],
    [(it) => shape(it, colour('bad'), [42, 5], [48, 11], [42, 17], [36, 11]), 'A message that was dropped, when it was published, in the lane of its receiver. Click it: it says why.'],
    [(it) => { it.strokeStyle = colour('quiet'); it.beginPath(); it.moveTo(8, 5); it.bezierCurveTo(40, 5, 40, 19, 70, 19); it.stroke(); shape(it, colour('quiet'), [76, 19], [69, 15], [69, 23]); }, 'A message, from its publication to the callback that received it.'],
    [(it) => fill(it, colour('bad-soft'), 0, 0, WIDTH, HEIGHT), 'Events were lost then: what ran may be missing.'],
    [(it) => fill(it, colour('accent-soft'), 0, 0, WIDTH, HEIGHT), 'The marked range.'],
    ...strips().map(([name, text]) => [(it) => fill(it, colour(name), 0, 9, WIDTH, 6), `Strip below a lane: ${text}.`]),
  ];
}

export function showLegend(dialog, list) {
  list.replaceChildren(...signs().flatMap(([draw, words]) => {
    const canvas = element('canvas', 'sign');
    const scale = devicePixelRatio || 1;
    [canvas.width, canvas.height] = [WIDTH * scale, HEIGHT * scale];
    const context = canvas.getContext('2d');
    context.scale(scale, scale);
    draw(context);
    canvas.setAttribute('aria-hidden', 'true');
    return [element('dt', '', canvas), element('dd', '', words)];
  }));
  dialog.showModal();
}
