// The time axis: local time above, time since the begin of the trace below; the lines through the lanes are those of the latter.

import { colour } from './colour.js';
import { state } from './state.js';
import { duration, fractionDigits, relative, roundStep, wallClock, wallDate } from './time.js';

const ROOM = 118;

/** The times of the ticks of a step, counted from a phase. */
function* ticks(step, phase) {
  const { from, to } = state.view;
  // Whole numbers of steps, so that errors do not add up.
  for (let number = Math.ceil((from - phase) / step); number * step + phase <= to; number += 1) yield number * step + phase;
}

export function gridTimes(width) {
  const step = roundStep(((state.view.to - state.view.from) / width) * ROOM);
  return [...ticks(step, 0)];
}

export function drawAxis(context, width, height) {
  const { from, to } = state.view;
  const x = (time) => ((time - from) / (to - from)) * width;
  const step = roundStep(((to - from) / width) * ROOM);
  context.clearRect(0, 0, context.canvas.width, height);
  context.font = '11px system-ui, sans-serif';
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  context.direction = 'ltr';

  context.fillStyle = colour('ink');
  const digits = fractionDigits(step);
  // Whole steps of the wall clock: the part of the begin that is beyond one is not lost in 53 bits.
  const zone = BigInt(new Date(Number(BigInt(state.trace.begin_ns) / 1_000_000n)).getTimezoneOffset()) * 60_000_000_000n;
  const whole = BigInt(Math.round(step));
  const beyond = Number((((BigInt(state.trace.begin_ns) - zone) % whole) + whole) % whole);
  for (const time of ticks(step, -beyond)) {
    context.fillRect(Math.round(x(time)), 0, 1, 5);
    if (x(time) > -ROOM) context.fillText(wallClock(time, digits), x(time) + 5, 10);
  }
  context.fillStyle = colour('quiet');
  for (const time of ticks(step, 0)) {
    context.fillRect(Math.round(x(time)), height - 6, 1, 6);
    context.fillText(relative(time, step), x(time) + 5, height - 10);
  }
  if (state.pointerTime !== null) {
    context.fillStyle = colour('ink');
    context.globalAlpha = 0.5;
    context.fillRect(Math.round(x(state.pointerTime)), 0, 1, height);
    context.globalAlpha = 1;
    tag(context, relative(state.pointerTime, step / 20), x(state.pointerTime), width, height, colour('quiet'));
  }
  if (state.range) {
    const [a, b] = [x(state.range.from), x(state.range.to)];
    context.fillStyle = colour('accent-soft');
    context.fillRect(a, 0, b - a, height);
    context.fillStyle = colour('accent');
    context.fillRect(a, 0, 1, height);
    context.fillRect(b - 1, 0, 1, height);
    tag(context, duration(state.range.to - state.range.from), (a + b) / 2, width, height, colour('accent'));
  }
}

/** A few words on a coloured ground, as near to a place as the edges permit. */
function tag(context, text, x, width, height, ground) {
  const half = context.measureText(text).width / 2 + 6;
  const middle = Math.min(Math.max(x, half), width - half);
  context.fillStyle = ground;
  context.beginPath();
  context.roundRect(middle - half, height / 2 - 9, half * 2, 18, 5);
  context.fill();
  context.fillStyle = colour('paper');
  context.textAlign = 'center';
  context.fillText(text, middle, height / 2 + 0.5);
  context.textAlign = 'left';
}

/** What is in view, for the line at the bottom. */
export function viewText() {
  const { from, to } = state.view;
  const length = `${duration(to - from)} in view`;
  return innerWidth <= 720 ? length : `${wallDate((from + to) / 2)}, ${length}`;
}
