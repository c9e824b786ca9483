"use strict";
(() => {
  const root = document.documentElement;
  root.classList.add("js");
  const id = (name) => document.getElementById(name);

  // Colours: the system's, or chosen here.
  const theme = id("theme");
  const themes = ["automatic", "light", "dark"];
  const stored = () => { try { return localStorage.getItem("atf-theme"); } catch { return null; } };
  const setTheme = (name) => {
    root.dataset.theme = name;
    theme.textContent = `Colours: ${name}`;
    try { localStorage.setItem("atf-theme", name); } catch { /* a page from a file may have no storage */ }
  };
  setTheme(themes.includes(stored()) ? stored() : "automatic");
  theme.addEventListener("click", () => {
    setTheme(themes[(themes.indexOf(root.dataset.theme) + 1) % themes.length]);
  });

  // A link into folded sections opens them, and on paper they all are. `set` sets the filters, if the page has any.
  let set = null;
  const open = () => {
    if (location.hash.startsWith("#?")) {
      set?.(Object.fromEntries(new URLSearchParams(location.hash.slice(2))));
      return;
    }
    const target = location.hash && id(location.hash.slice(1));
    const details = target && target.closest("details");
    if (details) {
      if (details.hidden) set?.({});
      for (let fold = details; fold; fold = fold.parentElement.closest("details")) fold.open = true;
      details.querySelector("summary").focus();
      target.scrollIntoView();
    }
  };
  addEventListener("hashchange", open);
  // A second click on the same link does not change the URL.
  document.addEventListener("click", (event) => {
    const link = event.target.closest('a[href^="#"]');
    if (link && link.hash === location.hash) open();
  });
  addEventListener("beforeprint", () => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
  });

  // Filters of results and failures, kept in the URL so a view can be shared.
  const form = id("filters");
  if (!form) {
    open();
    return;
  }
  const letters = { state: "s", testee: "t", role: "r", wire: "c", rule: "u", verdict: "v" };
  const names = [...form.elements].map((control) => control.name).filter((name) => name);
  const words = (text) => (text ?? "").split(" ");
  // Filters apply to the children of lists; their data attributes hold the words to match.
  const lists = new Map();
  for (const list of document.querySelectorAll("[data-list]")) {
    const all = lists.get(list.dataset.list) ?? [];
    lists.set(list.dataset.list, all);
    const heading = list.closest("details")?.querySelector("summary").textContent ?? "";
    for (const element of list.children) all.push({ element, text: `${heading} ${element.textContent}`.toLowerCase() });
  }
  // Folded sections: hidden if no child is left, opened if one matches a filter.
  const folds = [...document.querySelectorAll("details:has([data-list])")];
  const fits = (one, want) => names.every((name) => {
    if (!want[name]) return true;
    if (name === "text") return words(want.text.toLowerCase()).every((word) => one.text.includes(word));
    const own = words(one.element.dataset[letters[name]]);
    return words(want[name]).some((word) => own.includes(word));
  });
  const show = (all, want) => {
    let count = 0;
    for (const one of all) {
      const fit = fits(one, want);
      if (one.element.hidden === fit) one.element.hidden = !fit;
      if (fit) count += 1;
    }
    return count;
  };
  const wanted = () => Object.fromEntries(names.map((name) => [name, form.elements[name].value.trim()]));
  const apply = () => {
    const want = wanted();
    id("count").textContent = [...lists]
      .map(([name, all]) => `${show(all, want)} of ${all.length} ${name}`).join(", ");
    const set = Object.entries(want).filter(([, value]) => value);
    for (const fold of folds) {
      fold.hidden = !fold.querySelector("[data-list] > :not([hidden])");
      if (set.length) fold.open = !fold.hidden;
    }
    const hash = set.length ? `#?${new URLSearchParams(set)}` : "#";
    if (hash !== location.hash && !(hash === "#" && !location.hash.startsWith("#?"))) {
      history.replaceState(null, "", hash);
    }
  };
  set = (values) => {
    for (const name of names) form.elements[name].value = values[name] ?? "";
    apply();
  };
  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 120);
  });
  form.addEventListener("submit", (event) => { event.preventDefault(); apply(); });
  form.addEventListener("reset", () => setTimeout(apply));

  // A matrix cell filters by its results and opens its failure, if any.
  id("matrix")?.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-u]");
    if (!link) return;
    const { t: testee, r: role, u: rule } = link.dataset;
    set({ testee, role, rule });
  });
  const toggle = (isOpen) => {
    const all = document.querySelectorAll("[data-list] > details:not([hidden])");
    for (const one of [...folds, ...all]) one.open = isOpen;
  };
  id("open-all")?.addEventListener("click", () => toggle(true));
  id("close-all")?.addEventListener("click", () => toggle(false));
  // Filters in the URL take precedence over the empty form.
  if (!location.hash.startsWith("#?")) apply();
  open();
})();
