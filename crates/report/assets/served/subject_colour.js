// A colour for each callback that is the same in every run, and the names of those of the strips below lanes.

import { colour } from './colour.js';
import { state } from './state.js';

const ofSubjects = new Map();

/** What was worked out holds until the theme changes. */
export function forgetSubjectColours() {
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
