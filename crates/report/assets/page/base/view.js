// One part of the report is in view at a time; its address is after the #, so that links, back and forward work.

const views = new Map();

/**
 * Declares a part: `title` on its tab, `draw(root, inner)` fills the page; inner is what follows its name in the address, as
 * `12` in #callbacks/12. An element with `data-arrive` is scrolled to. What it returns, if anything, is called when the view is left.
 */
function view(viewName, { title, draw: drawView, hidden }) {
  views.set(viewName, { title, draw: drawView, hidden });
}

let leave = null;
let turn = 0;

/** What stands after the #; as it is where it was not written by us. */
function address() {
  const text = location.hash.slice(1);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

async function show() {
  const [viewName, ...rest] = address().split("/");
  const known = views.has(viewName) ? viewName : "overview";
  const mine = ++turn;
  for (const tab of document.querySelectorAll("#tabs a")) {
    if (tab.dataset.view === known) tab.setAttribute("aria-current", "page");
    else tab.removeAttribute("aria-current");
  }
  leave?.();
  leave = null;
  forgetCharts();
  const root = h("div", { class: "view", "data-view": known });
  const main = document.getElementById("main");
  try {
    const left = await views.get(known).draw(root, rest.join("/"));
    if (mine !== turn) return;
    leave = typeof left === "function" ? left : null;
    main.replaceChildren(root);
  } catch (error) {
    console.error(error);
    main.replaceChildren(h("p", { class: "notice bad" }, `This part cannot be shown: ${error.message}`));
  }
  main.dataset.ready = known;
  const place = main.querySelector("[data-arrive]");
  if (place) place.scrollIntoView();
  else scrollTo(0, 0);
}

function startViews() {
  const tabs = document.getElementById("tabs");
  for (const [viewName, { title, hidden }] of views) {
    if (!hidden) tabs.append(h("a", { href: `#${viewName}`, "data-view": viewName }, title));
  }
  // What stands after the # names a part, so this link must not go there.
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    document.getElementById("main").focus();
  });
  addEventListener("hashchange", show);
  return show();
}
