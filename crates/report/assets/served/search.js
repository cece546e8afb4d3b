// Search for callbacks, nodes and topics, and steps through their executions.

import { bring, select } from './panel.js';
import { short } from './element.js';
import { askLongest, askOccurrence } from './server.js';
import { changed, state } from './state.js';
import { count } from './time.js';

const MOST = 60;
let elements = null;
let candidates = null;
let shown = [];
let active = -1;

export function listen(found) {
  elements = found;
  const { query, matches } = elements;
  query.addEventListener('input', refresh);
  query.addEventListener('focus', refresh);
  query.addEventListener('blur', () => setTimeout(close, 150));
  query.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') move(event.key === 'ArrowDown' ? 1 : -1);
    else if (event.key === 'Enter' && shown.length > 0) choose(shown[Math.max(active, 0)]);
    else if (event.key === 'Escape') {
      close();
      query.blur();
      elements.scroller.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  });
  matches.addEventListener('pointerdown', (event) => event.preventDefault());
}

/** Everything that has a name, with the callbacks that it means. */
function everything() {
  const { subjects, topics } = state.trace;
  const nodes = new Map();
  const all = [];
  subjects.forEach((subject, number) => {
    if (!subject.shown) return;
    all.push({ kind: 'callback', label: subject.name, subjects: [number], count: subject.count });
    const node = nodes.get(subject.node) ?? { kind: 'node', label: subject.node, subjects: [], count: 0 };
    node.subjects.push(number);
    node.count += subject.count;
    nodes.set(subject.node, node);
  });
  const ofTopics = topics.map((topic) => {
    const mine = topic.subjects.filter((number) => subjects[number].shown);
    const executions = mine.reduce((sum, number) => sum + subjects[number].count, 0);
    return { kind: 'topic', label: topic.name, subjects: mine, count: executions };
  });
  return [...nodes.values(), ...ofTopics.filter((topic) => topic.subjects.length > 0), ...all];
}

function refresh() {
  candidates ??= everything();
  const words = elements.query.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (candidate) => words.every((word) => candidate.label.toLowerCase().includes(word));
  shown = candidates.filter((candidate) => candidate.count > 0 && fits(candidate)).slice(0, MOST);
  active = words.length > 0 && shown.length > 0 ? 0 : -1;
  elements.matches.replaceChildren(...shown.map(row));
  elements.matches.hidden = shown.length === 0;
  elements.query.setAttribute('aria-expanded', String(shown.length > 0));
  highlight();
}

function row(candidate, number) {
  const item = document.createElement('li');
  item.id = `match-${number}`;
  item.setAttribute('role', 'option');
  item.dataset.kind = candidate.kind;
  const parts = [['span', 'kind', candidate.kind], ['bdi', '', short(candidate.label)], ['span', 'count', count(candidate.count)]];
  for (const [kind, name, text] of parts) {
    const part = document.createElement(kind);
    part.className = name;
    part.textContent = text;
    item.append(part);
  }
  item.addEventListener('click', () => choose(candidate));
  return item;
}

function move(by) {
  if (shown.length === 0) return;
  active = (active + by + shown.length) % shown.length;
  highlight();
}

function highlight() {
  [...elements.matches.children].forEach((item, number) => {
    item.setAttribute('aria-selected', String(number === active));
    if (number === active) item.scrollIntoView({ block: 'nearest' });
  });
  if (active >= 0) elements.query.setAttribute('aria-activedescendant', `match-${active}`);
  else elements.query.removeAttribute('aria-activedescendant');
}

function close() {
  elements.matches.hidden = true;
  elements.query.setAttribute('aria-expanded', 'false');
}

function choose(candidate) {
  state.focus = { label: candidate.label, kind: candidate.kind, subjects: candidate.subjects };
  elements.query.value = short(candidate.label);
  elements.steps.hidden = false;
  close();
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
