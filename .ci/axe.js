// Runs axe on a page opened by .ci/site, in the colour scheme named in its URL, and writes the findings into the page.
"use strict";
document.documentElement.dataset.theme = location.search.slice(1);
axe.run().then((found) => {
  const lines = found.violations.map(({ id, nodes }) => `${id} (${nodes.length}): ${nodes[0].target} ${nodes[0].html}`);
  const pre = document.createElement("pre");
  pre.id = "axe";
  pre.textContent = lines.map((line) => line.replace(/\s+/g, " ")).join("; ") || "nothing";
  document.body.append(pre);
});
