// Times as the timeline writes them, beside what both pages write alike.

import { dayOf, instantOf, timeOfDay } from './clock.js';
import { duration, exactDuration } from './duration.js';
import { count, share } from './number.js';
import { state } from './state.js';

export { count, duration, exactDuration, share };

/** A time since the begin as seconds, with as many digits as a step needs: `+1.250 s`. */
export function relative(nanos, step) {
  const digits = fractionDigits(step);
  if (digits === 0 && Math.abs(nanos) >= 120e9) {
    const seconds = Math.round(Math.abs(nanos) / 1e9);
    const two = (number) => String(number).padStart(2, '0');
    return `${nanos < 0 ? '−' : '+'}${Math.floor(seconds / 3600)}:${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  }
  return `${nanos < 0 ? '−' : '+'}${(Math.abs(nanos) / 1e9).toFixed(digits)} s`;
}

export function fractionDigits(step) {
  return Math.min(Math.max(Math.ceil(-Math.log10(step / 1e9) - 1e-9), 0), 9);
}

function instant(nanos) {
  return instantOf(BigInt(state.trace.begin_ns), nanos);
}

export function wallClock(nanos, digits) {
  return timeOfDay(instant(nanos), digits);
}

export function wallDate(nanos) {
  return dayOf(instant(nanos));
}

/** A round step of time that leaves so much room between ticks. */
export function roundStep(atLeast) {
  if (atLeast > 1e9) {
    const rounds = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400];
    const seconds = rounds.find((round) => round * 1e9 >= atLeast);
    if (seconds) return seconds * 1e9;
  }
  const power = 10 ** Math.floor(Math.log10(Math.max(atLeast, 1)));
  return [1, 2, 5, 10].find((factor) => factor * power >= atLeast * (1 - 1e-9)) * power;
}
