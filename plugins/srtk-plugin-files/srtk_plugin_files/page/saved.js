// The questions of a page that was written, and what is shown of them.
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const index = read("index-data"), summary = read("summary-data");
const ROW = 64;
let shown = index.map((_, i) => i), current = -1, filter = ["", ""];
