// Which lanes are shown, in which order, and under which headings: 454 threads are too many to look through.

import { state } from './state.js';

/** With more lanes than this they are sorted by load, and those with nothing in view are hidden. */
const MANY = 40;

/** Of the threads of a process so many are shown if there are more than one more; the others have to be asked for. */
const FIRST = 5;

/** What a trace of this size begins with. */
export function chooseArrangement() {
  const lanes = state.trace.threads.reduce((sum, group) => sum + group.lanes.length, 0);
  state.isLarge = lanes > MANY;
  state.hideIdle = state.isLarge;
  state.sort = state.isLarge ? 'load' : 'name';
  state.collapsed = new Set(['threads tf', 'callbacks tf']);
}

export function groupsOfMode() {
  return state.mode === 'threads' ? state.trace.threads : state.trace.callbacks;
}

/** What lanes are sorted by; the larger, the higher. */
function weight(lane) {
  return state.sort === 'load' ? lane.busy : lane.longest;
}

function isSelected(lane) {
  const place = state.selected?.place;
  return place !== undefined && (state.mode === 'threads' ? lane.thread === place.thread : lane.subject === place.subject);
}

/** By words, each of which has to be in the name of the lane, of its group, or of a callback that runs there. */
function filterOf() {
  const words = state.filter.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return () => true;
  return (lane, group) => {
    const callbacks = (lane.subjects ?? [lane.subject]).map((number) => state.trace.subjects[number]?.name ?? '');
    const text = [group.name, group.note, lane.name, lane.note ?? '', ...callbacks].join('\n').toLowerCase();
    return words.every((word) => text.includes(word));
  };
}

/** Groups of { lane, group } with a key and a name; `state.hidden` says how many lanes are not there, and why. */
export function arranged() {
  const fits = filterOf();
  const hidden = { builtIn: 0, idle: 0, filtered: 0 };
  const [pinned, listeners, groups] = [[], [], []];
  groupsOfMode().forEach((group, number) => {
    const kept = [];
    for (const lane of group.lanes) {
      const entry = { lane, group };
      if (state.pinned.has(lane.track)) pinned.push(entry);
      else if (isSelected(lane)) (lane.tf ? listeners : kept).push(entry);
      else if (!fits(lane, group)) hidden.filtered += 1;
      else if (lane.built_in && !state.showBuiltIn) hidden.builtIn += 1;
      else if (state.hideIdle && state.awake && !state.awake.has(lane.track)) hidden.idle += 1;
      else (lane.tf ? listeners : kept).push(entry);
    }
    if (kept.length > 0) groups.push({ key: `${state.mode} ${number}`, name: group.name, note: group.note, entries: kept });
  });
  state.hidden = hidden;
  if (state.sort !== 'name') {
    for (const group of groups) group.entries.sort((a, b) => weight(b.lane) - weight(a.lane));
    const weights = new Map(groups.map((group) => [group, Math.max(...group.entries.map(({ lane }) => weight(lane)))]));
    groups.sort((a, b) => weights.get(b) - weights.get(a));
    listeners.sort((a, b) => weight(b.lane) - weight(a.lane));
  }
  const what = state.mode === 'threads' ? 'thread' : 'callback';
  const extra = (key, name, entries) => ({ key: `${state.mode} ${key}`, name, note: `${entries.length} ${what}${entries.length === 1 ? '' : 's'}`, entries, isMixed: true });
  return [
    ...(pinned.length > 0 ? [extra('pinned', 'Pinned', pinned)] : []),
    ...groups,
    ...(listeners.length > 0 ? [extra('tf', 'Listeners of /tf', listeners)] : []),
  ];
}

/** The lanes of a group that are shown at once, and those that are folded behind them: many threads of a pool do the same. */
export function folded({ key, entries, isMixed }) {
  const isWhole = !state.isLarge || isMixed || entries.length <= FIRST + 1 || state.expanded.has(key) || state.sort === 'name' || state.filter !== '';
  if (isWhole) return [entries, []];
  const first = entries.filter(({ lane }, place) => place < FIRST || isSelected(lane));
  return [first, entries.filter((entry) => !first.includes(entry))];
}

/** What is not there, in a few words; nothing if all is. */
export function hiddenText() {
  const { builtIn, idle, filtered } = state.hidden;
  const parts = [];
  if (idle > 0) parts.push(`${idle} with nothing in view`);
  if (builtIn > 0) parts.push(`${builtIn} with only built-in callbacks`);
  if (filtered > 0) parts.push(`${filtered} that do not fit the filter`);
  return parts.length > 0 ? `lanes not shown: ${parts.join(', ')}` : '';
}
