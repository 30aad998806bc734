import { DELIVERY_STATUSES } from "@upstow/contract";
import { deliveryLabels } from "../../parts/failure-reason.ts";
import { toMoment } from "../../parts/moment.ts";

export interface DeliveryFilter {
  /** Part of a file's name, key or id. */
  text: string;
  status: string;
  routeSlug: string;
  url: string;
  /** Moments, as `<input type="datetime-local">` has them. */
  since: string;
  until: string;
}

export const statuses = DELIVERY_STATUSES.map(
  (status) => [status, deliveryLabels[status] ?? status] as const,
);
export const noFilter: DeliveryFilter = {
  text: "",
  status: "",
  routeSlug: "",
  url: "",
  since: "",
  until: "",
};

/** The query that the server accepts, without what is empty. */
export function toServerFilter({ since, until, ...rest }: DeliveryFilter): Record<string, string> {
  const times = { since: toMoment(new Date(since)), until: toMoment(new Date(until)) };
  const entries = Object.entries({ ...rest, ...times }).map(([name, value]) => [name, value.trim()]);
  return Object.fromEntries(entries.filter(([, value]) => value !== ""));
}
