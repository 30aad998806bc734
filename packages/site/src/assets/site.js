const root = document.documentElement;
const saved = localStorage.getItem("theme");
if (saved) root.dataset.theme = saved;

document.querySelector(".theme")?.addEventListener("click", () => {
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  localStorage.setItem("theme", root.dataset.theme);
});

// On a phone the list of pages starts closed: the page itself comes first.
if (matchMedia("(max-width: 48rem)").matches)
  document.querySelector(".pages details")?.removeAttribute("open");

// In a long list the current page is shown, without moving the page itself.
const list = document.querySelector(".pages");
const current = list?.querySelector("[aria-current]");
if (current) list.scrollTop = current.offsetTop - list.offsetTop - list.clientHeight / 2;

for (const button of document.querySelectorAll(".copy")) {
  button.addEventListener("click", async () => {
    await navigator.clipboard.writeText(button.nextElementSibling.textContent);
    button.textContent = "Copied";
    setTimeout(() => {
      button.textContent = "Copy";
    }, 1500);
  });
}

const form = document.querySelector(".search");
const input = form?.querySelector("input");
const results = form?.querySelector(".results");
let latest = 0;

async function search() {
  const query = input.value.trim();
  const turn = ++latest;
  if (query === "") {
    results.hidden = true;
    return;
  }
  const response = await fetch(`/docs/search.json?q=${encodeURIComponent(query)}`);
  if (!response.ok || turn !== latest) return;
  const hits = (await response.json()).results;
  const chosen = results.contains(document.activeElement) ? document.activeElement.href : null;
  results.replaceChildren(...hits.map(toItem));
  results.hidden = hits.length === 0;
  if (chosen !== null) focusHit(chosen);
}

/** Whoever stands on a hit stays on it when a later answer draws the list anew. */
function focusHit(href) {
  const links = [...results.querySelectorAll("a")];
  (links.find((link) => link.href === href) ?? links[0] ?? input).focus();
}

function toItem({ path, title, heading, anchor }) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = `/docs/${path}${anchor ? `#${anchor}` : ""}`;
  link.textContent = title;
  if (heading !== title) {
    const detail = document.createElement("small");
    detail.textContent = heading;
    link.append(detail);
  }
  item.append(link);
  return item;
}

let pause;
input?.addEventListener("input", () => {
  clearTimeout(pause);
  pause = setTimeout(search, 120);
});
form?.addEventListener("keydown", (event) => {
  const links = [...results.querySelectorAll("a")];
  const at = links.indexOf(document.activeElement);
  if (event.key === "Escape") {
    input.focus();
    results.hidden = true;
    // An answer that is still on its way would show them again.
    latest++;
  }
  if (event.key === "ArrowDown") links[Math.min(at + 1, links.length - 1)]?.focus();
  if (event.key === "ArrowUp") (links[at - 1] ?? input).focus();
  if (event.key === "ArrowDown" || event.key === "ArrowUp") event.preventDefault();
});
document.addEventListener("click", (event) => {
  if (results && !form.contains(event.target)) results.hidden = true;
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "/" || event.target.closest("input, textarea, select, [contenteditable]")) return;
  event.preventDefault();
  input?.focus();
});
