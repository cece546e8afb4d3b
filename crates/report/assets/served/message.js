// A message that was dropped: whose it was, why, and what its receiver did meanwhile.

import { element } from './element.js';
import * as panel from './panel.js';
import { askDropped } from './server.js';
import { changed, glideTo, state } from './state.js';
import { named } from './text.js';
import { count, duration, wallClock, wallDate } from './time.js';

/** Selects a dropped message; `reveal` moves the view to it. */
export async function selectDropped(id, { reveal = false } = {}) {
  let facts;
  try {
    facts = await askDropped(id);
  } catch {
    return;
  }
  panel.deselect();
  state.dropped = facts;
  panel.show('dropped', content(facts));
  if (reveal) {
    const { from, to } = state.view;
    const half = (to - from) / 2;
    if (facts.published < from || facts.published > to) glideTo(facts.published - half, facts.published + half);
  }
  changed();
}

function link(kind, text, place) {
  const name = named(text);
  if (!place) return element('div', 'message', name, element('bdi', 'topic', kind));
  const button = element('button', 'message', name, element('bdi', 'topic', kind), element('span', 'number', duration(place.length)));
  button.dataset.instance = String(place.id);
  button.addEventListener('click', () => panel.select(place.id, { reveal: true }));
  return button;
}

function step(text, title, id) {
  const button = element('button', '', text);
  button.title = title;
  button.disabled = id === undefined;
  button.addEventListener('click', () => selectDropped(id, { reveal: true }));
  return button;
}

function content(facts) {
  const because = element('p', 'alarm', facts.because);
  because.dataset.cause = facts.cause;
  const steps = element('div', 'buttons actions', step('◂ before', 'The one before that this callback did not get', facts.previous), step('next ▸', 'The next that this callback did not get', facts.next));
  const list = element('dl', '');
  const add = (label, value) => list.append(element('dt', '', label), element('dd', '', element('bdi', '', value)));
  add('topic', facts.topic);
  add('published', `${wallDate(facts.published)} ${wallClock(facts.published, 9)}`);
  add('since begin', `${(facts.published / 1e9).toFixed(9)} s`);
  add('published, ns', facts.published_ns);
  const parts = [
    element('h2', '', 'A message was dropped'),
    element('p', '', `${facts.number === 1 && facts.of === 1 ? 'The only one' : `Number ${count(facts.number)} of ${count(facts.of)}`} that this callback did not get.`),
    because, steps,
    element('h3', '', 'Who should have received it'), link('receiver', facts.receiver, null),
  ];
  if (facts.meanwhile) parts.push(element('h3', '', 'What ran longest on its thread until it took the next one'), link('meanwhile', facts.meanwhile.name, facts.meanwhile.place));
  parts.push(element('h3', '', 'Who sent it'), link(facts.topic, facts.sender, facts.sent_by));
  if (facts.next_received) parts.push(element('h3', '', 'Who received the next one that arrived'), link('received', facts.receiver, facts.next_received));
  parts.push(element('h3', '', 'Facts'), list);
  return parts;
}
