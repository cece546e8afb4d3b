// What is drawn is drawn again in other colours.

const onThemeChange = [];

function themeChanged() {
  for (const listener of onThemeChange) listener();
}
