// The questions of a page that was written, and what is shown of them.
const read = (id) => JSON.parse(document.getElementById(id).textContent);
const index = read("index-data"), summary = read("summary-data"), folder = summary.folder;
const ROW = 64;
let shown = index.map((_, i) => i), current = -1, filter = ["", ""];
// Data of many questions lie in files beside the page: number of a file -> promise of its texts, for the files used
// last. A page from disk may load scripts alone, so each file is one, and calls `srtkPart`.
const loaded = new Map(), KEPT = 8;
let came = null;
globalThis.srtkPart = (stamp, part, texts) => { came = { stamp, part, texts }; };
const partOf = (i) => folder.starts.findLastIndex((start) => start <= i);
function load(part) {
  const file = `${folder.name}/part-${part}.js`;
  const coming = loaded.get(part) || new Promise((done, failed) => {
    const element = document.createElement("script");
    element.src = file.split("/").map(encodeURIComponent).join("/");
    element.addEventListener("load", () => {
      element.remove();
      if (came && came.stamp === folder.stamp && came.part === part) done(came.texts);
      else failed(new Error(`${file} belongs to another page; put the folder that was written with this page beside it.`));
    });
    element.addEventListener("error", () => { element.remove(); failed(new Error(`${file} cannot be read; keep the folder ${folder.name} beside this page.`)); });
    document.head.append(element);
  });
  loaded.delete(part);
  loaded.set(part, coming);
  if (loaded.size > KEPT) loaded.delete(loaded.keys().next().value);
  coming.catch(() => loaded.delete(part));
  return coming;
}
// Give the data of a question to `use`: at once where the page has them.
function give(i, use, failed) {
  if (!folder) { use(read(`r${i}`)); return; }
  const part = partOf(i);
  load(part).then((texts) => use(JSON.parse(texts[i - folder.starts[part]])), (error) => failed(error.message));
}
