import { createSession } from "../../src/features/console/sessions.ts";
import type { Answer, TestApp } from "./start-app.ts";

export type ConsoleCall = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Calls the dashboard's API as its pages do, signed in as an account. */
export async function signInAs(app: TestApp, accountId: string): Promise<ConsoleCall> {
  const cookie = `upstow_session=${await createSessionToken(app, accountId)}`;
  return (method, path, body) =>
    app.call(method, `/dashboard/api${path}`, {
      ...(body === undefined ? {} : { body }),
      headers: { origin: app.url, cookie },
    });
}

export function createSessionToken(app: TestApp, accountId: string): Promise<string> {
  const visitor = { address: "127.0.0.1", userAgent: "test", oldToken: null };
  const { db, now } = app.app.deps;
  return db.transact((tx) => createSession(tx, now(), accountId, visitor));
}
