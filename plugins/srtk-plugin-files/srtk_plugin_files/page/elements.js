// State and element helpers of a page that draws subgraphs. Text is only ever set as text content.
const byId = (id) => document.getElementById(id);
const STATES = {
  found: ["✓", "all answers"], part: ["◐", "some answers"], missed: ["✗", "no answer"],
  plain: ["·", "no gold answers"], empty: ["○", "empty"], error: ["!", "failed"], absent: ["–", "not in the file"],
};
const NAMES = {
  answer_coverage: "answer coverage", answer_recall: "answer recall", triple_precision: "triple precision",
  triple_recall: "triple recall", triple_f1: "triple F1", path_hit: "gold path found", path_top: "gold path first",
};
// The names of the two methods of the page; null where it shows one.
const METHODS = summary.names.length ? summary.names : null;
let panes = [], tips = new WeakMap();
const STEP = 1.25, view = { most: summary.drawn, weigh: false, hop: Infinity, relation: -1, part: "" };

function make(tag, classes, ...inside) {
  const element = document.createElement(tag);
  if (classes) element.className = classes;
  for (const item of inside) if (item !== null && item !== undefined) element.append(item);
  return element;
}
function words(tag, classes, text) {
  const element = make(tag, classes, text);
  element.dir = "auto";
  return element;
}
function button(text, act, label) {
  const element = make("button", "", text);
  element.type = "button";
  element.addEventListener("click", act);
  if (label) { element.setAttribute("aria-label", label); element.title = label; }
  return element;
}
function svg(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}
const mark = (state) => { const m = make("span", "mark " + state, STATES[state][0]); m.title = STATES[state][1]; return m; };
const count = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;
const number = (value) => String(Math.round(value * 1000) / 1000);
const fold = (text) => text.normalize("NFKD").replace(/[\u0300-\u036f]/g, "").toLowerCase();
const key = ([s, r, o]) => `${s} ${r} ${o}`;
function notice(text, kind) {
  const element = words("p", "notice " + kind, text);
  if (kind) element.setAttribute("role", "alert");
  return element;
}
