import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { promisify } from "node:util";
import { type Dashboard, startDashboard } from "../support/open-dashboard.ts";

const run = promisify(execFile);

let dashboard: Dashboard;
before(async () => {
  dashboard = await startDashboard();
});
after(() => dashboard.close());

test("the curl commands of a new project upload its first file, as they are copied", async (t) => {
  const { app } = dashboard;
  const tenant = await app.createTenant("pro");
  const { page, context } = await dashboard.open(tenant.accountId);
  await page.goto(`${app.url}/dashboard/${tenant.projectId}/live/overview`);
  await page.getByRole("button", { name: "Create key" }).click();
  await page.getByText("It is included in the snippets below.").waitFor();
  await page.getByRole("button", { name: "curl" }).click();
  const commands = (await page.getByRole("region", { name: "Shell" }).textContent()) ?? "";
  const cwd = await mkdtemp(join(tmpdir(), "upstow-curl-"));
  t.after(() => rm(cwd, { recursive: true, force: true }));
  await run("sh", ["-e", "-c", commands], { cwd });
  await page.reload();
  await page.getByRole("link", { name: "hello.txt" }).waitFor();
  const { files } = (await app.call("GET", "files", { key: tenant.live })).body;
  assert.deepEqual(
    files.map(({ name, status, size }: Record<string, unknown>) => [name, status, size]),
    [["hello.txt", "UPLOADED", 5]],
  );
  await context.close();
});
