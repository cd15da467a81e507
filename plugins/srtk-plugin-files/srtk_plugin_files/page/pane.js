// A subgraph on the page: what is known of it, its diagram and its tables, with their state. A page of two methods has
// two of them at once; `others` are the keys of the triples of the other one, where there is another. A live page sets
// `around`, which unfolds the neighbours of an entity, `visible`, which triples are shown, and `left`, for the entities
// that are unfolded the number of their triples that are not shown.
function pane(data, side, others) {
let held = null, parts = [], opened = new Set(), zoom = 0, size = { width: 1, height: 1 }, least = -Infinity;
let around = null, visible = () => true, left = new Map();
let sheet = null, stage = null, drawnNote = null, listing = null, fill = () => {};
let allowed = data.triples.map((_, i) => i);
let hops = Layout.hops(data);
const shared = (i) => Boolean(others) && others.has(key(data.triples[i]));
const isOwn = (numbers) => Boolean(others) && !numbers.some(shared);
const titled = (text) => (METHODS ? `${text} · ${METHODS[side]}` : text);
{{parts}}
return {
  data, side, hops, titled, name, heading, facts, reply, unanswered, figure, joinList, pathList, table, rest, draw, sift, scale, hold,
  notice: () => (data.error !== null ? (data.said && data.said.refusal ? null : notice(data.error, "error")) : data.triples.length ? null : notice(`Nothing was retrieved. ${data.trace.reason || ""}`, "")),
  turn: (factor) => scale(zoom * factor),
  has: (element) => Boolean(stage) && stage.contains(element),
  pan: (by) => stage.scrollBy(...by),
  get allowed() { return allowed; },
  set least(value) { least = value; },
};
}
