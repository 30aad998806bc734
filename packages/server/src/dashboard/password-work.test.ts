import assert from "node:assert/strict";
import { it } from "node:test";
import { hashPassword } from "../kernel/security/passwords.ts";
import { createPasswordWork } from "./password-work.ts";

it("a flood of sign-ins by strangers leaves room for who is known, and their turn comes first", async () => {
  const passwords = createPasswordWork();
  const quick = await hashPassword("mine", { N: 1024, r: 8, p: 1 });
  const done: string[] = [];
  const stranger = async () => {
    await passwords.verify("guess", quick);
    done.push("stranger");
  };
  const flood = Array.from({ length: 21 }, stranger);
  await assert.rejects(passwords.verify("guess", quick), { code: "SERVICE_UNAVAILABLE" });
  const known = passwords.verify("mine", quick, "known").then(() => done.push("known"));
  await known;
  assert.ok(done.length <= 2, `after ${done.length - 1} of 21`);
  await Promise.all(flood);
});
