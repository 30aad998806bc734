import assert from "node:assert/strict";
import type { TestApp } from "../../../server/test/support/start-app.ts";

/** The owner opens the first link and sets a password. */
export async function claimInstallation(app: TestApp): Promise<void> {
  const token = app.app.firstStart?.loginToken;
  const body = { token, email: "owner@example.com", password: "a long enough password" };
  const { status } = await app.call("POST", "/dashboard/api/claim", { body, headers: { origin: app.url } });
  assert.equal(status, 200);
}
