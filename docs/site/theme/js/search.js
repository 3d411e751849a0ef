// Search over all sections of the site. The index is a script, loaded when the box is first used, so that it works from a file, too.
(function () {
  "use strict";
  const box = document.getElementById("site-search");
  const list = document.getElementById("site-search-results");
  if (!box) return;
  const MOST = 12;
  let wanted = false, chosen = -1;

  function load() {
    if (wanted) return;
    wanted = true;
    const script = document.createElement("script");
    script.src = box.dataset.index;
    script.onload = show;
    script.onerror = () => tell("The index of the search could not be read: " + box.dataset.index);
    document.head.appendChild(script);
  }

  // Begins of the words that are looked for, in small letters.
  function words() {
    return window.cambium_rank.terms(box.value).map((term) => term.begin);
  }

  function marked(text, asked) {
    const holder = document.createElement("span");
    const pattern = new RegExp("(" + asked.map((w) => w.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join("|") + ")", "ig");
    text.split(pattern).forEach((part, k) => {
      const piece = document.createElement(k % 2 ? "mark" : "span");
      piece.textContent = part;
      holder.appendChild(piece);
    });
    return holder;
  }

  function around(text, asked) {
    const at = Math.max(0, Math.min(...asked.map((w) => text.toLowerCase().indexOf(w)).filter((k) => k >= 0), text.length) - 50);
    return (at ? "… " : "") + text.slice(at, at + 150) + (at + 150 < text.length ? " …" : "");
  }

  function tell(text) {
    list.replaceChildren(document.createTextNode(text));
    list.hidden = false;
  }

  function show() {
    const asked = words();
    chosen = -1;
    list.hidden = asked.length === 0;
    if (list.hidden) return;
    if (!window.cambium_index) return tell("…");
    const found = window.cambium_rank.rank(window.cambium_index, box.value, MOST);
    if (!found.length) return tell("Nothing found for “" + box.value.trim() + "”");
    list.replaceChildren(...found.map(({ section }) => {
      const link = document.createElement("a");
      link.href = box.dataset.root.replace(/\/?$/, "/") + section.p;
      link.setAttribute("role", "option");
      const title = document.createElement("strong");
      title.appendChild(marked(section.t, asked));
      const text = document.createElement("small");
      text.appendChild(marked(around(section.b, asked), asked));
      link.append(title, text);
      link.addEventListener("click", () => { list.hidden = true; });
      return link;
    }));
  }

  function choose(step) {
    const links = list.querySelectorAll("a");
    if (!links.length) return;
    if (chosen >= 0) links[chosen].classList.remove("chosen");
    chosen = (chosen + step + links.length) % links.length;
    links[chosen].classList.add("chosen");
    links[chosen].scrollIntoView({ block: "nearest" });
  }

  box.addEventListener("focus", load);
  box.addEventListener("input", () => { load(); show(); });
  box.addEventListener("keydown", (event) => {
    const steps = { ArrowDown: 1, ArrowUp: -1 };
    if (event.key in steps) { event.preventDefault(); choose(steps[event.key]); }
    if (event.key === "Escape") { box.value = ""; show(); box.blur(); }
    if (event.key === "Enter") {
      event.preventDefault();
      const links = list.querySelectorAll("a");
      if (links.length) links[Math.max(0, chosen)].click();
    }
  });
  document.addEventListener("click", (event) => { if (!event.target.closest(".site-search")) list.hidden = true; });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) { event.preventDefault(); box.focus(); }
  });
})();
