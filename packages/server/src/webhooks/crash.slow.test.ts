import assert from "node:assert/strict";
import { it } from "node:test";
import { onBothDatabases } from "../../test/support/start-app.ts";
import { createCertificate } from "../../test/support/webhooks/certificate.ts";
import { killAtAnyMoment } from "../../test/support/webhooks/kill-at-any-moment.ts";
import { startReceiver } from "../../test/support/webhooks/receiver.ts";
import { createInstallation } from "../../test/support/webhooks/server-process.ts";

const rounds = 10;

onBothDatabases("a server that is killed many times", (database) => {
  it("loses no event that it has acknowledged, and gives each one id", { timeout: 300_000 }, async (t) => {
    const certificate = await createCertificate();
    const receiver = await startReceiver(certificate);
    t.after(() => receiver.close());
    const installation = await createInstallation(database, certificate);
    t.after(() => installation.remove());
    const { liveKey: key } = installation;
    const server = await installation.start();
    const projects = await server.call("GET", "projects", { key });
    const created = await server.call("POST", `projects/${projects.body.projects[0]._id}/routers`, {
      key,
      body: { slug: "hooked", webhookUrl: `${receiver.url}/hook` },
    });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    await killAtAnyMoment({ installation, receiver, server, key, rounds });
  });
});
