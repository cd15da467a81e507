// Which triples the filters leave, and how high a score is among the others.
const share = (score) => {
  const scores = data.triples.map((triple) => triple[3]).filter((value) => value !== null);
  const low = scores.reduce((a, b) => Math.min(a, b)), high = scores.reduce((a, b) => Math.max(a, b));
  return high > low ? (score - low) / (high - low) : 1;
};
function sift() {
  allowed = data.triples.flatMap(([, r, , score], i) =>
    visible(i) && score >= least && hops[i] <= view.hop && (view.relation < 0 || r === view.relation) && (!view.part || !others || shared(i) === (view.part === "both")) ? [i] : []);
  fill();
}
