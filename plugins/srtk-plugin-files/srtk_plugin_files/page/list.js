// The question list: search, filters, and virtual rows.
const states = (entry) => [].concat(entry.state);
const haystack = index.map((entry) => fold(`${entry.id} ${entry.q}`));
function narrow() {
  const wanted = fold(byId("search").value).split(/\s+/).filter(Boolean);
  shown = index.flatMap((entry, i) =>
    states(entry).every((state, n) => !filter[n] || state === filter[n]) && (!holders || holders.has(i)) && wanted.every((word) => haystack[i].includes(word)) ? [i] : []);
  byId("count").textContent = shown.length === index.length ? count(index.length, "question") : `${shown.length} of ${count(index.length, "question")}`;
  byId("rows").style.height = `${shown.length * ROW}px`;
  byId("list").scrollTop = 0;
  rows();
}
// Search for an entity: the questions in whose subgraph a node has all the words. The names of nodes are read when
// the first such search begins, a part at a time, so that a page with many questions stays quick to open and to use.
// Where the data lie in files, the names are read again by each search, as they would fill the memory.
const nodes = []; // question -> [name, folded name and id] of each node of its triples
let holders = null, search = 0;
function nodesOf({ terms, sides, triples }) {
  const every = sides ? sides.flatMap((side) => (side ? side.triples : [])) : triples;
  return [...new Set(every.flatMap(([s, , o]) => [s, o]))].map((term) => {
    const [id, label, type] = terms[term];
    return [label || id, fold(type ? label || "" : `${label || ""} ${id}`)];
  });
}
function seek() {
  const wanted = fold(byId("entity").value).split(/\s+/).filter(Boolean), mine = ++search;
  if (!wanted.length) { holders = null; narrow(); return; }
  const found = new Map();
  const look = (i, known) => {
    const hit = known.find(([, text]) => wanted.every((word) => text.includes(word)));
    if (hit) found.set(i, hit[0]);
  };
  const later = (from, act) => {
    if (from < index.length) {
      byId("count").textContent = `searched ${from.toLocaleString("en")} of ${count(index.length, "question")} …`;
      setTimeout(act, 0);
      return;
    }
    holders = found;
    narrow();
  };
  const some = (from) => {
    if (mine !== search) return;
    const until = performance.now() + 40;
    let i = from;
    for (; i < index.length && (i === from || performance.now() < until); i++) look(i, nodes[i] = nodes[i] || nodesOf(read(`r${i}`)));
    later(i, () => some(i));
  };
  const file = (part) => {
    if (mine !== search) return;
    load(part).then((texts) => {
      if (mine !== search) return;
      texts.forEach((text, i) => look(folder.starts[part] + i, nodesOf(JSON.parse(text))));
      later(folder.starts[part] + texts.length, () => file(part + 1));
    }, (error) => { if (mine === search) byId("count").textContent = error.message; });
  };
  (folder ? file : some)(0);
}
function rows() {
  const list = byId("list"), first = Math.max(0, Math.floor(list.scrollTop / ROW) - 4);
  const last = Math.min(shown.length, first + Math.ceil(list.clientHeight / ROW) + 9);
  byId("rows").replaceChildren(...shown.slice(first, last).map((i, n) => {
    const entry = index[i], row = make("div", "row");
    row.id = `q${i}`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", String(i === current));
    row.setAttribute("aria-posinset", String(first + n + 1));
    row.setAttribute("aria-setsize", String(shown.length));
    row.style.top = `${(first + n) * ROW}px`;
    row.append(make("span", "marks", ...states(entry).map(mark)), words("div", "words", entry.q.trim() || "(empty question)"),
      words("div", "under", `${entry.id} · ${holders && holders.has(i) ? holders.get(i) : extent(entry)}`));
    row.title = entry.q;
    row.addEventListener("click", () => open(i));
    return row;
  }));
  if (shown.includes(current)) list.setAttribute("aria-activedescendant", `q${current}`);
  else list.removeAttribute("aria-activedescendant");
}
function extent(entry) {
  if (METHODS) return `${entry.n.map((n, side) => (n === null ? "–" : entry.state[side] === "error" ? "failed" : n.toLocaleString("en"))).join(" and ")} triples, ${entry.both.toLocaleString("en")} in both`;
  return entry.state === "error" ? "failed" : count(entry.n, "triple");
}
function walk(by) {
  if (!shown.length) return;
  const at = shown.indexOf(current);
  const to = at < 0 ? 0 : Math.min(shown.length - 1, Math.max(0, at + by));
  open(shown[to], true);
  const list = byId("list");
  if (to * ROW < list.scrollTop) list.scrollTop = to * ROW;
  if ((to + 1) * ROW > list.scrollTop + list.clientHeight) list.scrollTop = (to + 1) * ROW - list.clientHeight;
  rows();
}
function filters() {
  for (const [side, method] of (METHODS || [null]).entries()) {
    const counts = {};
    index.forEach((entry) => { const state = states(entry)[side]; counts[state] = (counts[state] || 0) + 1; });
    const present = Object.keys(STATES).filter((state) => counts[state]);
    if (present.length < 2) continue;
    const row = make("div", "outcomes", method === null ? null : words("span", "method", method));
    row.append(...present.map((state) => {
      const element = button("", () => {
        filter[side] = filter[side] === state ? "" : state;
        for (const other of row.querySelectorAll("button")) other.setAttribute("aria-pressed", String(other === element && filter[side] === state));
        narrow();
      });
      element.append(mark(state), `${STATES[state][1]} ${counts[state].toLocaleString("en")}`);
      element.setAttribute("aria-pressed", "false");
      if (method !== null) element.setAttribute("aria-label", `${method}: ${element.textContent}`);
      return element;
    }));
    byId("filters").append(row);
  }
}
function means() {
  const box = byId("means"), shares = ["answer_coverage", "answer_recall", "triple_f1"];
  const add = (term, value, tip) => { const pair = make("div", "", make("dt", "", term), make("dd", "", value)); pair.title = tip; box.append(pair); };
  add("questions", index.length.toLocaleString("en"), "Questions on this page");
  const of = ([mean, over], metric) => [shares.includes(metric) ? mean.toFixed(3) : mean.toFixed(1), `Mean over ${count(over, "question")}`];
  for (const metric of ["answer_coverage", "answer_recall", "triple_f1", "triples", "tokens"]) {
    const found = summary.means.map((means) => (means[metric] ? of(means[metric], metric) : ["–", "No question has this metric"]));
    if (!summary.means.some((means) => means[metric])) continue;
    const tip = METHODS ? found.map(([value, over], side) => `${METHODS[side]}: ${value}, ${over}`).join("\n") : found[0][1];
    add(NAMES[metric] || metric, found.map(([value]) => value).join(" · "), tip);
  }
}
// What the page does not show, or shows only when asked.
function omissions() {
  const said = [], all = index.length, empty = (entry, side) => [].concat(entry.n)[side] === 0;
  if (summary.total > all) said.push(`The first ${all.toLocaleString("en")} of ${count(summary.total, "question")} are on this page.`);
  for (const [side, method] of (METHODS || [null]).entries()) {
    const of = method === null ? "" : ` of ${method}`, none = index.filter((entry) => empty(entry, side)).length;
    const large = index.filter((entry) => [].concat(entry.n)[side] > summary.drawn).length;
    if (none && all > 1) said.push(`${count(none, "subgraph")}${of} ${none === 1 ? "has" : "have"} no triples.`);
    if (large && all > 1) said.push(`${count(large, "subgraph")}${of} ${large === 1 ? "has" : "have"} more than ${count(summary.drawn, "triple")}: so many are drawn at first, routes to answers before others; the tables list all.`);
  }
  byId("omitted").textContent = said.join(" ");
  byId("omitted").hidden = !said.length;
}
