// The selected question: its text, and a pane for the subgraph of each method.
function open(i, quiet) {
  if (!index[i]) return;
  current = i;
  document.body.classList.remove("choosing");
  byId("menu").setAttribute("aria-expanded", "false");
  const place = "#" + encodeURIComponent(index[i].id);
  // A notebook's frame has no address of its own, and its browser refuses one.
  if (location.protocol !== "about:" && location.hash !== place) history.replaceState(null, "", place);
  byId("main").setAttribute("aria-busy", "true");
  const still = (act) => (given) => { if (current === i) { byId("main").removeAttribute("aria-busy"); act(given); } };
  give(i, still((found) => show(i, found, quiet)), still((why) => { panes = []; byId("main").replaceChildren(notice(why, "error")); }));
  rows();
}
function show(i, found, quiet) {
  const sides = METHODS ? found.sides : [found];
  tips = new WeakMap();
  Object.assign(view, { hop: Infinity, relation: -1, part: "" });
  const keys = sides.map((data) => data && new Set(data.triples.map(key)));
  panes = sides.flatMap((data, side) => (data ? [pane({ terms: found.terms, ...data }, side, METHODS && keys[1 - side])] : []));
  hint(null);
  const article = make("article", METHODS ? "two" : "");
  byId("main").replaceChildren(article);
  const heading = make("section", "", asked(i));
  article.append(heading);
  if (METHODS) compared(article, heading, keys);
  else {
    const [only] = panes;
    heading.append(...only.facts());
    article.append(...[only.notice(), only.figure(controls()), only.joinList(), only.pathList(), only.table(), only.rest()].filter(Boolean));
  }
  panes.forEach((each) => each.draw());
  byId("main").scrollTop = 0;
  if (!quiet) window.scrollTo(0, 0);
}
function asked(i) {
  const where = shown.indexOf(i), turn = make("div", "turn");
  const back = button("‹", () => walk(-1), "Previous question (k)"), on = button("›", () => walk(1), "Next question (j)");
  back.disabled = where === 0; on.disabled = where === shown.length - 1;
  turn.append(back, on);
  return make("div", "asked", make("div", "", make("div", "where", index[i].id), panes[0].heading()), index.length > 1 ? turn : null);
}
// Two methods: the counts of what they share, then each part of both beside one another.
function compared(article, heading, keys) {
  const counts = make("dl", "numbers");
  const add = (label, value) => counts.append(make("div", "", make("dt", "", label), make("dd", "", value.toLocaleString("en"))));
  if (keys.every(Boolean)) {
    const both = [...keys[0]].filter((triple) => keys[1].has(triple)).length;
    add("triples in both", both);
    METHODS.forEach((method, side) => add(`only in ${method}`, keys[side].size - both));
    heading.append(counts);
  }
  const of = (side) => panes.find((each) => each.side === side), beside = (part) => {
    const cells = METHODS.map((_, side) => (of(side) ? part(of(side)) : null));
    if (cells.some(Boolean)) article.append(make("div", "pair", ...cells.map((cell) => cell || make("div", ""))));
  };
  article.append(make("div", "pair", ...METHODS.map((method, side) => {
    const card = make("section", "card about", make("header", "", words("h3", "", method)));
    if (!of(side)) card.append(notice(`${method} has no record of this question.`, ""));
    else card.append(...[...of(side).facts(), of(side).notice()].filter(Boolean));
    return card;
  })));
  const shared = controls();
  if (shared) article.append(make("section", "card", shared));
  beside((each) => each.figure());
  beside((each) => each.joinList());
  beside((each) => each.pathList());
  beside((each) => each.table());
  beside((each) => each.rest());
}
