// The colours of colours.css, for what is drawn: canvas and charts know no custom properties.

const known = new Map();

/** The value of a colour by its name. */
export function colour(name) {
  if (!known.has(name)) known.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return known.get(name);
}

/** What was read holds until the theme changes. */
export function forgetColours() {
  known.clear();
}

/** How many colours there are for things beside each other. */
export const SERIES = 10;

/** For the so-manieth thing beside others; the order never changes. */
export function seriesColour(number) {
  return colour(`series-${number % SERIES}`);
}

/** The colour of a cause of waiting. */
export function causeColour(cause) {
  return colour(`cause-${cause}`) || colour("cause-unknown");
}
