// What is drawn and listed: the number of triples, filters, the width of edges; zoom and pan by mouse and touch.
const share = (score) => {
  const scores = data.triples.map((triple) => triple[3]);
  const low = scores.reduce((a, b) => Math.min(a, b)), high = scores.reduce((a, b) => Math.max(a, b));
  return high > low ? (score - low) / (high - low) : 1;
};
function controls() {
  const scores = data.triples.map((triple) => triple[3]), row = make("div", "controls");
  const low = scores.reduce((a, b) => Math.min(a, b)), high = scores.reduce((a, b) => Math.max(a, b));
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
    input.addEventListener("change", () => act(Number(input.value)));
    return control(id, label, input);
  };
  const most = slider("most", "Triples drawn", { min: 1, max: room(), step: 1, value: Math.min(view.most, room()) }, String, (value) => { view.most = value; draw(); });
  const refine = () => {
    sift();
    most.input.max = Math.max(1, room());
    most.input.value = Math.min(view.most, room());
    most.show();
  };
  if (high > low) {
    slider("least", "Score at least", { min: low, max: high, step: (high - low) / 100, value: low }, (value) => (value > low ? number(value) : "any"),
      (value) => { view.least = value > low ? value : -Infinity; refine(); });
  }
  const far = hops.reduce((a, b) => Math.max(a, b), 1);
  if (far > 1) {
    const reach = Array.from({ length: far - 1 }, (_, i) => [i + 1, i ? `up to ${i + 1}` : "1"]);
    select("hop", "Hops", [[Infinity, "any"], ...reach], (value) => { view.hop = value; refine(); });
  }
  const relations = new Map();
  data.triples.forEach(([, r]) => relations.set(r, (relations.get(r) || 0) + 1));
  if (relations.size > 1) {
    const options = [...relations].sort((a, b) => b[1] - a[1] || a[0] - b[0]).map(([r, n]) => [r, `${name(r)} (${n})`]);
    select("relation", "Relation", [[-1, "any"], ...options], (value) => { view.relation = value; refine(); });
  }
  const weigh = make("input", "");
  weigh.type = "checkbox";
  weigh.checked = view.weigh;
  weigh.addEventListener("change", () => { view.weigh = weigh.checked; draw(); });
  control("weigh", "Edge width by score", weigh);
  return row;
}
// The most triples that the slider gives: a browser lays out a thousand in a moment.
const room = () => Math.min(allowed.length, Math.max(1000, summary.drawn));
function sift() {
  allowed = data.triples.flatMap(([, r, , score], i) =>
    score >= view.least && hops[i] <= view.hop && (view.relation < 0 || r === view.relation) ? [i] : []);
  fill();
  draw();
}
function movable(stage) {
  let from = null, moved = false, spread = 0;
  const inside = (x, y) => { const box = stage.getBoundingClientRect(); return [x - box.left, y - box.top]; };
  // A wheel turned over a drawing nobody has chosen scrolls the page; a trackpad's pinch comes as ctrl and wheel.
  stage.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !event.metaKey && !stage.contains(document.activeElement)) return;
    event.preventDefault();
    scale(zoom * Math.pow(STEP, Math.max(-1, Math.min(1, -event.deltaY / (event.ctrlKey ? 20 : 100)))), inside(event.clientX, event.clientY));
  }, { passive: false });
  stage.addEventListener("pointerdown", (event) => {
    moved = false;
    if (event.pointerType === "mouse" && event.button === 0 && !event.target.closest("button")) from = [event.clientX, event.clientY, stage.scrollLeft, stage.scrollTop];
  });
  stage.addEventListener("pointermove", (event) => {
    if (!from) return;
    const [dx, dy] = [event.clientX - from[0], event.clientY - from[1]];
    if (!moved && Math.hypot(dx, dy) < 4) return;
    if (!moved) stage.setPointerCapture(event.pointerId);
    moved = true;
    stage.scrollLeft = from[2] - dx;
    stage.scrollTop = from[3] - dy;
  });
  for (const end of ["pointerup", "pointercancel"]) stage.addEventListener(end, () => { from = null; });
  stage.addEventListener("click", (event) => { if (!moved && !event.target.closest("button")) hold(null); });
  const fingers = ({ touches: [a, b] }) => [Math.hypot(a.clientX - b.clientX, a.clientY - b.clientY), inside((a.clientX + b.clientX) / 2, (a.clientY + b.clientY) / 2)];
  stage.addEventListener("touchstart", (event) => { spread = event.touches.length === 2 ? fingers(event)[0] : 0; }, { passive: true });
  stage.addEventListener("touchmove", (event) => {
    if (event.touches.length !== 2 || !spread) return;
    event.preventDefault();
    const [now, middle] = fingers(event);
    scale(zoom * now / spread, middle);
    spread = now;
  }, { passive: false });
}
