// Why something took so long: a bar of its parts and a list of them; they add up.

/** parts: [{value, colour, title}]; widths are shares of `total`. */
function stackedBar(parts, total) {
  let at = 0;
  const whole = Math.max(total, 1);
  return svg("svg", { class: "stack", viewBox: "0 0 1000 18", preserveAspectRatio: "none", role: "img" }, parts.map((piece) => {
    const x = (at / whole) * 1000;
    at += Math.max(0, piece.value);
    return svg("rect", { x: x.toFixed(2), y: 0, height: 18, width: Math.max(0.6, (at / whole) * 1000 - x).toFixed(2), fill: piece.colour }, svg("title", {}, piece.title));
  }));
}

/** The parts of an explanation as a bar and a list. */
function explanation(why) {
  const bar = stackedBar(why.waits.map((wait) => ({ value: wait.duration, colour: causeColour(wait.cause), title: `${wait.text}: ${duration(wait.duration)}` })), why.total);
  const rows = why.waits.map((wait) => h("tr", { "data-cause": wait.cause, "data-duration": wait.duration },
    h("td", {}, h("span", { class: "swatch", style: `background:${causeColour(wait.cause)}` })),
    h("td", { class: "number" }, duration(wait.duration)),
    h("td", { class: "number quiet" }, why.total > 0 ? share(wait.duration / why.total) : ""),
    h("td", {}, wait.callback === undefined ? name(wait.text, false) : h("a", { href: `#callbacks/${wait.callback}` }, name(wait.text, false)), wait.times > 1 && h("span", { class: "quiet" }, ` ${count(wait.times)} times`))));
  return [bar, h("table", { class: "parts" }, h("tbody", {}, rows))];
}

/** The worst of something, each with its instant and its parts; entries: [{title, at, why, note}]. */
function worstList(entries) {
  if (entries.length === 0) return null;
  return h("div", { class: "card worst" }, entries.map(({ at, note, why }, index) => {
    const item = h("details", { open: index === 0, "data-worst": at, "data-total": why.total },
      h("summary", {},
        h("strong", { class: "number" }, duration(why.total)),
        h("span", { class: "quiet", title: `${absolute(at)} ns` }, ` at ${sinceBegin(at)} (${clockTime(at)}) `),
        note && h("span", { class: "quiet" }, note),
        why.damaged && h("span", { class: "tag bad", title: "Events were lost meanwhile: what ran then may be missing here" }, "damaged"),
        h("span", { class: "inline-bar" }, stackedBar(why.waits.map((wait) => ({ value: wait.duration, colour: causeColour(wait.cause), title: `${wait.text}: ${duration(wait.duration)}` })), why.total))));
    const fill = () => { if (item.open && item.childElementCount === 1) item.append(...explanation(why).slice(1)); };
    item.addEventListener("toggle", fill);
    if (index === 0) fill();
    return item;
  }));
}
