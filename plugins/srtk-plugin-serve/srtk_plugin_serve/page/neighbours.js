// Neighbours of an entity, which the service gives at a click: ranked, of many relations, with the number of the others.
const MORE = 8, known = data.triples.length, asked = new Map(), owners = new Map();
visible = (i) => i < known || [...owners.get(i)].some((term) => left.has(term));
around = async (term, more) => {
  if (left.has(term) && !more) {
    left.delete(term);
    redraw(`The neighbours of ${apart(name(term))} are folded`);
    return;
  }
  const most = (more ? asked.get(term) : 0) + MORE;
  drawnNote.textContent = `Reading the neighbours of ${apart(name(term))} …`;
  let found;
  try { [found] = await call("page/expand", { entities: [data.terms[term][0]], triples: most }, asking.signal); } catch (fault) { drawnNote.textContent = fault.message; return; }
  asked.set(term, most);
  const before = allowed.length;
  for (const i of taken(found)) if (i >= known) owners.set(i, (owners.get(i) || new Set()).add(term));
  const rest = Object.values(found.trace.left_out || {}), all = rest.reduce((sum, some) => sum + parseInt(some, 10), 0);
  left.set(term, all ? all.toLocaleString("en") + (rest.some((some) => some.endsWith("+")) ? "+" : "") : "");
  redraw("");
  const fresh = allowed.length - before;
  drawnNote.textContent += `; ${fresh ? count(fresh, "neighbour") : "no further neighbour"} of ${apart(name(term))} added, ${left.get(term) || "no"} more`;
};
function redraw(said) {
  hops = Layout.hops(data);
  sift();
  draw();
  if (said) drawnNote.textContent = said;
}
// Add what was found to the data of the drawing; the places of its triples there.
function taken(found) {
  const place = (list, same, item) => { const at = list.findIndex(same); return at < 0 ? list.push(item) - 1 : at; };
  const terms = found.terms.map((row) => {
    const at = place(data.terms, ([id]) => id === row[0], row);
    if (row.length > data.terms[at].length) data.terms[at] = row;
    return at;
  });
  const sources = found.sources.map((source) => place(data.sources, (one) => one === source, source));
  return found.triples.map(([s, r, o, , , source], n) => {
    const triple = [terms[s], terms[r], terms[o], null, -1, sources[source]];
    const size = data.triples.length, at = place(data.triples, (one) => key(one) === key(triple), triple);
    if (at === size) {
      if (found.qualifiers[n]) data.qualifiers[at] = found.qualifiers[n].map(([q, v]) => [terms[q], terms[v]]);
      if (found.completed && found.completed[n]) data.completed = { ...data.completed, [at]: found.completed[n] };
    }
    return at;
  });
}
