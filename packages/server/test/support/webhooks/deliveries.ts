import assert from "node:assert/strict";
import { after, before, beforeEach } from "node:test";
import { type DatabaseKind, startApp, type Tenant, type TestApp } from "../start-app.ts";
import { createCertificate, trustCertificate } from "./certificate.ts";
import { type Receiver, startReceiver } from "./receiver.ts";
import { until } from "./until.ts";

/** A service that delivers to a receiver which takes everything; each test begins with a tenant of its own. */
export function useDeliveries(database: DatabaseKind) {
  let app: TestApp;
  let receiver: Receiver;
  let tenant: Tenant;
  before(async () => {
    const certificate = await createCertificate();
    trustCertificate(certificate);
    receiver = await startReceiver(certificate);
    app = await startApp({
      database,
      env: { UPSTOW_WEBHOOK_ALLOW_CIDRS: "127.0.0.0/8", UPSTOW_WEBHOOK_RETRY_BASE_MS: "10" },
    });
  });
  after(async () => {
    await app.close();
    await receiver.close();
  });
  beforeEach(async () => {
    tenant = await app.createTenant("pro");
    receiver.received = [];
    receiver.answer = (_request, response) => void response.end("ok");
  });

  async function listDeliveries(query = "", key = tenant.live) {
    const { status, body } = await app.call("GET", `webhooks/deliveries${query}`, { key });
    assert.equal(status, 200, JSON.stringify(body));
    return body.deliveries;
  }
  return {
    current: () => ({ app, receiver, tenant }),
    listDeliveries,
    async createRoute(slug: string, webhookUrl: string | null = `${receiver.url}/${slug}`) {
      const created = await app.call("POST", `projects/${tenant.projectId}/routers`, {
        key: tenant.live,
        body: { slug, webhookUrl },
      });
      assert.equal(created.status, 201);
      return created.body.router;
    },
    waitForStatus: (status: string, count = 1, key = tenant.live) =>
      until(async () => {
        const deliveries = await listDeliveries(`?status=${status}`, key);
        return deliveries.length === count && deliveries;
      }),
  };
}
