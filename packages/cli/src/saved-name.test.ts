import assert from "node:assert/strict";
import { it } from "node:test";
import { savedName } from "./saved-name.ts";

it("keeps the last part of a stored name", () => {
  for (const [stored, saved] of [
    ["note.txt", "note.txt"],
    ["../photos/a.txt", "a.txt"],
    ["C:\\photos\\a.txt", "a.txt"],
    ["console.txt", "console.txt"],
    ["a  b\u202f👩‍💻.png", "a  b\u202f👩‍💻.png"],
    ["n".repeat(255), "n".repeat(255)],
  ] as const)
    assert.equal(savedName(stored), saved);
});

it("asks for another where the name is hidden, a device's, a folder's, unreadable or too long", () => {
  for (const [stored, reason] of [
    [".bashrc", /starts with a dot/],
    ["photos/.profile", /starts with a dot/],
    ["..\\.ssh", /starts with a dot/],
    ["..", /starts with a dot/],
    ["/", /is a folder name/],
    ["CON", /device/],
    ["nul.txt", /device/],
    ["Com1.tar.gz", /device/],
    ["a\u202etxt.exe", /invisible characters/],
    ["x\u0007", /invisible characters/],
    ["日".repeat(86), /longer than 255 bytes/],
  ] as const)
    assert.throws(() => savedName(stored), { code: "VALIDATION_ERROR", message: reason }, stored);
});
