// How long something took, for people: the same in the report and in the timeline.

export const MISSING = "–";

const DURATION_UNITS = [
  { below: 1e3, divisor: 1, unit: "ns" },
  { below: 1e6, divisor: 1e3, unit: "µs" },
  { below: 1e9, divisor: 1e6, unit: "ms" },
  { below: Infinity, divisor: 1e9, unit: "s" },
];

/** The unit in which a duration of this size is read. */
export function durationUnit(nanoseconds) {
  const size = Math.abs(nanoseconds);
  return DURATION_UNITS.find((unit) => size < unit.below);
}

/** Three digits that count. */
export function digits(value) {
  const size = Math.abs(value);
  if (size === 0) return "0";
  return value.toFixed(size >= 99.95 ? 0 : size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3);
}

/** `12.3 ms`; what lasts for minutes is shown in minutes. The program's sentences do the same: crates/base/src/units.rs. */
export function duration(nanoseconds) {
  if (nanoseconds === undefined || nanoseconds === null || Number.isNaN(nanoseconds)) return MISSING;
  const size = Math.round(Math.abs(nanoseconds));
  const sign = nanoseconds < 0 && size > 0 ? "\u2212" : "";
  if (size < 1e3) return `${sign}${size} ns`;
  if (size >= 59.95e9) {
    const seconds = Math.round(size / 1e9);
    const two = (number) => String(number).padStart(2, "0");
    const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60];
    return sign + (hours > 0 ? `${hours} h ${two(minutes)} min` : `${minutes} min ${two(seconds % 60)} s`);
  }
  for (const { divisor, unit } of DURATION_UNITS.slice(1)) {
    for (const decimals of [2, 1, 0]) {
      const steps = Math.round(size / (divisor / 10 ** decimals));
      // 999.96 µs would be printed as 1000 µs.
      if (steps < 1000) return `${sign}${(steps / 10 ** decimals).toFixed(decimals)} ${unit}`;
    }
  }
  return MISSING;
}

/** `12.345678 ms`: every nanosecond; of seconds the microseconds. */
export function exactDuration(nanoseconds) {
  const size = Math.abs(nanoseconds);
  if (size >= 60e9) return duration(nanoseconds);
  const { divisor, unit } = durationUnit(size);
  const digits = Math.min(Math.round(Math.log10(divisor)), 6);
  return `${nanoseconds < 0 ? "\u2212" : ""}${(size / divisor).toFixed(digits)} ${unit}`;
}

/** `653.2 KiB` */
export function bytes(value) {
  if (value === undefined || value === null) return MISSING;
  if (value < 1024) return `${Math.round(value)} B`;
  let [size, unit] = [value / 1024, 0];
  for (; size >= 1023.95 && unit < 3; unit++) size /= 1024;
  return `${size.toFixed(1)} ${["KiB", "MiB", "GiB", "TiB"][unit]}`;
}
