// The subgraph diagram: entities and relations as buttons, edges as curves beneath them.
function figure(controls) {
  if (!data.triples.length) return null;
  const tools = make("div", "tools", button("−", () => scale(zoom / STEP), "Zoom out (−)"), button("+", () => scale(zoom * STEP), "Zoom in (+)"),
    button("Fit", () => scale(0), "Fit to width (0)"), button("SVG", () => save(drawing(), `${data.id}${METHODS ? `-${METHODS[side]}` : ""}.svg`, "image/svg+xml"), "Download the drawing as SVG"));
  sheet = make("div", "sheet");
  stage = make("div", "stage", make("div", "paper", sheet));
  stage.tabIndex = 0;
  stage.setAttribute("role", "group");
  stage.setAttribute("aria-label", `${titled("Subgraph")}; the table below lists its triples. Arrow keys move it, plus and minus zoom, 0 fits it to the width.`);
  movable(stage);
  const legend = make("div", "legend");
  const entry = (kind, label, glyph) => legend.append(make("span", "", make("span", "chip " + kind, make("span", "badge", glyph)), label));
  entry("is-linked", "linked entity", "●");
  if ((data.gold || []).some(([, found]) => found)) entry("is-found", "answer found", "✓");
  if (data.answer && data.answer.length) entry("is-said", "reader's answer", "★");
  if (proof.size) {
    const line = svg("svg", { width: 26, height: 8, "aria-hidden": "true" });
    line.append(svg("path", { class: "edge proof", d: "M0 4H26" }));
    legend.append(make("span", "", line, "proves it"));
  }
  if (data.triples.some(([, , o]) => data.terms[o][2])) entry("literal", "value", "1");
  if (data.completed) {
    const dashes = svg("svg", { width: 26, height: 8, "aria-hidden": true });
    dashes.append(svg("path", { class: "edge completed", d: "M0 4H26" }));
    legend.append(make("span", "", dashes, "not in the graph"));
  }
  if (others) for (const [kind, label] of [["", "in both"], [" own", `only in ${METHODS[side]}`]]) {
    const line = svg("svg", { width: 26, height: 8, "aria-hidden": "true" });
    line.append(svg("path", { class: "edge" + kind, d: "M0 4H26" }));
    legend.append(make("span", "", line, label));
  }
  drawnNote = make("p", "");
  drawnNote.id = side ? "drawn-2" : "drawn";
  drawnNote.setAttribute("role", "status");
  return make("section", "card", make("header", "", words("h3", "", titled("Subgraph")), drawnNote, tools), controls, stage, legend);
}
// Zoom to a factor (0: fit to width); the point of the drawing at `at`, in pixels of its window, stays where it is.
function scale(to, at) {
  const pad = 22, paper = stage.firstChild, [x, y] = at || [stage.clientWidth / 2, stage.clientHeight / 2];
  const before = zoom, left = (stage.scrollLeft + x - paper.offsetLeft - pad) / before, top = (stage.scrollTop + y - pad) / before;
  const fit = Math.min(1, Math.max((stage.clientWidth - 2 * pad) / size.width, 0.6));
  zoom = to ? Math.min(4, Math.max(0.2, to)) : fit;
  paper.style.width = `${size.width * zoom + 2 * pad}px`;
  paper.style.height = `${size.height * zoom + 2 * pad}px`;
  sheet.style.transform = `translate(${pad}px, ${pad}px) scale(${zoom})`;
  if (!before || !to) return;
  stage.scrollLeft = left * zoom + paper.offsetLeft + pad - x;
  stage.scrollTop = top * zoom + pad - y;
}
// What stands where the focus is keeps the focus, and its place in the window.
function draw() {
  if (!stage) return;
  const before = parts.find((part) => part.item && part.element === document.activeElement);
  const marked = new Set(data.triples.flatMap(([s, , o]) => [s, o]).filter((term) => kinds(term).length));
  const { items, links, route, drawn } = Layout.plan(data, allowed, view.most, opened, marked, left);
  parts = parts.filter((part) => part.stays && part.element.isConnected);
  const lines = svg("svg", {});
  sheet.replaceChildren(lines, ...items.map(element));
  items.forEach((item) => { item.w = item.element.offsetWidth; item.h = item.element.offsetHeight; });
  size = Layout.place(items, links, stage.clientWidth - 44);
  items.forEach(({ element: e, x, y, h }) => { e.style.transform = `translate(${x}px, ${y - h / 2}px)`; });
  lines.setAttribute("width", size.width);
  lines.setAttribute("height", size.height);
  const above = (link) => (proves(link.numbers) ? 2 : link.route ? 1 : 0);
  [...links].sort((a, b) => above(a) - above(b)).forEach((link) => lines.append(...curve(link)));
  const known = data.triples.filter((_, i) => visible(i)).length;
  drawnNote.textContent = allowed.length ? (drawn < known ? `${drawn} of ${count(known, "triple")} drawn` : count(drawn, "triple")) : "No triple passes the filters";
  for (const row of listing.querySelectorAll("tbody tr")) row.classList.toggle("right", route.has(Number(row.dataset.i)));
  const keep = zoom !== 0;
  scale(zoom);
  if (!keep) centre(items);
  light();
  if (before) stay(before.item, items);
}
function stay(item, items) {
  const same = items.find((other) => other.kind === item.kind && other.term === item.term && other.key === item.key);
  if (!same) { stage.focus({ preventScroll: true }); return; }
  same.element.focus({ preventScroll: true });
  stage.scrollLeft += (same.x - item.x) * zoom;
  stage.scrollTop += (same.y - item.y) * zoom;
}
function centre(items) {
  const first = items.filter((item) => item.column === 0);
  if (!first.length) return;
  const middle = first.reduce((sum, item) => sum + item.y, 0) / first.length;
  stage.scrollTop = middle * zoom - stage.clientHeight / 2 + 22;
}
function element(item) {
  const relation = item.kind === "relation", folded = item.kind === "fold";
  const rest = item.kind === "rest", type = item.kind === "node" ? data.terms[item.term][2] : "", opens = around && !relation && !folded && !type;
  const made = button("", () => (folded ? unfold(item.key) : opens ? around(item.term, rest) : hold(item)));
  if (opens && !rest) made.setAttribute("aria-expanded", String(left.has(item.term)));
  const roles = item.kind === "node" ? kinds(item.term) : [];
  made.className = relation ? "relation" : ["node", folded || rest ? "fold" : "", type ? "literal" : "", ...roles.map((kind) => "is-" + kind), folded && item.found ? "is-found" : ""].filter(Boolean).join(" ");
  if (item.route) made.classList.add("route");
  if (relation && proves(item.numbers)) made.classList.add("proof");
  if (relation && isOwn(item.numbers)) made.classList.add("own");
  roles.forEach((kind) => made.append(badge(kind)));
  made.append(words("span", "name", folded ? `${item.size} more${item.found ? " answers" : ""}` : rest ? `${item.rest} more` : name(item.term)));
  tips.set(made, () => relation ? stories(item.numbers) : folded ? ["Click to show them"] : rest ? [`Triples of ${name(item.term)} that are not shown`, "Click for more of them"]
    : [...about(item.term), count(item.numbers.length, "triple"), opens ? (left.has(item.term) ? "Click to fold its neighbours" : "Click for its neighbours") : ""]);
  item.element = made;
  parts.push({ element: made, numbers: new Set(item.numbers), item });
  return made;
}
const proves = (numbers) => numbers.some((i) => proof.has(i));
function curve({ a, b, at, head, numbers, route }) {
  const x1 = a.x + a.w, x2 = b.x, bend = Math.max(14, (x2 - x1) / 2);
  const kind = (route ? " route" : "") + (proves(numbers) ? " proof" : "") + (numbers.every(completed) ? " completed" : "") + (isOwn(numbers) ? " own" : ""), made = [];
  const tipAt = at === a ? [x1, a.y, 1] : [x2, b.y, -1], back = head ? 5 : 0;
  const [from, to] = [x1 + (at === a ? back : 0), x2 - (at === b ? back : 0)];
  made.push(svg("path", { class: "edge" + kind, d: `M${from} ${a.y}C${x1 + bend} ${a.y} ${x2 - bend} ${b.y} ${to} ${b.y}` }));
  if (head) made.push(svg("path", { class: "head" + kind, d: `M${tipAt[0]} ${tipAt[1]}l${7 * tipAt[2]} -4v8z` }));
  if (view.weigh) made[0].style.strokeWidth = `${1 + 4 * share(Math.max(...numbers.map((i) => data.triples[i][3])))}px`;
  made.forEach((part) => parts.push({ element: part, numbers: new Set(numbers) }));
  const wide = svg("path", { class: "reach", d: made[0].getAttribute("d") });
  if (numbers.length) tips.set(wide, () => stories(numbers));
  return [...made, wide];
}
function unfold(key) { opened.add(key); held = null; draw(); }
function hold(item) {
  held = held === item ? null : item;
  light();
}
function light(hovered) {
  const wanted = hovered || (held && held.numbers);
  if (!stage) return;
  sheet.classList.toggle("dimmed", Boolean(wanted));
  const numbers = new Set(wanted || []), ends = new Set();
  numbers.forEach((i) => { ends.add(data.triples[i][0]); ends.add(data.triples[i][2]); });
  for (const part of parts) {
    const node = part.item && part.item.kind === "node";
    const lit = node ? ends.has(part.item.term) : [...part.numbers].some((i) => numbers.has(i));
    part.element.classList.toggle("lit", lit);
    part.element.classList.toggle("held", Boolean(part.item) && part.item === held);
  }
}
