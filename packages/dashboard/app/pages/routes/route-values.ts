import type { CreateRouterBody, Router } from "@upstow/contract";
import { type Amount, fromAmount, sizeUnits, timeUnits, toAmount } from "./amount-field.tsx";

type Settings = Omit<Router, "id" | "projectId" | "createdAt" | "updatedAt">;

/** A route as its form shows it. */
export interface RouteValues extends Omit<Settings, keyof Typed>, Typed {}

interface Typed {
  maxFileSize: Amount;
  webhookUrl: string;
  expireAfterDays: string;
  claimWithin: Amount;
  /** One per line. */
  formOrigins: string;
}

/** What a new route is unless its creator says otherwise. */
const defaults: Settings = {
  slug: "",
  allowedTypes: [],
  maxFileSize: null,
  webhookUrl: null,
  environment: "all",
  access: "public",
  expireAfterDays: null,
  claimWithin: null,
  keepLocation: false,
  checkContent: "off",
  stripMetadata: "off",
  scan: false,
  scanUnknown: "refuse",
  formOrigins: [],
};

export function toValues(route: Router | null): RouteValues {
  const { maxFileSize, webhookUrl, expireAfterDays, claimWithin, formOrigins, ...same } = route ?? defaults;
  return {
    ...same,
    maxFileSize: toAmount(maxFileSize, sizeUnits, "MB"),
    webhookUrl: webhookUrl ?? "",
    expireAfterDays: String(expireAfterDays ?? ""),
    claimWithin: toAmount(claimWithin, timeUnits, "hours"),
    formOrigins: formOrigins.join("\n"),
  };
}

/** Only what was changed: the rest may have been changed elsewhere meanwhile. */
export function changesOf(values: RouteValues, before: RouteValues): Partial<CreateRouterBody> {
  const known = new Map(Object.entries(toBody(before)).map(([name, value]) => [name, JSON.stringify(value)]));
  const changed = Object.entries(toBody(values)).filter(
    ([name, value]) => JSON.stringify(value) !== known.get(name),
  );
  return Object.fromEntries(changed);
}

function toBody(values: RouteValues): Required<CreateRouterBody> {
  const { maxFileSize, webhookUrl, expireAfterDays, claimWithin, formOrigins } = values;
  return {
    ...values,
    maxFileSize: fromAmount(maxFileSize, sizeUnits),
    webhookUrl: webhookUrl === "" ? null : webhookUrl,
    expireAfterDays: expireAfterDays === "" ? null : Number(expireAfterDays),
    claimWithin: fromAmount(claimWithin, timeUnits),
    formOrigins: formOrigins.split(/\s+/).filter((origin) => origin !== ""),
  };
}
