// A marked range of time as a table: what ran in it, for how long, the worst, and what was dropped.

import { element } from './element.js';
import * as panel from './panel.js';
import { askRange } from './server.js';
import { glideTo, state } from './state.js';
import { named } from './text.js';
import { count, duration, share, relative } from './time.js';

/** A range that is still being drawn is not asked for. */
const SETTLED = 150;
const MOST_ROWS = 300;

const COLUMNS = [
  { key: 'name', title: 'callback', of: (row) => state.trace.subjects[row.subject].name },
  { key: 'count', title: 'runs', of: (row) => row.count },
  { key: 'busy', title: 'busy', of: (row) => row.busy },
  { key: 'worst', title: 'worst', of: (row) => row.worst?.length ?? -1 },
  { key: 'drops', title: 'drops', of: (row) => row.drops },
];

let shown = '';
let timer = 0;
let sort = 'busy';

/** Called with every picture: asks when another range is marked, and takes the table away with the range. */
export function followRange() {
  const key = state.range ? `${state.range.from} ${state.range.to}` : '';
  if (key === shown) return;
  shown = key;
  clearTimeout(timer);
  if (!key) return panel.leave('range');
  timer = setTimeout(async () => {
    const { from, to } = state.range;
    try {
      const answer = await askRange(from, to);
      if (shown === key) panel.show('range', content(answer, from, to));
    } catch { /* the status says what the server said */ }
  }, SETTLED);
}

function content(answer, from, to) {
  const length = to - from;
  const big = element('div', 'big');
  const add = (text, label) => big.append(element('div', '', element('b', '', text), element('span', '', label)));
  add(duration(length), `from ${relative(from, Math.max(length / 100, 1))}`);
  add(count(answer.executions), 'executions');
  add(count(answer.threads), answer.threads === 1 ? 'thread ran' : 'threads ran');
  add(answer.drops === undefined ? '?' : count(answer.drops), answer.drops === undefined ? 'drops are not known' : 'dropped');
  const zoom = element('button', '', 'Zoom to it');
  zoom.title = 'z';
  zoom.addEventListener('click', () => glideTo(from, to));
  const holder = element('div', '');
  const fill = () => holder.replaceChildren(table(answer.rows, length, (key) => { sort = key; fill(); }));
  fill();
  return [element('h2', '', 'Marked range'), big, element('div', 'buttons actions', zoom), holder];
}

function table(rows, length, sortBy) {
  const column = COLUMNS.find(({ key }) => key === sort);
  const ordered = [...rows].sort((a, b) => (sort === 'name' ? column.of(a).localeCompare(column.of(b)) : column.of(b) - column.of(a)));
  const head = element('tr', '', ...COLUMNS.map(({ key, title }) => {
    const button = element('button', '', title);
    button.addEventListener('click', () => sortBy(key));
    const cell = element('th', key === 'name' ? '' : 'number', button);
    if (key === sort) cell.setAttribute('aria-sort', key === 'name' ? 'ascending' : 'descending');
    return cell;
  }));
  const body = element('tbody', '', ...ordered.slice(0, MOST_ROWS).map((row) => rowOf(row, length)));
  const made = element('table', 'range', element('thead', '', head), body);
  if (ordered.length === 0) return element('p', '', 'Nothing ran in this range, and nothing was dropped.');
  return ordered.length > MOST_ROWS ? element('div', '', made, element('p', '', `and ${count(ordered.length - MOST_ROWS)} more callbacks`)) : made;
}

function rowOf(row, length) {
  const { name } = state.trace.subjects[row.subject];
  const busy = element('td', 'number', duration(row.busy));
  busy.title = `${share(row.busy / length)} of the range`;
  const worst = element('td', 'number');
  if (row.worst) {
    const button = element('button', '', duration(row.worst.length));
    button.title = 'Show it';
    button.addEventListener('click', () => panel.select(row.worst.id, { reveal: true }));
    worst.append(button);
  }
  const made = element('tr', '', element('td', '', named(name)), element('td', 'number', count(row.count)), busy, worst, element('td', row.drops > 0 ? 'number lost' : 'number', row.drops > 0 ? count(row.drops) : ''));
  Object.assign(made.dataset, { subject: row.subject, count: row.count, busy: row.busy, worst: row.worst?.length ?? '', drops: row.drops });
  return made;
}
