import { DatabaseUnavailable } from "../db/database.ts";

/**
 * Ends the wait for a database that neither answers nor fails, as a driver can when the connection breaks under
 * it. The work may still take effect; leases and their tokens make that harmless.
 */
export async function within<T>(timeMs: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  // The error is made when it is needed: its stack would cost more than the wait.
  const timer = setTimeout(() => reject(new DatabaseUnavailable("the database did not answer")), timeMs);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
