// Before the first paint, or a page of the other theme would flash.
try {
  const saved = localStorage.getItem("upstow-theme");
  if (saved === "light" || saved === "dark") document.documentElement.dataset.theme = saved;
} catch {
  // Storage can be blocked; then the system decides.
}
