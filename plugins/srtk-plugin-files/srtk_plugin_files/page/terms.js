// The terms of a subgraph: names and links.
const name = (term) => { const [id, label, type] = data.terms[term]; return type ? label || "“”" : label || id; };
// Links lead only to http and https: to an id that is such an address, or to the exporter's `url` with the id in it.
function address(term) {
  const [id, , type] = data.terms[term];
  if (type) return null;
  const bare = id.replace(/^<(.*)>$/, "$1");
  if (/^https?:\/\/[^\s<>"\\]+$/i.test(bare)) return bare;
  return summary.url && /^[\w.:-]+$/.test(bare) ? summary.url.split("{id}").join(encodeURIComponent(bare)) : null;
}
function linked(term, classes) {
  const to = address(term);
  if (!to) return words("span", classes, name(term));
  const element = words("a", classes, name(term));
  element.href = to;
  element.target = "_blank";
  element.rel = "noopener noreferrer";
  return element;
}
