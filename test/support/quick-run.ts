/** Whether this is `npm test`, which leaves to `npm run test:all` what it would only prove a second time. */
export const isQuickRun = process.env["UPSTOW_TEST_QUICK"] === "1";
