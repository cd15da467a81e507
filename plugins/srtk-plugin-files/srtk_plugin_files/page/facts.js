// What is known of the question: its links, answers and metrics, and the words of tooltips.
function heading() {
  const title = words("h2", ""), letters = Array.from(data.q);
  let at = 0;
  for (const [term, , start, end] of [...data.links].sort((a, b) => a[2] - b[2])) {
    if (start === null || end === null || start < at || end > letters.length || end <= start) continue;
    const mention = make("mark", "", letters.slice(start, end).join(""));
    mention.title = name(term);
    title.append(letters.slice(at, start).join(""), mention);
    at = end;
  }
  title.append(letters.slice(at).join(""));
  if (!data.q.trim()) title.textContent = "(empty question)";
  return title;
}
function facts() {
  const facts = make("dl", "facts");
  const row = (label, chips) => { if (chips.length) facts.append(make("dt", "", label), make("dd", "", ...chips)); };
  const seen = new Set();
  row("linked", data.links.filter(([term]) => !seen.has(term) && seen.add(term)).map(([term, score]) =>
    chip(term, "linked", score < 1 ? number(score) : "")));
  const few = (label, list, each) => {
    const box = make("dd", "");
    const more = parted(list, 14, each, box);
    if (more) box.append(more);
    if (list.length) facts.append(make("dt", "", label), box);
  };
  few("gold", data.gold || [], ([term, found]) => chip(term, found ? "found" : "missed", ""));
  few("answer", data.answer || [], (part) => typeof part === "number" ? chip(part, "said", "") : text(part));
  const numbers = make("dl", "numbers");
  const add = (label, value) => numbers.append(make("div", "", make("dt", "", label), make("dd", "", value)));
  for (const [metric, value] of Object.entries(data.metrics)) {
    if (metric === "answer_refused") continue; // the answer above says it
    if (metric in NAMES) add(NAMES[metric], metric.startsWith("path") ? (value ? "yes" : "no") : number(value));
    else add(metric, value.toLocaleString("en"));
  }
  if (data.paths.length) add("paths", String(data.paths.length));
  if (data.expected !== null) add("expected recall", number(data.expected));
  return [reply(), ...unanswered(), facts, numbers].filter(Boolean);
}
// The notes where there is no answer below which they stand.
function unanswered() {
  return data.said && !data.said.refusal ? [] : data.notes.map((note) => words("p", "note", note));
}
// The reader's answer in a sentence, with the triples that prove it and the other answers; or why there is none.
function reply() {
  const { said } = data;
  if (!said) return null;
  if (said.refusal) return make("p", "reply notice", make("b", "", "No answer: "), words("span", "", said.refusal));
  const box = make("div", "reply", make("p", "sentence", badge("said"), words("strong", "", said.line), said.certainty ? make("small", "certainty", said.certainty) : null),
    ...data.notes.map((note) => words("p", "note", note)));
  const lines = make("div", "evidence"), more = parted(data.support, 5, (i) => {
    const [s, r, o, , , source] = data.triples[i], from = data.sources[source], row = make("div", "path", make("span", "way", words("span", "", name(s)), make("i", "", "→"), words("span", "walked", name(r)), make("i", "", "→"), words("span", "", name(o)), completed(i) ? make("i", "", lacking(i)) : null), from ? words("span", "gives", from) : null);
    hover(row, [i]);
    return row;
  }, lines);
  const [path] = new Set(data.support.map((i) => data.triples[i][4])), known = data.paths[path];
  if (data.support.length) box.append(words("p", "label", "proof"), ...[known && known[1].length > 1 ? words("p", "note", way(path)) : null, lines, more].filter(Boolean));
  if (said.others.length) box.append(words("p", "label", "other answers"), make("div", "others", ...said.others.map(([text, path]) => {
    const other = make("span", "chip", words("span", "name", text));
    hover(other, data.triples.flatMap((triple, i) => (path >= 0 && triple[4] === path ? [i] : [])));
    tips.set(other, () => [text, path >= 0 && data.paths[path] ? `path ${path + 1}: ${way(path)}` : ""]);
    return other;
  })));
  return box;
}
const proof = new Set(data.support);
const BADGES = { linked: "●", found: "✓", missed: "✗", said: "★" };
function chip(term, kind, small) {
  const element = make("span", "chip is-" + kind, badge(kind), linked(term, "name"), small ? make("small", "", small) : null);
  tips.set(element, () => about(term));
  return element;
}
const badge = (kind) => make("span", "badge " + kind, BADGES[kind]);
const text = (part) => make("span", "chip is-said", badge("said"), words("span", "name", part));
function kinds(term) {
  const found = [];
  if (data.links.some(([t]) => t === term)) found.push("linked");
  else if ((data.gold || []).some(([t, f]) => t === term && f)) found.push("found");
  if (data.answer && data.answer.includes(term)) found.push("said");
  return found;
}
function about(term) {
  const [id, label, type] = data.terms[term];
  const roles = { linked: "linked from the question", found: "gold answer, found", missed: "gold answer, missed", own: "gold answer that is a linked entity", said: "the reader's answer" };
  const own = data.links.some(([t]) => t === term);
  const missed = (data.gold || []).some(([t, f]) => t === term && !f) ? [own ? "own" : "missed"] : [];
  return [label || id, label || type ? id : "", ...[...kinds(term), ...missed].map((kind) => roles[kind])];
}
const way = (i) => { const [entity, steps] = data.paths[i]; return [name(entity), ...steps.map(([r, back]) => `${back ? "←" : "→"} ${name(r)}`)].join("  "); };
// A triple that the graph lacks: its confidence and the reasons for it, as [text, source].
const completed = (i) => (data.completed || {})[i];
const lacking = (i) => `not in the graph; confidence ${completed(i)[0]}`;
const reasons = (i) => completed(i)[1].map(([text, source]) => (source ? `${text} (${source})` : text));
function story(i) {
  const [s, r, o, score, path, source] = data.triples[i];
  const lines = [`${name(s)} — ${name(r)} → ${name(o)}`, score === null ? "" : `score ${score}`];
  if (completed(i)) lines.push(lacking(i), ...reasons(i));
  if (path >= 0 && data.paths[path]) lines.push(`path ${path + 1}: ${way(path)}`);
  if (data.sources[source]) lines.push(`source: ${data.sources[source]}`);
  if (data.support.includes(i)) lines.push("supports the reader's answer");
  if (others) lines.push(shared(i) ? "in both" : `only in ${METHODS[side]}`);
  for (const [q, v] of data.qualifiers[i] || []) lines.push(`${name(q)}: ${name(v)}`);
  return lines;
}
function stories(numbers) {
  if (numbers.length === 1) return story(numbers[0]);
  const [, r] = data.triples[numbers[0]];
  const lines = numbers.slice(0, 7).map((i) => `${name(data.triples[i][0])} → ${name(data.triples[i][2])}   ${data.triples[i][3] ?? ""}`);
  const left = numbers.length - 7;
  return [`${name(r)}: ${count(numbers.length, "triple")}`, ...lines, left > 0 ? `and ${left} more` : ""];
}
