import assert from "node:assert/strict";
import { type ErrorCode, errorType } from "@upstow/contract";
import type { Answer } from "./start-app.ts";

/** The envelope of every refusal: exactly its fields, in a shape that a client can rely on. */
export function expectError(
  answer: Pick<Answer, "status" | "headers" | "body">,
  status: number,
  code: ErrorCode,
) {
  assert.equal(answer.status, status, JSON.stringify(answer.body));
  assert.equal(answer.headers.get("content-type"), "application/json; charset=utf-8");
  assert.match(answer.headers.get("x-request-id") ?? "", /^[\w.-]{1,64}$/);
  assert.deepEqual(Object.keys(answer.body), ["error"]);
  const { error } = answer.body;
  const allowed = ["type", "code", "message", "suggestion", "details"];
  assert.deepEqual(
    Object.keys(error).filter((field) => !allowed.includes(field)),
    [],
  );
  assert.equal(error.code, code);
  assert.equal(error.type, errorType(status));
  assert.ok(typeof error.message === "string" && error.message.length > 0);
  assert.equal("suggestion" in error, status !== 429, "every refusal but 429 says what to do next");
  if (code !== "VALIDATION_ERROR") assert.equal("details" in error, false);
  return error;
}

/** A VALIDATION_ERROR that names the field. */
export function expectInvalid(answer: Answer, path: string): void {
  const error = expectError(answer, 400, "VALIDATION_ERROR");
  assert.deepEqual(
    error.details?.map((detail: { path: string }) => detail.path),
    [path],
    JSON.stringify(error),
  );
  // A reason for refusing a URL is a sentence already.
  assert.ok(error.message.startsWith(path) || error.message === error.details[0].message, error.message);
}
