// The question list: search, filters, and virtual rows.
const haystack = index.map((entry) => fold(`${entry.id} ${entry.q}`));
function narrow() {
  const wanted = fold(byId("search").value).split(/\s+/).filter(Boolean);
  shown = index.flatMap((entry, i) =>
    (!filter || entry.state === filter) && (!holders || holders.has(i)) && wanted.every((word) => haystack[i].includes(word)) ? [i] : []);
  byId("count").textContent = shown.length === index.length ? count(index.length, "question") : `${shown.length} of ${count(index.length, "question")}`;
  byId("rows").style.height = `${shown.length * ROW}px`;
  byId("list").scrollTop = 0;
  rows();
}
// Search for an entity: the questions in whose subgraph a node has all the words. The names of nodes are read when
// the first such search begins, a part at a time, so that a page with many questions stays quick to open and to use.
const nodes = []; // question -> [name, folded name and id] of each node of its triples
let holders = null, search = 0;
function nodesOf(i) {
  const { triples, terms } = read(`r${i}`);
  return [...new Set(triples.flatMap(([s, , o]) => [s, o]))].map((term) => {
    const [id, label, type] = terms[term];
    return [label || id, fold(type ? label || "" : `${label || ""} ${id}`)];
  });
}
function seek() {
  const wanted = fold(byId("entity").value).split(/\s+/).filter(Boolean), mine = ++search;
  if (!wanted.length) { holders = null; narrow(); return; }
  const found = new Map();
  const part = (from) => {
    if (mine !== search) return;
    const until = performance.now() + 40;
    let i = from;
    for (; i < index.length && (i === from || performance.now() < until); i++) {
      nodes[i] = nodes[i] || nodesOf(i);
      const hit = nodes[i].find(([, text]) => wanted.every((word) => text.includes(word)));
      if (hit) found.set(i, hit[0]);
    }
    if (i < index.length) {
      byId("count").textContent = `searched ${i.toLocaleString("en")} of ${count(index.length, "question")} …`;
      setTimeout(() => part(i), 0);
      return;
    }
    holders = found;
    narrow();
  };
  part(0);
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
    row.append(mark(entry.state), words("div", "words", entry.q.trim() || "(empty question)"),
      words("div", "under", `${entry.id} · ${holders && holders.has(i) ? holders.get(i) : entry.state === "error" ? "failed" : count(entry.n, "triple")}`));
    row.title = entry.q;
    row.addEventListener("click", () => open(i));
    return row;
  }));
  if (shown.includes(current)) list.setAttribute("aria-activedescendant", `q${current}`);
  else list.removeAttribute("aria-activedescendant");
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
  const counts = {};
  index.forEach((entry) => { counts[entry.state] = (counts[entry.state] || 0) + 1; });
  const present = Object.keys(STATES).filter((state) => counts[state]);
  if (present.length < 2) return;
  byId("filters").append(...present.map((state) => {
    const element = button("", () => {
      filter = filter === state ? "" : state;
      for (const other of byId("filters").children) other.setAttribute("aria-pressed", String(other === element && filter === state));
      narrow();
    });
    element.append(mark(state), `${STATES[state][1]} ${counts[state]}`);
    element.setAttribute("aria-pressed", "false");
    return element;
  }));
}
function means() {
  const found = Object.entries(summary.means).filter(([metric]) => ["answer_coverage", "answer_recall", "triple_f1", "triples", "tokens"].includes(metric));
  const box = byId("means");
  const add = (term, value, tip) => { const pair = make("div", "", make("dt", "", term), make("dd", "", value)); pair.title = tip; box.append(pair); };
  add("questions", index.length.toLocaleString("en"), "Questions on this page");
  for (const [metric, [mean, over]] of found) {
    const share = metric in NAMES;
    add(NAMES[metric] || metric, share ? mean.toFixed(3) : mean.toFixed(1), `Mean over ${count(over, "question")}`);
  }
}
