/** Extra classes for a component's parts. */
export type ClassNames<Slot extends string> = Partial<Record<Slot, string>>;

export function cx(...names: (string | false | undefined)[]): string {
  return names.filter(Boolean).join(" ");
}
