import { randomBytes } from "node:crypto";
import { createSessionSigner } from "../../src/dashboard/session/visitor.ts";
import { createSession } from "../../src/dashboard/sessions.ts";
import type { Answer, TestApp } from "./start-app.ts";

export type ConsoleCall = (method: string, path: string, body?: unknown) => Promise<Answer>;

/** Calls the dashboard's API as its pages do, signed in as an account; over a proxy at `origin`, if given. */
export async function signInAs(app: TestApp, accountId: string, origin?: string): Promise<ConsoleCall> {
  const token = await createSessionToken(app, accountId);
  const headers =
    origin === undefined
      ? { origin: app.url, cookie: `upstow_session=${token}` }
      : { origin, cookie: `__Host-upstow_session=${token}`, "x-forwarded-proto": "https" };
  return (method, path, body) =>
    app.call(method, `/dashboard/api${path}`, { ...(body === undefined ? {} : { body }), headers });
}

/** What the browser keeps of a session of the account. */
export async function createSessionToken(
  app: TestApp,
  accountId: string,
  userAgent = "test",
): Promise<string> {
  const token = randomBytes(32).toString("base64url");
  const entrant = { address: "127.0.0.1", userAgent, token, oldToken: "" };
  const { db, now, keyring } = app.app.deps;
  await db.transact((tx) => createSession(tx, now(), accountId, entrant, "password"));
  return createSessionSigner(keyring).sign(token);
}
