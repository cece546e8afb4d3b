// Colours: those of the style sheet, and one for each callback that is the same in every run.

import { state } from './state.js';

const named = new Map();
const ofSubjects = new Map();

/** A colour that the style sheet declares. */
export function colour(name) {
  if (!named.has(name)) {
    named.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  }
  return named.get(name);
}

/** What was worked out holds until the theme changes. */
export function forgetColours() {
  named.clear();
  ofSubjects.clear();
}

/** By name without its number: as far apart on the wheel as can be, and the same in every run of the same application. */
function hues() {
  const plain = (subject) => subject.name.replace(/ #\d+$/, '');
  const names = state.trace.subjects.filter((subject) => !subject.built_in).map(plain);
  const places = new Map([...new Set(names)].sort().map((name, place) => [name, place]));
  return state.trace.subjects.map((subject) => ((places.get(plain(subject)) ?? 0) * 137.508 + 250) % 360);
}

let hueOfSubject = null;

/** { solid, soft } of a callback. */
export function subjectColour(subject) {
  let found = ofSubjects.get(subject);
  if (!found) {
    hueOfSubject ??= hues();
    const hue = hueOfSubject[subject] ?? 0;
    const [lightness, chroma] = [colour('slice-lightness'), colour('slice-chroma')];
    const of = (alpha) => `oklch(${lightness} ${chroma} ${hue} / ${alpha})`;
    found = { solid: of(1), soft: [0.22, 0.3, 0.38, 0.46, 0.54, 0.62].map(of), line: `oklch(${lightness - 0.12} ${chroma * 1.3} ${hue})` };
    ofSubjects.set(subject, found);
  }
  return found;
}

export const SCHEDULING = ['running', 'runnable', 'sleeping', 'stuck'];
export const EXECUTOR = ['executing', 'looking', 'waiting', 'waiting'];

const CAUSES = {
  execution: 'executing', other_callback: 'runnable', middleware: 'running', middleware_or_executor: 'running', executor: 'looking',
  publishing: 'stuck', dispatch: 'looking', intra_process_buffer: 'running', timer_lateness: 'alarm', preempted: 'alarm',
  blocked: 'sleeping', stored: 'sleeping', outside_callbacks: 'sleeping', waiting_for_cpu: 'alarm', standstill: 'alarm', unknown: 'sleeping',
};

/** The colour of a cause of waiting. */
export function causeColour(cause) {
  return colour(CAUSES[cause] ?? 'sleeping');
}
