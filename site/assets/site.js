"use strict";
(() => {
  const id = (name) => document.getElementById(name);
  const root = new URL(document.querySelector("a.brand").href.replace(/index\.html$/, ""));
  const make = (tag, text, ...children) => {
    const element = document.createElement(tag);
    if (text) element.textContent = text;
    element.append(...children);
    return element;
  };
  const link = (address, text, style = "code") => {
    const element = make("a", text);
    element.href = new URL(address, root);
    element.className = style;
    return element;
  };

  // A server needs no index.html: the shorter address is the one to share.
  if (location.protocol.startsWith("http") && location.pathname.endsWith("/index.html")) {
    history.replaceState(null, "", location.pathname.slice(0, -10) + location.search + location.hash);
  }
  // From a disk, the address means nothing to others.
  for (const code of location.protocol === "file:" ? [] : document.querySelectorAll("[data-site]")) {
    code.textContent = code.textContent.replaceAll("SITE/", root);
  }
  for (const button of document.querySelectorAll("[data-copy]")) {
    button.addEventListener("click", async () => {
      const code = id(button.dataset.copy);
      getSelection().selectAllChildren(code);
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = "Copied";
      } catch { button.textContent = "Selected: copy it"; }
    });
  }

  const field = id("q");
  document.addEventListener("keydown", (event) => {
    const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(document.activeElement.tagName);
    if (event.key === "/" && !isTyping && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      field.focus();
    }
  });

  // Search.
  const found = id("found");
  if (found) {
    const all = ATF_SEARCH.map((entry) => ({ entry, name: entry[1].toLowerCase(), text: `${entry[0]} ${entry[1]} ${entry[2]}`.toLowerCase() }));
    // The lower, the better: the whole name, its beginning, a part of it, its text.
    const rank = ({ name }, words) => {
      const whole = words.join(" ");
      if (name === whole) return 0;
      if (name.startsWith(whole)) return 1;
      return words.every((word) => name.includes(word)) ? 2 : 3;
    };
    const KINDS = ["rule", "field", "document", "decision", "case", "claim", "result"];
    const kind = ({ entry }) => KINDS.indexOf(entry[0]);
    const search = () => {
      const words = field.value.toLowerCase().split(/\s+/).filter((word) => word);
      const hits = words.length ? all.filter(({ text }) => words.every((word) => text.includes(word))) : [];
      hits.sort((a, b) => rank(a, words) - rank(b, words) || kind(a) - kind(b));
      found.replaceChildren(...hits.slice(0, 100).map(({ entry: [kind, name, text, address] }) => {
        const tag = make("span", kind);
        tag.className = "tag";
        return make("li", "", tag, link(address, name), text);
      }));
      if (words.length) id("hint").textContent = `${hits.length} found${hits.length > 100 ? "; the first 100 are shown" : ""}. ↑ and ↓ move between them.`;
    };
    field.value = new URLSearchParams(location.search).get("q") ?? "";
    field.addEventListener("input", search);
    field.form.addEventListener("submit", (event) => {
      event.preventDefault();
      found.querySelector("a")?.focus();
    });
    document.addEventListener("keydown", (event) => {
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      const links = [field, ...found.querySelectorAll("a")];
      const now = links.indexOf(document.activeElement);
      if (!step || now < 0) return;
      event.preventDefault();
      links[Math.max(0, Math.min(links.length - 1, now + step))].focus();
    });
    search();
    field.focus();
  }

  // One's own results.
  const drop = id("drop");
  if (!drop) return;
  const answer = id("answer");
  const failed = (message) => {
    const text = make("p", message);
    text.className = "headline bad";
    text.setAttribute("role", "alert");
    answer.replaceChildren(text);
  };
  const row = (testee, one) => {
    const key = `${one.role} ${one.case}`;
    const name = (seq) => ATF_RESULTS.names[seq];
    const others = (ATF_RESULTS.failed[key] ?? []).map(name).filter((other) => other !== testee.name);
    const isGraded = (ATF_RESULTS.passed[key] ?? []).map(name).some((other) => other !== testee.name);
    const isKnown = ATF_RESULTS.cases.includes(one.case);
    const state = make("span", one.listed === null ? "✗ failed" : "~ known");
    state.className = one.listed === null ? "state failed" : "state known";
    const rules = new Set((one.differences ?? []).map((it) => it.rule).filter((it) => ATF_RESULTS.rules.includes(it)));
    const only = !others.length && isGraded;
    const line = make("tr", "",
      make("th", "", isKnown ? link(`cases/${one.case}/index.html`, one.case) : one.case),
      make("td", "", state, ` ${one.role}`),
      make("td", `${one.class}: ${one.message}`),
      make("td", "", ...[...rules].flatMap((rule) => [link(`rules/${rule}/index.html`, rule), " "])),
      make("td", "", only ? make("b", "only you") : others.join(", ") || "not graded there"));
    line.firstChild.scope = "row";
    line.dataset.only = only;
    return line;
  };
  const shown = (report, testee, seq) => {
    const own = report.cases.filter((one) => one.testee === seq);
    const rows = own.filter((one) => one.outcome === "failed").map((one) => row(testee, one));
    const passed = own.filter((one) => one.outcome === "passed").length;
    const only = rows.filter((line) => line.dataset.only === "true").length;
    const heading = make("h2", `${testee.name} ${testee.version}`);
    const count = make("p", testee.refused ? `Not graded: ${testee.refused}` : `${passed} passed, ${rows.length} failed; only you fail ${only} of them.`);
    if (!rows.length) return [heading, count];
    const box = make("input");
    box.type = "checkbox";
    box.addEventListener("change", () => {
      for (const line of rows) line.hidden = box.checked && line.dataset.only !== "true";
    });
    const heads = ["Case", "Result", "Answer", "Broken rules", "Who else fails"].map((name) => make("th", name));
    for (const head of heads) head.scope = "col";
    const table = make("div", "", make("table", "", make("thead", "", make("tr", "", ...heads)), make("tbody", "", ...rows)));
    table.className = "scroll";
    table.firstChild.className = "failures";
    table.tabIndex = 0;
    table.setAttribute("role", "region");
    table.setAttribute("aria-label", `Failures of ${testee.name}`);
    return [heading, count, make("p", "", make("label", "", box, " Only what only you fail")), table];
  };
  const read = async (file) => {
    const expected = "expected the JSON report of a run: atf-conformance run --report json=results.json";
    let report;
    try { report = JSON.parse(await file.text()); } catch (error) { return failed(`${file.name}: ${expected} (${error.message})`); }
    if (report?.format !== 2) return failed(`${file.name}: ${expected}, format 2; found ${report?.format === undefined ? "none" : `format ${report.format}`}`);
    try {
      answer.replaceChildren(...report.testees.flatMap((testee, seq) => shown(report, testee, seq)));
    } catch (error) { failed(`${file.name}: ${expected} (${error.message})`); }
  };
  id("file").addEventListener("change", ({ target }) => { if (target.files[0]) read(target.files[0]); });
  addEventListener("dragover", (event) => { event.preventDefault(); drop.classList.add("over"); });
  addEventListener("dragleave", () => drop.classList.remove("over"));
  addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    if (event.dataTransfer.files[0]) read(event.dataTransfer.files[0]);
  });
})();
