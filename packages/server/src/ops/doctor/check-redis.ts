import { type Check, createChecks } from "./check.ts";

const { ok, warning } = createChecks("Redis");

/** The service continues without it, more slowly, and logs that only once. */
export async function checkRedis(tryRedis: () => Promise<void>): Promise<Check> {
  try {
    await tryRedis();
    return ok("answers, and counts rate limits");
  } catch (error) {
    const { message, code } = error as NodeJS.ErrnoException;
    return warning(
      `It cannot be used: ${message || code}. Rate limits are counted in the database meanwhile.`,
      "Check UPSTOW_REDIS_URL, its password, and that Redis runs and lets this machine in.",
    );
  }
}
