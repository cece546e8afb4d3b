// Values of the report as people read them; numbers are in assets/base. Times are nanoseconds since the begin of the recording.

/** How a value of a kind is written. The kinds are those of charts and of columns of tables. */
const WRITTEN = { duration, frequency, count, share, bytes, plain, time: sinceBegin, text: (text) => text ?? MISSING };

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
  return instantOf(BEGIN, time).toString();
}

/** The time of day with microseconds. */
function clockTime(time) {
  return timeOfDay(instantOf(BEGIN, time), 6);
}

/** The day and the time of day. */
function calendarTime(time) {
  return `${dayOf(instantOf(BEGIN, time))} ${timeOfDay(instantOf(BEGIN, time), 0)}`;
}

/** A name; `clipped` if it may lose its middle. */
function name(text, clipped = true) {
  return clipped ? named(text) : h("span", { class: "name", dir: "auto" }, text);
}
