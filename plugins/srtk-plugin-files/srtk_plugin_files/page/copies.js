// Copies of what is listed and drawn: CSV and text for the clipboard, an SVG file.
// A spreadsheet runs a cell that begins with one of these, unless it is a number; an apostrophe keeps it text.
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
const runs = (text) => /^[=+\-@\t\r]/.test(text) && !NUMBER.test(text);
const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
function csv() {
  let marked = 0;
  const guarded = (text) => (runs(text) ? (marked++, "'" + text) : text);
  const lines = [["score", "subject", "subject name", "relation", "relation name", "object", "object name", ...(others ? ["in"] : []), "path", "source", ...(data.completed ? ["confidence"] : []), ...(proof.size ? ["proof"] : [])]];
  for (const i of allowed) {
    const [s, r, o, score, path, source] = data.triples[i];
    const terms = [s, r, o].flatMap((term) => [data.terms[term][0], name(term)]);
    lines.push([score === null ? "" : String(score), ...[...terms, ...(others ? [shared(i) ? "both" : `only ${METHODS[side]}`] : []), path < 0 ? "" : String(path + 1), data.sources[source], ...(data.completed ? [String(completed(i) ? completed(i)[0] : 1)] : []), ...(proof.size ? [proof.has(i) ? "yes" : ""] : [])].map(guarded)]);
  }
  const told = marked ? `; ${count(marked, "cell")} that a spreadsheet would run as a formula begin${marked === 1 ? "s" : ""} with '` : "";
  return [lines.map((cells) => cells.map(quoted).join(",") + "\r\n").join(""), told];
}
function plain() {
  const flat = (term) => name(term).replace(/\s+/g, " ");
  return allowed.map((i) => { const [s, r, o] = data.triples[i]; return `(${flat(s)}, ${flat(r)}, ${flat(o)})${completed(i) ? ` [${lacking(i)}]` : ""}\n`; }).join("");
}
async function copy(content, kind, said, told = "") {
  let done = true;
  try { await navigator.clipboard.writeText(content); } catch { done = copyOld(content); }
  said.textContent = done ? `${count(allowed.length, "triple")} copied as ${kind}${told}` : "The browser does not let this page copy";
}
// Frames and old browsers have no clipboard for scripts; there a selected field is copied.
function copyOld(content) {
  const field = make("textarea", "away"), before = document.activeElement;
  field.value = content;
  document.body.append(field);
  field.select();
  const done = document.execCommand("copy");
  field.remove();
  if (before) before.focus();
  return done;
}
function save(content, file, type) {
  const link = make("a", "");
  link.href = URL.createObjectURL(new Blob([content], { type }));
  link.download = file.replace(/[^\p{L}\p{N}._-]+/gu, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
// The drawing as one SVG that needs no style sheet; colours are those that the page has now.
function drawing() {
  const pad = 12, [w, h] = [size.width + 2 * pad, size.height + 2 * pad];
  const picture = svg("svg", { width: w, height: h, viewBox: `${-pad} ${-pad} ${w} ${h}` });
  const ground = getComputedStyle(sheet.closest(".card")).backgroundColor;
  picture.append(svg("rect", { x: -pad, y: -pad, width: w, height: h, fill: ground }));
  for (const line of sheet.querySelectorAll(".edge, .head")) {
    const style = getComputedStyle(line);
    picture.append(svg("path", { d: line.getAttribute("d"), fill: style.fill, stroke: style.stroke, "stroke-width": style.strokeWidth, "stroke-dasharray": style.strokeDasharray }));
  }
  for (const { element: e, item } of parts) {
    if (!item) continue;
    const style = getComputedStyle(e), top = item.y - item.h / 2, border = parseFloat(style.borderTopWidth);
    const box = { x: item.x, y: top, width: item.w, height: item.h, rx: Math.min(item.h / 2, parseFloat(style.borderTopLeftRadius)), fill: style.backgroundColor };
    picture.append(svg("rect", border ? { ...box, stroke: style.borderTopColor, "stroke-width": border, "stroke-dasharray": { dashed: "5 3", dotted: "2 2" }[style.borderTopStyle] || "none" } : box));
    for (const part of e.children) {
      const own = getComputedStyle(part), long = part.scrollWidth > part.clientWidth && part.clientWidth > 0;
      const text = svg("text", { x: item.x + part.offsetLeft + border, y: item.y, "dominant-baseline": "central", fill: own.color, "font-family": own.fontFamily, "font-size": own.fontSize, "font-weight": own.fontWeight, "font-style": own.fontStyle });
      text.textContent = long ? shortened(part.textContent, part.clientWidth / part.scrollWidth) : part.textContent;
      const title = svg("title", {});
      title.textContent = part.textContent;
      if (long) text.append(title);
      picture.append(text);
    }
  }
  return new XMLSerializer().serializeToString(picture);
}
const shortened = (text, part) => { const letters = Array.from(text); return letters.slice(0, Math.max(1, Math.floor(letters.length * part) - 1)).join("") + "…"; };
