import { DatabaseUnavailable } from "../../db/database.ts";

/**
 * Ends the wait for a database that neither answers nor fails, as a driver can when the connection breaks under
 * it. The work may still take effect; leases and their tokens make that harmless.
 */
export async function within<T>(timeMs: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(reject, timeMs, new DatabaseUnavailable("the database did not answer"));
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
