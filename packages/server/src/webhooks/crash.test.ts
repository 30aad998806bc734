import assert from "node:assert/strict";
import { once } from "node:events";
import { after, before, beforeEach, it } from "node:test";
import { setTimeout as wait } from "node:timers/promises";
import { onAnyDatabase } from "../../test/support/start-app.ts";
import { createCertificate } from "../../test/support/webhooks/certificate.ts";
import { fileIdOf, killAtAnyMoment } from "../../test/support/webhooks/kill-at-any-moment.ts";
import { type Receiver, startReceiver } from "../../test/support/webhooks/receiver.ts";
import {
  createInstallation,
  type Installation,
  type ServerProcess,
} from "../../test/support/webhooks/server-process.ts";
import { until } from "../../test/support/webhooks/until.ts";
import { uploadFile } from "../../test/support/webhooks/upload.ts";

onAnyDatabase("a server that is killed", (database) => {
  let receiver: Receiver;
  let installation: Installation;
  let key: string;
  /** To start one takes a second, so that each test goes on with what the one before has left running. */
  let server: ServerProcess;

  before(async () => {
    const certificate = await createCertificate();
    receiver = await startReceiver(certificate);
    installation = await createInstallation(database, certificate);
    key = installation.liveKey;
    server = await installation.start();
    const projects = await server.call("GET", "projects", { key });
    const created = await server.call("POST", `projects/${projects.body.projects[0]._id}/routers`, {
      key,
      body: { slug: "hooked", webhookUrl: `${receiver.url}/hook` },
    });
    assert.equal(created.status, 201, JSON.stringify(created.body));
  });
  after(async () => {
    await installation.remove();
    await receiver.close();
  });
  beforeEach(() => {
    receiver.received = [];
    receiver.answer = (_request, response) => void response.end("ok");
  });

  async function restart(): Promise<void> {
    await installation.expireLeases();
    server = await installation.start();
  }

  async function waitForDelivery(fileId: string) {
    return until(async () => {
      const list = await server.call("GET", `webhooks/deliveries?fileId=${fileId}&status=delivered`, { key });
      return list.body.deliveries[0];
    });
  }

  it("right after a completion was committed delivers the event after the restart", async () => {
    receiver.answer = () => {};
    const file = await uploadFile(server, key, "hooked");
    await server.kill("SIGKILL");
    receiver.received = [];
    receiver.answer = (_request, response) => void response.end("ok");
    await restart();
    await waitForDelivery(file.id);
    assert.deepEqual(receiver.received.map(fileIdOf), [file.id]);
  });

  it("between the receiver's answer and its own note of it delivers again under the same id", async () => {
    const answered = Promise.withResolvers<void>();
    receiver.answer = async (_request, response) => {
      // A stopped process cannot read the answer, let alone write it down.
      server.child.kill("SIGSTOP");
      response.end("ok");
      await once(response, "finish");
      answered.resolve();
    };
    const uploading = uploadFile(server, key, "hooked").catch(() => null);
    await answered.promise;
    await server.kill("SIGKILL");
    await uploading;
    receiver.answer = (_request, response) => void response.end("ok");
    await restart();
    const [request] = receiver.received;
    assert.ok(request);
    const delivery = await waitForDelivery(fileIdOf(request));
    assert.equal(receiver.received.length, 2);
    const ids = receiver.received.map(({ headers }) => headers["delivery-message-id"]);
    assert.deepEqual(ids, [delivery.messageId, delivery.messageId]);
    const attempts = receiver.received.map(({ headers }) => headers["delivery-attempt"]);
    assert.deepEqual(attempts, ["1", "2"]);
    const shown = await server.call("GET", `webhooks/deliveries/${delivery.id}`, { key });
    assert.deepEqual(
      shown.body.delivery.attempts.map((attempt: { error: string | null }) => attempt.error),
      ["interrupted", null],
    );
  });

  it("at any moment loses no event that it has acknowledged, and gives each one id", async () => {
    server = await killAtAnyMoment({ installation, receiver, server, key, rounds: 1 });
  });

  it("with SIGTERM finishes what it is sending and exits with 0", async () => {
    receiver.answer = async (_request, response) => {
      await wait(300);
      response.end("late");
    };
    const file = await uploadFile(server, key, "hooked");
    const countSent = () => receiver.received.filter((request) => fileIdOf(request) === file.id).length;
    await until(async () => countSent() > 0);
    assert.equal(await server.kill("SIGTERM"), 0);
    server = await installation.start();
    const delivery = await waitForDelivery(file.id);
    assert.equal(delivery.attemptCount, 1);
    assert.equal(countSent(), 1);
  });
});
