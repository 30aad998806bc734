import { type TestContext, test } from "node:test";

/** Whether this is `npm test`, which leaves to `npm run test:all` what it would only prove a second time. */
export const isQuickRun = process.env["UPSTOW_TEST_QUICK"] === "1";

/** A test of `npm run test:all`, and of whoever runs its file by name; in `npm test` there is none. */
export function slowTest(name: string, work: (t: TestContext) => void | Promise<void>): void {
  if (!isQuickRun) test(name, work);
}
