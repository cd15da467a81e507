// What is drawn and listed of each subgraph of the question: the number of triples, filters, the width of edges.
function controls() {
  const full = panes.filter((each) => each.data.triples.length), row = make("div", "controls");
  if (!full.length) return null;
  const control = (id, label, input, ...after) => {
    input.id = id;
    const text = make("label", "", label);
    text.htmlFor = id;
    row.append(make("div", "control", text, input, ...after));
    return input;
  };
  const slider = (id, label, settings, shows, act) => {
    const input = make("input", ""), value = make("output", "");
    input.type = "range";
    const show = () => { value.textContent = shows(Number(input.value)); input.setAttribute("aria-valuetext", value.textContent); };
    Object.assign(input, settings);
    value.htmlFor = id;
    input.addEventListener("input", () => { show(); act(Number(input.value)); });
    control(id, label, input, value);
    show();
    return { input, show };
  };
  const select = (id, label, options, act) => {
    const input = make("select", "");
    options.forEach(([value, text]) => { const option = make("option", "", text); option.value = value; input.append(option); });
    input.addEventListener("change", () => act(input.value));
    return control(id, label, input);
  };
  // The most triples that the slider gives: a browser lays out a thousand in a moment.
  const room = () => Math.min(Math.max(...full.map((each) => each.allowed.length)), Math.max(1000, summary.drawn));
  const draw = () => full.forEach((each) => each.draw());
  const most = slider("most", "Triples drawn", { min: 1, max: room(), step: 1, value: Math.min(view.most, room()) }, String, (value) => { view.most = value; draw(); });
  const refine = () => {
    full.forEach((each) => each.sift());
    draw();
    most.input.max = Math.max(1, room());
    most.input.value = Math.min(view.most, room());
    most.show();
  };
  for (const each of full) {
    const scores = each.data.triples.map((triple) => triple[3]);
    const low = scores.reduce((a, b) => Math.min(a, b)), high = scores.reduce((a, b) => Math.max(a, b));
    if (high === low) continue;
    slider(each.side ? "least-2" : "least", each.titled("Score at least"), { min: low, max: high, step: (high - low) / 100, value: low }, (value) => (value > low ? number(value) : "any"),
      (value) => { each.least = value > low ? value : -Infinity; refine(); });
  }
  const far = full.flatMap((each) => each.hops).reduce((a, b) => Math.max(a, b), 1);
  if (far > 1) {
    const reach = Array.from({ length: far - 1 }, (_, i) => [i + 1, i ? `up to ${i + 1}` : "1"]);
    select("hop", "Hops", [[Infinity, "any"], ...reach], (value) => { view.hop = Number(value); refine(); });
  }
  const relations = new Map();
  for (const each of full) each.data.triples.forEach(([, r]) => relations.set(r, (relations.get(r) || 0) + 1));
  if (relations.size > 1) {
    const options = [...relations].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([r, n]) => [r, `${full[0].name(r)} (${n})`]);
    select("relation", "Relation", [[-1, "any"], ...options], (value) => { view.relation = Number(value); refine(); });
  }
  if (full.length > 1) select("part", "Triples of", [["", "either"], ["both", "both"], ["one", "one only"]], (value) => { view.part = value; refine(); });
  const weigh = make("input", "");
  weigh.type = "checkbox";
  weigh.checked = view.weigh;
  weigh.addEventListener("change", () => { view.weigh = weigh.checked; draw(); });
  control("weigh", "Edge width by score", weigh);
  return row;
}
