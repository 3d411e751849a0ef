// Marks the tables of keys and says in each cell what it holds: css/cambium.css shows a key as a block on phones.
for (const table of document.querySelectorAll("table")) {
  const names = [...table.querySelectorAll("th")].map((cell) => cell.textContent.trim().toLowerCase());
  if (names.length !== 6 || names[0] !== "key") continue;
  table.classList.add("keys");
  for (const row of table.tBodies[0].rows) [...row.cells].forEach((cell, k) => { cell.dataset.name = names[k]; });
}
