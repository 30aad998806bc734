import assert from "node:assert/strict";
import type { Page } from "playwright-core";
import { driveExample } from "./drive-example.ts";

async function readPrivately(page: Page): Promise<void> {
  await page.getByLabel("Only I can read them").check();
  const file = { name: "secret.txt", mimeType: "text/plain", buffer: Buffer.from("for me alone") };
  await page.setInputFiles("input[type=file]", file);
  const link = page.locator("a[href^='/files/']");
  await link.waitFor({ timeout: 0 });
  const url = (await link.getAttribute("href")) ?? "";
  assert.equal(await page.evaluate(`fetch("${url}").then((answer) => answer.text())`), "for me alone");
  const address = new URL(url, page.url());
  for (const [cookie, status] of [
    ["", 401],
    ["visitor=somebody-else", 404],
  ] as const)
    assert.equal((await fetch(address, { headers: { cookie } })).status, status, cookie);
}

driveExample({
  name: "express",
  isBuilt: false,
  server: () => ["server.ts"],
  file: { name: "large.bin", mimeType: "application/octet-stream", sizeBytes: 12 * 1024 * 1024 },
  thenDrive: readPrivately,
});
