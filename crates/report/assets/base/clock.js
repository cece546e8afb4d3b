// Instants as clocks show them. They are nanoseconds since 1970, as BigInt: a number has no room for their last digits.

const two = (number) => String(number).padStart(2, "0");

/** Of a time since the begin of the recording. */
export function instantOf(begin, time) {
  return begin + BigInt(Math.round(time));
}

/** The time of day, in the time zone of the reader, with so many digits behind the second: `14:03:07.250`. */
export function timeOfDay(instant, digits) {
  const second = 1_000_000_000n;
  const fraction = ((instant % second) + second) % second;
  const date = new Date(Number((instant - fraction) / 1_000_000n));
  const day = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  return digits === 0 ? day : `${day}.${String(fraction).padStart(9, "0").slice(0, digits)}`;
}

/** `2026-11-16` */
export function dayOf(instant) {
  const date = new Date(Number(instant / 1_000_000n));
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
