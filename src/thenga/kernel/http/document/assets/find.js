// Shows only what contains every word of the search; opens the operation that the address names.
// The page has no script in its markup, so that its Content-Security-Policy can be strict.
const field = document.getElementById("find");
const entries = [...document.querySelectorAll("[data-find]")];

function find() {
  const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
  for (const entry of entries) {
    entry.hidden = !words.every((word) => entry.dataset.find.includes(word));
  }
  for (const group of document.querySelectorAll(".group")) {
    group.hidden = !group.querySelector("[data-find]:not([hidden])");
  }
}

function openNamed() {
  const named = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const operation = named?.closest("details.operation");
  if (operation) {
    operation.open = true;
    operation.scrollIntoView();
  }
  for (const link of document.querySelectorAll("aside a")) {
    if (link.hash === location.hash) link.closest("details").open = true;
  }
}

field.addEventListener("input", find);
window.addEventListener("hashchange", openNamed);
find();
openNamed();
