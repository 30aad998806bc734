import assert from "node:assert/strict";
import { it } from "node:test";
import { explainFailure } from "./explain-failure.ts";

const failure = (fields: object) => Object.assign(new Error("EACCES: permission denied"), fields);

it("names a file that belongs to another user, and the port that needs more rights, in one line", () => {
  const secret = explainFailure(failure({ code: "EACCES", path: "/data/secret" }));
  assert.match(secret, /^\/data\/secret is not readable and writable by this user.*UPSTOW_DATA_DIR/);
  assert.match(
    explainFailure(failure({ code: "EPERM", path: "/data/upstow.db" })),
    /^\/data\/upstow\.db is not/,
  );
  assert.match(explainFailure(failure({ code: "EACCES", port: 80 })), /^UPSTOW_PORT 80 requires privileges/);
});

it("keeps the stack of what nobody foresaw", () => {
  assert.match(explainFailure(new TypeError("x is undefined")), /^TypeError: x is undefined\n {4}at /);
});
