const root = document.documentElement;

document.querySelector(".theme")?.addEventListener("click", () => {
  const isDark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = isDark ? "light" : "dark";
  store("upstow-theme", root.dataset.theme);
});

/** Storage can be blocked or full, and nothing here depends on it. */
function store(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {}
}
function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

// The list of pages is long: show where the reader is in it, and start closed on phones.
const pages = document.querySelector(".pages");
if (pages && matchMedia("(max-width: 56rem)").matches) pages.querySelector("details").open = false;
const current = pages?.querySelector("[aria-current]");
if (current) pages.scrollTop = current.offsetTop - pages.offsetTop - pages.clientHeight / 2;

document.addEventListener("click", async (event) => {
  const button = event.target.closest?.(".copy");
  if (!button) return;
  const code = button.closest(".code")?.querySelector("code") ?? button.previousElementSibling;
  await navigator.clipboard.writeText(code.textContent);
  const label = button.querySelector("span");
  label.textContent = "Copied";
  setTimeout(() => {
    label.textContent = "Copy";
  }, 1500);
});

// Tabs: one choice for all sets of a group, on every page.
const tabSets = [...document.querySelectorAll("[data-tabs]")];

function selectTab(set, wanted) {
  const tabs = [...set.querySelectorAll("[role=tab]")];
  const tab = tabs.find(({ textContent }) => textContent === wanted);
  if (!tab) return;
  for (const one of tabs) {
    const isSelected = one === tab;
    one.setAttribute("aria-selected", isSelected);
    one.tabIndex = isSelected ? 0 : -1;
    document.getElementById(one.getAttribute("aria-controls")).hidden = !isSelected;
  }
}

function choose(set, tab) {
  const top = tab.getBoundingClientRect().top;
  for (const other of tabSets) if (other.dataset.tabs === set.dataset.tabs) selectTab(other, tab.textContent);
  store(`upstow-tab-${set.dataset.tabs}`, tab.textContent);
  // What was clicked stays under the pointer, however long the panels above have become.
  scrollBy({ top: tab.getBoundingClientRect().top - top, behavior: "instant" });
}

for (const set of tabSets) {
  const tabs = [...set.querySelectorAll("[role=tab]")];
  selectTab(set, tabs[0].textContent);
  selectTab(set, recall(`upstow-tab-${set.dataset.tabs}`));
  set.querySelector("[role=tablist]").addEventListener("click", ({ target }) => {
    if (target.closest("[role=tab]")) choose(set, target.closest("[role=tab]"));
  });
  set.querySelector("[role=tablist]").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    choose(set, next);
    next.focus();
    next.scrollIntoView({ block: "nearest", inline: "nearest" });
  });
}

// The outline follows the reader.
const outline = [...document.querySelectorAll(".outline a")];
if (outline.length > 0) {
  const targets = outline.map(({ hash }) => document.getElementById(decodeURIComponent(hash.slice(1))));
  const mark = () => {
    const line = 120;
    const isAtEnd = innerHeight + scrollY >= root.scrollHeight - 4;
    const last = isAtEnd
      ? targets.length - 1
      : targets.findLastIndex((target) => target?.getBoundingClientRect().top <= line);
    outline.forEach((link, i) => {
      if (i === Math.max(0, last)) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    });
  };
  addEventListener("scroll", mark, { passive: true });
  mark();
}

// Search: a dialog over the page. Without script, the link leads to a page that does the same.
const opener = document.querySelector(".search-open");
const isApple = /Mac|iPhone|iPad/.test(navigator.platform);
const shortcut = document.querySelector("[data-shortcut]");
if (shortcut && !isApple) shortcut.textContent = "Ctrl K";

let palette;
let latest = 0;
let pause;

function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

const starts = [
  ["/docs/quick-start", "Quick start"],
  ["/docs/reference/api/uploads", "API reference"],
  ["/docs/guides/webhooks", "Webhooks"],
  ["/docs/guides/images", "Image variants"],
  ["/docs/configuration", "Configuration"],
  ["/components", "Components"],
  ["/dashboard", "Dashboard"],
];

function openSearch() {
  palette ??= createPalette();
  if (palette.dialog.open) return;
  palette.dialog.showModal();
  palette.input.select();
  if (palette.input.value === "") showStarts();
}

function createPalette() {
  const input = make("input", {
    type: "search",
    "aria-label": "Search the docs",
    placeholder: "Search the docs",
    autocomplete: "off",
    maxlength: "200",
  });
  const results = make("ul", { class: "results" });
  const status = make("p", { role: "status", class: "palette-status" });
  const hint = make("p", { class: "palette-keys", "aria-hidden": "true" });
  for (const [key, text] of [
    ["↑↓", "select"],
    ["↵", "open"],
    ["esc", "close"],
  ])
    hint.append(make("span", {}, make("kbd", { class: "kbd" }, key), ` ${text}`));
  const close = make("button", { type: "button", class: "button small" }, "Close");
  const bar = make(
    "div",
    { class: "palette-bar" },
    opener.querySelector("svg").cloneNode(true),
    input,
    close,
  );
  const dialog = make("dialog", { class: "palette", "aria-label": "Search" }, bar, status, results, hint);
  document.body.append(dialog);
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  // An answer that is still on its way has nothing to show.
  dialog.addEventListener("close", () => latest++);
  input.addEventListener("input", () => {
    clearTimeout(pause);
    pause = setTimeout(search, 120);
  });
  dialog.addEventListener("keydown", (event) => {
    const links = [...results.querySelectorAll("a")];
    const at = links.indexOf(document.activeElement);
    if (event.key === "ArrowDown") links[Math.min(at + 1, links.length - 1)]?.focus();
    else if (event.key === "ArrowUp") (links[at - 1] ?? input).focus();
    // In a search field, browsers clear the text first.
    else if (event.key === "Escape") dialog.close();
    else if (event.key === "Enter" && document.activeElement === input) links[0]?.click();
    else return;
    event.preventDefault();
  });
  // A link to a heading of this page leaves the page as it is.
  results.addEventListener("click", () => dialog.close());
  return { dialog, input, results, status };
}

function showStarts() {
  palette.status.textContent = "";
  palette.results.replaceChildren(...starts.map(([href, text]) => make("li", {}, make("a", { href }, text))));
}

async function search() {
  const query = palette.input.value.trim();
  const turn = ++latest;
  if (query === "") return showStarts();
  const response = await fetch(`/docs/search.json?q=${encodeURIComponent(query)}`).catch(() => null);
  if (turn !== latest) return;
  const { results, status } = palette;
  if (!response?.ok) {
    results.replaceChildren();
    status.textContent = "Search is unavailable. Try again in a moment.";
    return;
  }
  const hits = (await response.json()).results;
  if (turn !== latest) return;
  const focused = results.contains(document.activeElement) ? document.activeElement.href : null;
  results.replaceChildren(...hits.map(toItem));
  status.textContent =
    hits.length === 0
      ? `No results for “${query}”. Try fewer or different words.`
      : `${hits.length} ${hits.length === 1 ? "result" : "results"}`;
  if (focused !== null) focusHit(focused);
}

/** A reader who moved to a hit stays on it when a later response redraws the list. */
function focusHit(href) {
  const links = [...palette.results.querySelectorAll("a")];
  (links.find((link) => link.href === href) ?? links[0] ?? palette.input).focus();
}

function toItem({ path, title, heading, anchor, excerpt }) {
  const link = make("a", { href: `/docs/${path}${anchor ? `#${anchor}` : ""}` }, make("strong", {}, title));
  if (heading !== title) link.append(` › ${heading}`);
  link.append(make("small", {}, excerpt));
  return make("li", {}, link);
}

opener?.addEventListener("click", (event) => {
  if (event.metaKey || event.ctrlKey) return;
  event.preventDefault();
  openSearch();
});
document.addEventListener("keydown", (event) => {
  // The pages for visitors have no search.
  if (!opener) return;
  const isTyping = event.target.closest?.("input, textarea, select, [contenteditable]");
  const isShortcut = (event.metaKey || event.ctrlKey) && event.key.toLowerCase() === "k";
  if (!isShortcut && (event.key !== "/" || isTyping)) return;
  event.preventDefault();
  openSearch();
});
