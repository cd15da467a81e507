// Tables of paths and triples; a row highlights its edges in the diagram.
function hover(element, numbers) {
  element.addEventListener("mouseenter", () => light(numbers));
  element.addEventListener("mouseleave", () => light());
  parts.push({ element, numbers: new Set(numbers), stays: true });
}
function bar(value, all) {
  const low = all.reduce((a, b) => Math.min(a, b), 0), high = all.reduce((a, b) => Math.max(a, b), low < 0 ? -Infinity : 1);
  const share = high > low ? (value - low) / (high - low) : 1;
  const drawing = svg("svg", { width: 44, height: 6, "aria-hidden": "true" });
  drawing.append(svg("rect", { class: "all", width: 44, height: 6, rx: 3 }), svg("rect", { class: "got", width: Math.max(2, 44 * share), height: 6, rx: 3 }));
  return make("span", "score", drawing, value.toFixed(3));
}
function parted(list, first, each, into) {
  into.append(...list.slice(0, first).map(each));
  if (list.length <= first) return null;
  const more = button(`Show all ${list.length.toLocaleString("en")}`, () => { into.append(...list.slice(first).map((item, i) => each(item, i + first))); more.remove(); });
  more.className = "more";
  return more;
}
function pathList() {
  if (!data.paths.length) return null;
  const box = make("div", "paths"), scores = data.paths.map((path) => path[2]), leads = data.paths.map(() => []);
  data.triples.forEach((triple, i) => { if (leads[triple[4]]) leads[triple[4]].push(i); });
  const more = parted(data.paths, 10, ([entity, steps, score], i) => {
    const line = make("span", "way", words("span", "", name(entity)));
    steps.forEach(([relation, back]) => line.append(make("i", "", back ? "←" : "→"), words("span", "walked", name(relation))));
    const row = make("div", "path", bar(score, scores), line, make("span", "gives", leads[i].length ? count(leads[i].length, "triple") : "no further triple"));
    hover(row, leads[i]);
    return row;
  }, box);
  return make("section", "card", make("header", "", words("h3", "", titled("Paths")), make("p", "", "← follows a relation backwards")), box, more);
}
// Where paths from several topics meet; a row lights up the triples that lead there.
function joinList() {
  if (!data.joins.length) return null;
  const box = make("div", "paths");
  const more = parted(data.joins, 5, ([paths, nodes]) => {
    const line = make("span", "way"), met = new Set(nodes), over = new Set(paths);
    paths.forEach((path, i) => {
      const [entity, steps] = data.paths[path];
      if (i) line.append(make("i", "", "and"));
      line.append(words("span", "", name(entity)));
      steps.forEach(([relation, back]) => line.append(make("i", "", back ? "←" : "→"), words("span", "walked", name(relation))));
    });
    line.append(make("i", "", "meet in"), words("span", "", nodes.slice(0, 5).map(name).join(", ") + (nodes.length > 5 ? " …" : "")));
    const row = make("div", "path", line, make("span", "gives", count(nodes.length, "node")));
    hover(row, data.triples.flatMap(([s, , o, , path], i) => (over.has(path) && (met.has(s) || met.has(o)) ? [i] : [])));
    return row;
  }, box);
  return make("section", "card", make("header", "", words("h3", "", titled("Where the topics meet")), make("p", "", "the query's branches")), box, more);
}
function table() {
  if (!data.triples.length) return null;
  const head = make("tr", "");
  for (const [label, kind] of [["#", "num"], ["Score", ""], ["Subject", ""], ["Relation", ""], ["Object", ""], ...(others ? [["In", "in"]] : []), ["Path", "num"], ["Source", "from"]]) {
    const cell = make("th", kind, label);
    cell.scope = "col";
    head.append(cell);
  }
  const scores = data.triples.map((triple) => triple[3]);
  const cell = (term) => {
    const roles = kinds(term), text = linked(term, roles[0] ? `${roles[0]}-text` : "");
    const made = make("td", "", ...roles.map(badge), text);
    if (name(term) !== data.terms[term][0]) made.title = data.terms[term][0];
    return made;
  };
  const line = (i) => {
    const [s, r, o, score, path, source] = data.triples[i];
    const object = cell(o);
    for (const [q, v] of data.qualifiers[i] || []) object.append(words("span", "quiet", `${name(q)}: ${name(v)}`));
    if (completed(i)) object.append(words("span", "quiet", [lacking(i), ...reasons(i).slice(0, 1)].join(": ")));
    const from = make("td", "few from", data.sources[source]);
    from.title = data.sources[source];
    const way_ = make("td", "few num", path >= 0 ? String(path + 1) : "");
    if (path >= 0 && data.paths[path]) way_.title = way(path);
    const row = make("tr", "", make("td", "few num", String(i + 1)), make("td", "few", score === null ? "neighbour" : bar(score, scores)), cell(s), cell(r), object, others ? make("td", `in few${shared(i) ? "" : " own"}`, shared(i) ? "both" : "only here") : null, way_, from);
    row.dataset.i = String(i);
    row.classList.toggle("proof", proof.has(i));
    hover(row, [i]);
    return row;
  };
  listing = make("table", "", make("thead", "", head)), scroll = make("div", "scroll", listing);
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "group");
  scroll.setAttribute("aria-label", titled("Table of triples"));
  const said = make("p", "said");
  said.setAttribute("role", "status");
  const tools = make("div", "tools", button("Copy CSV", () => { const [rows, told] = csv(); copy(rows, "CSV", said, told); }), button("Copy text", () => copy(plain(), "text", said)));
  const card = make("section", "card", make("header", "", words("h3", "", titled("Triples")), make("p", "", "best first"), said, tools), scroll);
  fill = () => {
    const body = make("tbody", "");
    for (const old of listing.tBodies) old.remove();
    for (const old of card.querySelectorAll(".more")) old.remove();
    const more = parted(allowed, 100, line, body);
    listing.append(body);
    if (more) card.append(more);
  };
  fill();
  return card;
}
function rest() {
  const made = make("details", "card", words("summary", "", titled("Trace and further fields")));
  made.append(words("pre", "", JSON.stringify({ trace: data.trace, ...data.extra }, null, 2)));
  return made;
}
