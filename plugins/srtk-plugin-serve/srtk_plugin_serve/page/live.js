// What the scripts of the drawing want to know: few triples are drawn, so that the answer is seen among them.
const summary = { drawn: 20, url: "", names: [] };
// A name inside a sentence, whose letters and marks do not turn the words around it.
const apart = (text) => `\u2068${text}\u2069`;
