// The layout of a subgraph: columns of entities by hops from the linked entities, with relations between them.
// It is deterministic and does not touch the page, so equal data give an equal diagram.
const Layout = (() => {
  // Breadth-first search over triples from each root: node -> {level, triple, from}.
  function reach(triples, numbers, roots) {
    const at = new Map(), seen = new Map();
    for (const i of numbers) {
      const [s, , o] = triples[i];
      for (const [from, to] of [[s, o], [o, s]]) {
        if (!at.has(from)) at.set(from, []);
        at.get(from).push([i, to]);
      }
    }
    const spread = (queue) => {
      for (let n = 0; n < queue.length; n++) {
        for (const [triple, to] of at.get(queue[n]) || []) {
          if (seen.has(to)) continue;
          seen.set(to, { level: seen.get(queue[n]).level + 1, triple, from: queue[n] });
          queue.push(to);
        }
      }
    };
    const begin = (nodes) => {
      nodes.forEach((node) => seen.set(node, { level: 0, triple: -1, from: -1 }));
      spread(nodes);
    };
    begin([...new Set(roots)]);
    for (const i of numbers) if (!seen.has(triples[i][0])) begin([triples[i][0]]);
    return seen;
  }

  // Select at most `most` of the triples `all`: routes to the goals and the proof first, then those with the best scores.
  // Neighbours, which have no score, come besides.
  function pick({ triples, support }, all, roots, goals, most) {
    const route = new Set();
    const seen = reach(triples, all, roots);
    for (const goal of goals) {
      for (let node = goal; seen.has(node) && seen.get(node).triple >= 0; node = seen.get(node).from) {
        route.add(seen.get(node).triple);
      }
    }
    const proof = new Set(support), found = all.filter((i) => triples[i][3] !== null), first = found.filter((i) => route.has(i) || proof.has(i));
    const chosen = [...first, ...found.filter((i) => !route.has(i) && !proof.has(i))].slice(0, most).concat(all.filter((i) => triples[i][3] === null));
    return { chosen: chosen.sort((a, b) => a - b), route };
  }

  // Group triples of one relation and direction with equal near ends or equal sets of far ends.
  function bundle(triples, chosen, levels) {
    const pairs = new Map();
    for (const i of chosen) {
      const [s, relation, o] = triples[i];
      const inverse = levels.get(o).level < levels.get(s).level || (levels.get(o).level === levels.get(s).level && o < s);
      const [anchor, member] = inverse ? [o, s] : [s, o];
      const key = `${anchor} ${relation} ${member}`;
      if (!pairs.has(key)) pairs.set(key, { anchor, member, relation, ways: 0, numbers: [] });
      pairs.get(key).numbers.push(i);
      pairs.get(key).ways |= inverse ? 2 : 1; // 3: in both directions
    }
    const near = new Map();
    for (const pair of pairs.values()) {
      const key = `${pair.anchor} ${pair.relation} ${pair.ways}`;
      if (!near.has(key)) near.set(key, { relation: pair.relation, ways: pair.ways, pairs: [] });
      near.get(key).pairs.push(pair);
    }
    const merged = new Map();
    for (const group of near.values()) {
      const level = levels.get(group.pairs[0].anchor).level;
      const members = group.pairs.map((pair) => pair.member).sort((a, b) => a - b);
      const key = `${level} ${group.relation} ${group.ways} ${members}`;
      const known = merged.get(key);
      if (known) known.pairs.push(...group.pairs);
      else merged.set(key, { ...group, level });
    }
    return [...merged.values()];
  }

  // Fold nodes with the same role in the same groups, all but the first ones: node -> fold.
  function folds(groups, levels, goals, marked, opened) {
    const places = new Map();
    const note = (node, place) => {
      if (!places.has(node)) places.set(node, new Set());
      places.get(node).add(place);
    };
    groups.forEach((group, g) => group.pairs.forEach(({ anchor, member }) => { note(anchor, `${g}a`); note(member, `${g}m`); }));
    const alike = new Map();
    for (const [node, found] of places) {
      if (marked.has(node) && !goals.has(node)) continue;
      const key = `${levels.get(node).level} ${goals.has(node)} ${[...found]}`;
      if (!alike.has(key)) alike.set(key, []);
      alike.get(key).push(node);
    }
    const hidden = new Map();
    for (const [key, nodes] of alike) {
      const found = goals.has(nodes[0]), [above, to] = found ? [10, 8] : [8, 6];
      if (nodes.length <= above || opened.has(key)) continue;
      const fold = { kind: "fold", key, found, size: nodes.length - to, column: 2 * levels.get(nodes[0]).level, group: null };
      nodes.slice(to).forEach((node) => hidden.set(node, fold));
    }
    return hidden;
  }

  // Return the hop of each triple: 1 if it touches a linked entity.
  function hops(data) {
    const all = data.triples.map((_, i) => i), levels = reach(data.triples, all, data.links.map((link) => link[0]));
    return data.triples.map(([s, , o]) => Math.min(levels.get(s).level, levels.get(o).level) + 1);
  }

  // Return the items of the diagram (nodes, relations, folds, rests) and the links between them. `left` has for entities
  // the number of their triples that are not known here.
  function plan(data, allowed, most, opened, marked, left) {
    const roots = data.links.map((link) => link[0]);
    const goals = new Set((data.gold || []).filter(([, found]) => found).map(([node]) => node));
    const { chosen, route } = pick(data, allowed, roots, goals, most);
    const levels = reach(data.triples, chosen, roots);
    const groups = bundle(data.triples, chosen, levels);
    const hidden = folds(groups, levels, goals, new Set([...marked, ...roots, ...left.keys()]), opened);
    const items = [], links = [], nodes = new Map();
    const item = (term) => {
      const fold = hidden.get(term), key = fold || term;
      if (!nodes.has(key)) {
        nodes.set(key, fold || { kind: "node", term, column: 2 * levels.get(term).level, group: null });
        nodes.get(key).numbers = [];
        items.push(nodes.get(key));
      }
      return nodes.get(key);
    };
    roots.forEach(item);
    for (const group of groups) {
      const numbers = group.pairs.flatMap((pair) => pair.numbers);
      const relation = { kind: "relation", term: group.relation, column: 2 * group.level + 1, numbers };
      relation.route = numbers.some((i) => route.has(i));
      const ends = [new Map(), new Map()];
      for (const pair of group.pairs) {
        [pair.anchor, pair.member].forEach((term, far) => {
          const end = item(term);
          end.numbers.push(...pair.numbers);
          if (far) end.group = end.group || relation;
          ends[far].set(end, [...(ends[far].get(end) || []), ...pair.numbers]);
        });
      }
      items.push(relation);
      // An edge runs from left to right; `at` is its entity end, `head` is whether it has an arrow there.
      ends.forEach((map, far) => map.forEach((along, end) => {
        const onward = end.column > relation.column;
        links.push({
          a: onward ? relation : end, b: onward ? end : relation, at: end, numbers: along,
          head: Boolean(group.ways & (far ? 1 : 2)), route: along.some((i) => route.has(i)),
        });
      }));
    }
    for (const [term, rest] of left) {
      const from = nodes.get(term);
      if (!from || !rest) continue;
      const item = { kind: "rest", term, rest, column: from.column + 1, numbers: [], group: null };
      items.push(item);
      links.push({ a: from, b: item, at: item, numbers: [], head: false, route: false });
    }
    return { items, links, route, drawn: chosen.length };
  }

  // Least-squares positions with fixed order and distances: pool adjacent violators.
  function settle(column, wanted) {
    const offsets = [], pools = [];
    column.forEach((item, i) => {
      const above = column[i - 1];
      const gap = above && above.group && above.group === item.group ? 7 : 17;
      offsets.push(i ? offsets[i - 1] + (above.h + item.h) / 2 + gap : 0);
      pools.push({ sum: wanted[i] - offsets[i], size: 1 });
      while (pools.length > 1) {
        const [p, q] = pools.slice(-2);
        if (p.sum / p.size <= q.sum / q.size) break;
        pools.splice(-2, 2, { sum: p.sum + q.sum, size: p.size + q.size });
      }
    });
    let i = 0;
    for (const pool of pools) for (let n = 0; n < pool.size; n++, i++) column[i].y = pool.sum / pool.size + offsets[i];
  }

  // Set x and the middle y of each measured item (w, h); return the size of the diagram.
  function place(items, links, room) {
    const columns = [];
    items.forEach((item) => { (columns[item.column] = columns[item.column] || []).push(item); item.ties = []; });
    const full = columns.filter(Boolean);
    if (!full.length) return { width: 1, height: 1 };
    links.forEach(({ a, b }) => { a.ties.push(b); b.ties.push(a); });
    full.forEach((column) => settle(column, column.map(() => 0)));
    const pull = (column, among, sort) => {
      const wanted = new Map(column.map((item) => {
        const ties = item.ties.filter(among(item));
        return [item, ties.length ? ties.reduce((sum, tie) => sum + tie.y, 0) / ties.length : item.y];
      }));
      if (sort) column.sort((a, b) => wanted.get(a) - wanted.get(b));
      settle(column, column.map((item) => wanted.get(item)));
    };
    const left = (item) => (tie) => tie.column < item.column, right = (item) => (tie) => tie.column > item.column;
    for (let round = 0; round < 4; round++) {
      full.slice(1).forEach((column) => pull(column, left, true));
      full.slice(0, -1).reverse().forEach((column) => pull(column, right, round < 3));
    }
    for (let round = 0; round < 6; round++) full.forEach((column) => pull(column, () => () => true, false));
    const widths = full.map((column) => Math.max(...column.map((item) => item.w)));
    const spare = room - widths.reduce((sum, width) => sum + width, 0);
    const gap = Math.min(84, Math.max(38, spare / Math.max(1, full.length - 1)));
    let x = 0;
    full.forEach((column, i) => {
      column.forEach((item) => { item.x = x + (item.column % 2 ? (widths[i] - item.w) / 2 : 0); });
      x += widths[i] + gap;
    });
    const top = Math.min(...items.map((item) => item.y - item.h / 2));
    items.forEach((item) => { item.y -= top; });
    return { width: x - gap, height: Math.max(...items.map((item) => item.y + item.h / 2)) };
  }

  return { plan, place, hops };
})();
