import assert from "node:assert/strict";
import { it } from "node:test";
import { findTotp } from "../src/dashboard/factors/queries.ts";
import { startCodes, totpPurpose } from "../src/dashboard/factors/totp.ts";
import { createId } from "../src/kernel/ids.ts";
import { openCredentials, sealCredentials } from "../src/projects/customer-storage/customer-stores.ts";
import { findStore, insertStore } from "../src/projects/customer-storage/queries.ts";
import { keepData } from "./support/keep-data.ts";
import { onBothDatabases, startApp } from "./support/start-app.ts";

onBothDatabases("replacing the installation's secret", (database) => {
  it("leaves everything that is kept sealed readable when the old one goes", async (t) => {
    const kept = await keepData(database);
    t.after(() => kept.remove());
    const [old, fresh] = ["a".repeat(40), "b".repeat(40)];
    const start = (secret: string) =>
      startApp({ database, env: { UPSTOW_SECRET: secret }, reuse: kept.reuse });

    const first = await start(old);
    const { live, test, accountId, projectId } = first.owner;
    const { deps } = first.app;
    const force = { body: { force: true } };
    await first.call("POST", "webhooks/signing-keys/rotate", { key: live, ...force });
    const signing = await first.call("GET", "webhooks/signing-keys", { key: live });
    const testSigning = await first.call("GET", "webhooks/signing-keys", { key: test });
    const codes = await startCodes(deps, { accountId, email: "owner@localhost" });
    const credentials = { accessKeyId: "id", secretAccessKey: "secret" };
    const id = createId(deps.now());
    await deps.db.run(insertStore, {
      ...{ id, project_id: projectId, endpoint: "https://s3.example.com", region: "us-east-1" },
      ...{ bucket: "b", prefix: "", force_path_style: 1, created_at: 0, updated_at: 0 },
      sealed: sealCredentials(deps.keyring, credentials),
    });
    await first.close();
    await (await start(`${fresh},${old}`)).close();

    const last = await start(fresh);
    t.after(() => last.close());
    const { db, keyring } = last.app.deps;
    assert.deepEqual((await last.call("GET", "webhooks/signing-keys", { key: live })).body, signing.body);
    assert.deepEqual((await last.call("GET", "webhooks/signing-keys", { key: test })).body, testSigning.body);
    const rotated = await last.call("POST", "webhooks/signing-keys/rotate", { key: live, ...force });
    assert.deepEqual([rotated.status, rotated.body.current], [200, signing.body.next]);
    const totp = await db.get(findTotp, { accountId });
    assert.equal(keyring.decrypt(totp?.secret_sealed ?? "", totpPurpose), codes.secret);
    const store = await db.get(findStore, { id });
    assert.deepEqual(openCredentials(keyring, store?.sealed ?? ""), credentials);
  });
});
