import type { RateBucket, RateLimits } from "@upstow/contract";
import type { Actor } from "../../kernel/actor.ts";

type OwnLimits = Pick<Actor, "tier" | "rateUpload" | "rateTransform" | "rateOther">;

/** Requests per window of a key. Enterprise accounts may have limits of their own; everybody else gets the installation's. */
export function rateLimitFor(actor: OwnLimits, bucket: RateBucket, defaults: RateLimits): number | null {
  if (actor.tier !== "enterprise") return defaults[bucket];
  const own =
    bucket === "upload" ? actor.rateUpload : bucket === "transform" ? actor.rateTransform : actor.rateOther;
  return own ?? defaults[bucket];
}
