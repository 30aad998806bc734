/** An icon of `icons.ts` as markup. It is decorative: the adjacent text, or the button's label, has the meaning. */
export function drawIcon(shapes: string, className = "icon"): string {
  return `<svg class="${className}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${shapes}</svg>`;
}
