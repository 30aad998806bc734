import assert from "node:assert/strict";
import { mkdtemp, readFile, rm, stat } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, it } from "node:test";
import type { AuditEntry } from "@upstow/contract";
import { listTrail } from "../../server/test/support/audit-trail.ts";
import { onAnyDatabase, startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { operatorCommands } from "../src/commands/operator-commands.ts";
import { envOf, runFailing, runJson } from "./support/run-upstow.ts";

/** Commands that leave nothing in the audit trail, or are run by another test. */
const leftOut: Record<string, string> = {
  serve: "the first start is recorded by the service",
  "storage probe": "changes nothing",
  "audit export": "changes nothing",
  "images backfill": "computes what is left out, and changes no setting or file",
  doctor: "changes nothing",
  "storage set": "needs a bucket; the same step as in the dashboard",
  "storage remove": "as above",
  "migrate storage": "migrate-storage.test.ts",
  "migrate database": "migrate-database.test.ts",
};

onAnyDatabase("the audit trail of operator commands", (database) => {
  let app: TestApp;
  let env: Record<string, string>;
  let folder: string;
  before(async () => {
    app = await startApp({ database });
    folder = await mkdtemp(join(tmpdir(), "upstow-audit-"));
    env = { ...envOf(app), SUDO_USER: "olga", SSH_CONNECTION: "192.0.2.7 50000 192.0.2.1 22" };
  });
  after(async () => {
    await app.close();
    await rm(folder, { recursive: true });
  });

  it("has every command that changes something, and who ran it from where", async () => {
    const email = "ann@example.com";
    await runJson(["account", "create", "--email", email, "--password", "a long password"], env);
    await runJson(["account", "set-tier", email, "enterprise"], env);
    await runJson(["account", "set-limits", email, "--rate-upload", "7"], env);
    await runJson(["account", "login-link", "--email", email], env);
    const project = await runJson(["project", "create", "--account", email, "--name", "Shop"], env);
    const key = await runJson(["key", "create", "--project", project.id, "--type", "live"], env);
    const deleted = await app.call("DELETE", `projects/${project.id}`, { key: key.secret });
    assert.equal(deleted.status, 200);
    await runJson(["project", "purge", project.id], env);
    const other = await runJson(["key", "create", "--project", app.owner.projectId, "--type", "test"], env);
    await runJson(["key", "revoke", other.id], env);
    await runJson(["storage", "reseal"], env);
    await runJson(["backup", join(folder, "backup")], env);
    await runJson(["verify", "--fix"], env);

    const rows = (await listTrail(app)).filter((row) => row.author_kind === "operator");
    const commands = new Set(rows.map((row) => row.user_agent.replace("upstow ", "")));
    const all = operatorCommands.map(({ name }) => name);
    assert.deepEqual([...commands, ...Object.keys(leftOut)].sort(), all.toSorted());
    for (const row of rows)
      assert.deepEqual([row.author_name, row.address], [`olga@${hostname()}`, "192.0.2.7"], row.action);
    const moved = rows.find((row) => row.user_agent === "upstow account set-tier");
    assert.deepEqual(JSON.parse(moved?.changes ?? ""), { tier: { from: "free", to: "enterprise" } });
    for (const secret of ["a long password", key.secret]) assert.ok(!JSON.stringify(rows).includes(secret));
  });

  it("is exported to a new file that others cannot read", async () => {
    const file = join(folder, "trail.jsonl");
    await runJson(["audit", "export", file, "--action", "key.created", "--author", "olga@"], env);
    const lines = (await readFile(file, "utf8")).trimEnd().split("\n");
    const entries = lines.map((line) => JSON.parse(line) as AuditEntry);
    assert.deepEqual(
      entries.map(({ action, target }) => [action, target.label]),
      [
        ["key.created", "test key"],
        ["key.created", "live key"],
      ],
    );
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    const again = await runFailing(["audit", "export", file], env);
    assert.deepEqual([again.exitCode, again.code], [1, "IN_USE"]);
    const csv = join(folder, "trail.csv");
    await runJson(["audit", "export", csv, "--format", "csv", "--project", app.owner.projectId], env);
    assert.match(await readFile(csv, "utf8"), /^id,at,author_kind,.*\r\n.*,operator,,olga@/);
    const since = "2020-01-01T00:00:00Z";
    const early = join(folder, "early.jsonl");
    await runJson(["audit", "export", early, "--since", since, "--until", since], env);
    assert.equal(await readFile(early, "utf8"), "");
    const wrong = await runFailing(["audit", "export", early, "--action", "key.made"], env);
    assert.deepEqual([wrong.exitCode, wrong.message.includes("Did you mean")], [2, false]);
  });
});
