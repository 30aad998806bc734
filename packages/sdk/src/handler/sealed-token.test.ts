import assert from "node:assert/strict";
import { it } from "node:test";
import { createSeal } from "./sealed-token.ts";

const minuteMs = 60_000;

it("opens what it sealed, elsewhere too, for the same purpose and until its time is over", async () => {
  const seal = createSeal(() => "svc_live_secret");
  const token = await seal.seal("upload", { user: "ann" }, minuteMs);
  assert.deepEqual(await createSeal(() => "svc_live_secret").open("upload", token), { user: "ann" });
  const refused = { code: "INVALID_TOKEN", status: 403 };
  await assert.rejects(seal.open("ticket", token), refused);
  await assert.rejects(createSeal(() => "svc_live_other").open("upload", token), refused);
  await assert.rejects(seal.open("upload", await seal.seal("upload", {}, 0)), refused);
});

it("seals the same payload differently every time", async () => {
  const seal = createSeal(() => "svc_live_secret");
  const tokens = await Promise.all(Array.from({ length: 5 }, () => seal.seal("upload", {}, minuteMs)));
  assert.equal(new Set(tokens).size, 5);
});

it("refuses every token with one changed byte", async () => {
  const seal = createSeal(() => "svc_live_secret");
  const token = await seal.seal("upload", { user: "ann" }, minuteMs);
  for (const [i, char] of [...token].entries()) {
    // The last character may carry bits that stand for nothing.
    if (i === token.length - 1) continue;
    const edited = token.slice(0, i) + (char === "A" ? "B" : "A") + token.slice(i + 1);
    await assert.rejects(seal.open("upload", edited), { code: "INVALID_TOKEN" });
  }
});
