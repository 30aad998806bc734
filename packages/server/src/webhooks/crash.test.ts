import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, beforeEach, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { onBothDatabases } from "../../test/support/start-app.ts";
import { createCertificate } from "../../test/support/webhooks/certificate.ts";
import { type Receiver, startReceiver } from "../../test/support/webhooks/receiver.ts";
import {
  createInstallation,
  type Installation,
  type ServerProcess,
} from "../../test/support/webhooks/server-process.ts";
import { until } from "../../test/support/webhooks/until.ts";
import { uploadFile } from "../../test/support/webhooks/upload.ts";

const rounds = 5;
const uploadsPerRound = 8;

onBothDatabases("a server that is killed", (database) => {
  let receiver: Receiver;
  let installation: Installation;
  let key: string;

  before(async () => {
    const certificate = await createCertificate();
    receiver = await startReceiver(certificate);
    installation = await createInstallation(database, certificate);
    key = installation.liveKey;
    const server = await installation.start();
    const projects = await server.call("GET", "projects", { key });
    const created = await server.call("POST", `projects/${projects.body.projects[0]._id}/routers`, {
      key,
      body: { slug: "hooked", webhookUrl: `${receiver.url}/hook` },
    });
    assert.equal(created.status, 201, JSON.stringify(created.body));
    await server.kill("SIGKILL");
  });
  after(async () => {
    await installation.remove();
    await receiver.close();
  });
  beforeEach(() => {
    receiver.received = [];
    receiver.answer = (_request, response) => void response.end("ok");
  });

  async function restart(): Promise<ServerProcess> {
    await installation.expireLeases();
    return installation.start();
  }

  function fileIdOf(request: { body: Buffer }): string {
    return JSON.parse(request.body.toString()).file.id;
  }

  async function waitForDelivery(server: ServerProcess, fileId: string) {
    return until(async () => {
      const list = await server.call("GET", `webhooks/deliveries?fileId=${fileId}&status=delivered`, { key });
      return list.body.deliveries[0];
    });
  }

  it("right after a completion was committed delivers the event after the restart", async () => {
    receiver.answer = () => {};
    const first = await installation.start();
    const file = await uploadFile(first, key, "hooked");
    await first.kill("SIGKILL");
    receiver.received = [];
    receiver.answer = (_request, response) => void response.end("ok");
    const second = await restart();
    await waitForDelivery(second, file.id);
    assert.deepEqual(receiver.received.map(fileIdOf), [file.id]);
    await second.kill("SIGKILL");
  });

  it("between the receiver's answer and its own note of it delivers again under the same id", async () => {
    const first = await installation.start();
    const answered = Promise.withResolvers<void>();
    receiver.answer = async (_request, response) => {
      // A stopped process cannot read the answer, let alone write it down.
      first.child.kill("SIGSTOP");
      response.end("ok");
      await once(response, "finish");
      answered.resolve();
    };
    const uploading = uploadFile(first, key, "hooked").catch(() => null);
    await answered.promise;
    await first.kill("SIGKILL");
    await uploading;
    receiver.answer = (_request, response) => void response.end("ok");
    const second = await restart();
    const [request] = receiver.received;
    assert.ok(request);
    const delivery = await waitForDelivery(second, fileIdOf(request));
    assert.equal(receiver.received.length, 2);
    const ids = receiver.received.map(({ headers }) => headers["delivery-message-id"]);
    assert.deepEqual(ids, [delivery.messageId, delivery.messageId]);
    const attempts = receiver.received.map(({ headers }) => headers["delivery-attempt"]);
    assert.deepEqual(attempts, ["1", "2"]);
    const shown = await second.call("GET", `webhooks/deliveries/${delivery.id}`, { key });
    assert.deepEqual(
      shown.body.delivery.attempts.map((attempt: { error: string | null }) => attempt.error),
      ["interrupted", null],
    );
    await second.kill("SIGKILL");
  });

  it("at any moment loses no event that it has acknowledged, and gives each one id", async () => {
    const acknowledged: string[] = [];
    receiver.answer = async (_request, response) => {
      await wait(Math.random() * 20);
      response.end("ok");
    };
    for (let round = 0; round < rounds; round++) {
      const server = await restart();
      const uploads = Array.from({ length: uploadsPerRound }, async () => {
        const file = await uploadFile(server, key, "hooked");
        acknowledged.push(file.id);
      });
      await Promise.race(uploads);
      await wait(Math.random() * 60);
      await server.kill("SIGKILL");
      await Promise.allSettled(uploads);
    }
    const server = await restart();
    await until(async () => {
      const received = new Set(receiver.received.map(fileIdOf));
      return acknowledged.every((id) => received.has(id));
    });
    const byFile = Map.groupBy(receiver.received, fileIdOf);
    for (const requests of byFile.values()) {
      assert.equal(new Set(requests.map(({ headers }) => headers["delivery-message-id"])).size, 1);
    }
    assert.ok(acknowledged.length >= rounds);
    await server.kill("SIGKILL");
  });

  it("with SIGTERM finishes what it is sending and exits with 0", async () => {
    // What the kill before this test has left behind is sent too.
    const server = await restart();
    receiver.answer = async (_request, response) => {
      await wait(300);
      response.end("late");
    };
    const file = await uploadFile(server, key, "hooked");
    const countSent = () => receiver.received.filter((request) => fileIdOf(request) === file.id).length;
    await until(async () => countSent() > 0);
    assert.equal(await server.kill("SIGTERM"), 0);
    const next = await installation.start();
    const delivery = await waitForDelivery(next, file.id);
    assert.equal(delivery.attemptCount, 1);
    assert.equal(countSent(), 1);
    await next.kill("SIGKILL");
  });
});
