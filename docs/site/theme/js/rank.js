// Ranking of the site's search: BM25 over sections, with headings first. Questions may be whole sentences: common words are left out, endings are
// cut, and a section need not hold every word. Runs in the browser (window.cambium_rank) and in Node (the test).
(function (root) {
  "use strict";
  const COMMON = new Set(("a about an and another any are as at be but by can could did do does for from get give given go had has have how i if in into is it its " +
    "let like make me my need no not of on one or our set should so some that the their them then there these this to up use used using want was we " +
    "were what when where which while who why will with without would you your").split(" "));
  const KINDS = [[/^(using|tutorials)\//, 1.4], [/^index/, 1.2], [/^plugins\/\w+\.html/, 1.1], [/^reference\/deck/, 1.0], [/^plugins\/\w+\/method/, 0.9],
    [/^(changelog|benchmarks|errors|reference\/messages|plugins\/\w+\/measured)/, 0.5], [/./, 0.8]];

  // Begins of words that the asked word may have: without its ending, with a hyphen or in one piece.
  function stem(word) {
    const short = word.replace(/(ations?|ingly|ings?|edly|ed|ously|ly|es|s)$/, "");
    return short.length >= 4 ? short.replace(/(.)\1$/, "$1") : word.replace(/s$/, "");
  }

  function terms(question) {
    const words = question.toLowerCase().match(/[\p{L}\p{N}_]+(?:-[\p{L}\p{N}_]+)*/gu) || [];
    const kept = words.filter((w) => !COMMON.has(w));
    return [...new Set(kept.length ? kept : words)].map((word) => {
      const begin = stem(word), pattern = begin.replace(/-/g, "[- ]?");  // words hold letters, digits, _ and hyphens only
      return { begin, pattern: new RegExp("(?<![\\p{L}\\p{N}])" + pattern, "giu") };
    });
  }

  function count(text, pattern) {
    let n = 0;
    pattern.lastIndex = 0;
    while (n < 50 && pattern.exec(text)) ++n;
    return n;
  }

  // The sections that answer best, [{score, section}], best first.
  function rank(index, question, most) {
    const asked = terms(question);
    if (!asked.length) return [];
    const mean = index.reduce((sum, s) => sum + s.b.length, 0) / Math.max(1, index.length);
    const found = index.map((section) => ({
      section, title: asked.map((t) => count(section.t, t.pattern)), text: asked.map((t) => count(section.b, t.pattern)),
    }));
    const weight = asked.map((_, k) => {
      const n = found.filter((f) => f.title[k] + f.text[k] > 0).length;
      return n ? Math.log(1 + index.length / n) : 0;
    });
    const all = weight.reduce((a, b) => a + b, 0);
    const out = [];
    for (const f of found) {
      const length = 0.4 + 0.6 * Math.min(4, f.section.b.length / mean);
      let sum = 0, held = 0;
      asked.forEach((_, k) => {
        if (!f.title[k] && !f.text[k]) return;
        held += weight[k];
        sum += weight[k] * ((f.text[k] * 2.2) / (f.text[k] + 1.2 * length) + (f.title[k] ? 2.5 : 0));
      });
      if (!held) continue;
      const kind = KINDS.find(([pattern]) => pattern.test(f.section.p))[1];
      out.push({ section: f.section, score: sum * kind * (held / all) ** 2 });
    }
    return out.sort((a, b) => b.score - a.score).slice(0, most);
  }

  const shared = { rank, terms };
  if (typeof module !== "undefined") module.exports = shared;
  else root.cambium_rank = shared;
})(typeof window === "undefined" ? globalThis : window);
