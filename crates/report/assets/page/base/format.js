// Numbers as people read them; durations are in assets/shared. Times are nanoseconds since the report's begin.

function frequency(hertz) {
  return hertz === undefined || hertz === null ? MISSING : `${digits(hertz)} Hz`;
}

function count(value) {
  return value === undefined || value === null ? MISSING : Math.round(value).toString().replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

function share(value) {
  return value === undefined || value === null ? MISSING : `${digits(value * 100)} %`;
}

/** How a value of a kind is written. The kinds are those of charts and of columns of tables. */
const WRITTEN = { duration, frequency, count, share, bytes, time: sinceBegin, text: (text) => text ?? MISSING };

/** Seconds since the begin of the recording, as `+1.234567 s`: what `--at`, `--since` and `--until` understand. */
function sinceBegin(time) {
  if (time === undefined || time === null) return MISSING;
  return `${time < 0 ? "\u2212" : "+"}${(Math.abs(time) / 1e9).toFixed(6)} s`;
}

/** The same instant by the clock, and exactly. */
function wallClock(time) {
  return `${clockTime(time)} · ${absolute(time)} ns since 1970`;
}

/** Nanoseconds since 1970, exactly, as text. */
function absolute(time) {
  return (BEGIN + BigInt(Math.round(time))).toString();
}

/** The time of day, in the time zone of the reader, with microseconds. */
function clockTime(time) {
  const nanoseconds = BEGIN + BigInt(Math.round(time));
  const date = new Date(Number(nanoseconds / 1_000_000n));
  const two = (number) => String(number).padStart(2, "0");
  const micros = String((nanoseconds / 1000n) % 1_000_000n).padStart(6, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${micros}`;
}

/** The day and the time of day, written as everywhere else. */
function calendarTime(time) {
  const date = new Date(Number((BEGIN + BigInt(Math.round(time))) / 1_000_000n));
  const two = (number) => String(number).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}
