// Numbers as people read them; durations are in duration.js.

import { MISSING, digits } from './duration.js';

const isMissing = (value) => value === undefined || value === null;

export function frequency(hertz) {
  return isMissing(hertz) ? MISSING : `${digits(hertz)} Hz`;
}

export function count(value) {
  return isMissing(value) ? MISSING : Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function share(value) {
  return isMissing(value) ? MISSING : `${digits(value * 100)} %`;
}

/** A number without a unit. */
export function plain(value) {
  if (isMissing(value)) return MISSING;
  return Number.isInteger(value) ? String(value) : digits(value);
}
