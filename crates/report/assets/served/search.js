// Search for callbacks, nodes and topics, and steps through their executions.

import { combobox } from './combobox.js';
import { element } from './element.js';
import { bring, select } from './panel.js';
import { askLongest, askOccurrence } from './server.js';
import { changed, state } from './state.js';
import { short } from './text.js';
import { count } from './time.js';

const MOST = 60;
let elements = null;
let candidates = null;

export function listen(found) {
  elements = found;
  const leave = () => {
    elements.query.blur();
    elements.scroller.focus();
  };
  combobox({ field: elements.query, list: elements.matches, entries: () => (candidates ??= everything()), row, choose, most: MOST, listsAll: true, leave });
}

/** Everything that has a name, with the callbacks that it means. */
function everything() {
  const { subjects, topics } = state.trace;
  const nodes = new Map();
  const all = [];
  subjects.forEach((subject, number) => {
    if (!subject.shown) return;
    all.push({ kind: 'callback', name: subject.name, subjects: [number], count: subject.count });
    const node = nodes.get(subject.node) ?? { kind: 'node', name: subject.node, subjects: [], count: 0 };
    node.subjects.push(number);
    node.count += subject.count;
    nodes.set(subject.node, node);
  });
  const ofTopics = topics.map((topic) => {
    const mine = topic.subjects.filter((number) => subjects[number].shown);
    const executions = mine.reduce((sum, number) => sum + subjects[number].count, 0);
    return { kind: 'topic', name: topic.name, subjects: mine, count: executions };
  });
  return [...nodes.values(), ...ofTopics.filter((topic) => topic.subjects.length > 0), ...all].filter((candidate) => candidate.count > 0);
}

function row(candidate) {
  const item = element('li', '', element('span', 'kind', candidate.kind), element('bdi', '', short(candidate.name)), element('span', 'count', count(candidate.count)));
  item.dataset.kind = candidate.kind;
  return item;
}

function choose(candidate) {
  state.focus = { label: candidate.name, kind: candidate.kind, subjects: candidate.subjects };
  elements.query.value = short(candidate.name);
  elements.steps.hidden = false;
  elements.scroller.focus();
  step('next');
}

export function forget() {
  state.focus = null;
  elements.query.value = '';
  elements.steps.hidden = true;
  changed();
}

/** To the next, previous, longest or latest execution of what was searched, or else of the callback of the selected one. */
export async function step(direction) {
  const place = state.selected?.place;
  const subjects = state.focus?.subjects ?? (place ? [place.subject] : everyOne());
  if (subjects.length === 0) return;
  const isFromSelected = place && subjects.includes(place.subject);
  const middle = (state.view.from + state.view.to) / 2;
  let found;
  try {
    found = await askOccurrence(subjects, direction, isFromSelected ? place.start : middle, isFromSelected ? place.id : 0);
    // A search begins anywhere.
    if (!found && !isFromSelected) found = await askOccurrence(subjects, 'next', -1, 0);
  } catch {
    return;
  }
  if (!found) {
    state.notice = direction === 'next' ? 'There is no later one.' : direction === 'previous' ? 'There is no earlier one.' : 'The trace does not tell.';
    changed();
    return;
  }
  state.notice = null;
  await select(found.id);
  bring(found);
}

let rank = 0;

/** To the longest execution of all, wherever it is; when that is what is selected, to the next longest, and so on. */
export async function stepLongest() {
  rank = state.selected && state.selected.place.id === stepLongest.shown ? rank + 1 : 0;
  let found;
  try {
    found = await askLongest(rank);
  } catch {
    return;
  }
  if (!found) return;
  stepLongest.shown = found.id;
  await select(found.id, { reveal: true });
  state.notice = `${ordinal(rank + 1)}longest execution of all; again for the next`;
  changed();
}

/** What is put before a superlative: nothing for the first, `2nd `, `3rd `. */
export function ordinal(number) {
  if (number === 1) return '';
  const tens = number % 100;
  const ending = tens > 10 && tens < 14 ? 'th' : ['th', 'st', 'nd', 'rd'][number % 10] ?? 'th';
  return `${count(number)}${ending} `;
}

function everyOne() {
  return state.trace.subjects.flatMap((subject, number) => (subject.shown && !subject.built_in ? [number] : []));
}
