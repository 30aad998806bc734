/** Where the most important part of an image is, seen upright: from 0, left and top, to 1. */
export interface FocusPoint {
  x: number;
  y: number;
}

/** As rows have it, and as it is part of a variant's identity. */
export function formatFocus({ x, y }: FocusPoint): string {
  return `${x},${y}`;
}

export function readFocus(text: string | null): FocusPoint | null {
  const [x, y] = text?.split(",").map(Number) ?? [];
  return x === undefined || y === undefined ? null : { x, y };
}
