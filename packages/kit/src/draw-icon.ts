/** An icon of `icons.ts` as markup. It is decoration: the text beside it, or the button's label, says what it means. */
export function drawIcon(shapes: string, className = "icon"): string {
  return `<svg class="${className}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.75" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${shapes}</svg>`;
}
