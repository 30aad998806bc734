export const themes = ["system", "light", "dark"] as const;
export type Theme = (typeof themes)[number];

export function readTheme(): Theme {
  return themes.find((theme) => theme === localStorage.getItem("upstow-theme")) ?? "system";
}

export function applyTheme(theme: Theme): void {
  if (theme === "system") {
    localStorage.removeItem("upstow-theme");
    document.documentElement.removeAttribute("data-theme");
    return;
  }
  localStorage.setItem("upstow-theme", theme);
  document.documentElement.setAttribute("data-theme", theme);
}
