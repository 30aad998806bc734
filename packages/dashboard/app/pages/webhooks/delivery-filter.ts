import { DELIVERY_STATUSES } from "@upstow/contract";

export interface DeliveryFilter {
  status: string;
  routeSlug: string;
  fileId: string;
  /** Moments, as `<input type="datetime-local">` has them. */
  since: string;
  until: string;
}

export const statuses: readonly string[] = DELIVERY_STATUSES;
export const noFilter: DeliveryFilter = { status: "", routeSlug: "", fileId: "", since: "", until: "" };

/** As the server takes it, in the query of the list and in the body of a redelivery. */
export function toServerFilter({ since, until, ...rest }: DeliveryFilter): Record<string, string> {
  const times = { since: toIso(since), until: toIso(until) };
  const entries = Object.entries({ ...rest, ...times }).map(([name, value]) => [name, value.trim()]);
  return Object.fromEntries(entries.filter(([, value]) => value !== ""));
}

function toIso(local: string): string {
  return local === "" ? "" : new Date(local).toISOString();
}
