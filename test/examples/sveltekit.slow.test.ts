import assert from "node:assert/strict";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { it } from "node:test";
import { pickFreePort } from "../support/free-port.ts";
import { driveExample } from "./drive-example.ts";
import { folderOf, type RunningExample, startExample } from "./run-example.ts";

driveExample({
  name: "sveltekit",
  isBuilt: true,
  server: () => ["build/index.js"],
  file: { name: "picture.webp", mimeType: "image/webp", sizeBytes: 300_000 },
});

it("the example sveltekit finds the service and the key in a file while it is developed", async () => {
  const port = await pickFreePort();
  // Of a mode of its own, so that nobody's .env is touched.
  const mode = `test-${port}`;
  const file = join(folderOf("sveltekit"), `.env.${mode}`);
  await writeFile(file, "UPSTOW_URL=http://localhost:4000\nUPSTOW_API_KEY=svc_test_any\n");
  const args = ["node_modules/vite/bin/vite.js", "dev", "--port", String(port), "--mode", mode];
  let site: RunningExample | undefined;
  try {
    site = await startExample("sveltekit", args, port, {});
    const answer = await fetch(`${site.url}/api/upload`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: site.url },
      body: JSON.stringify({
        action: "begin",
        route: "image",
        files: [{ name: "a.png", size: 3, type: "image/png" }],
      }),
    });
    assert.equal(answer.status, 200, await answer.text());
  } finally {
    await site?.stop();
    // Vite starts anew when one of these files changes.
    await rm(file);
  }
});
