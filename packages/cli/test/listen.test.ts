import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { after, before, beforeEach, describe, it } from "node:test";
import { verifyDelivery } from "@upstow/sdk/webhooks";
import { Webhook } from "standardwebhooks";
import { pickFreePort } from "../../../test/support/free-port.ts";
import { spawnMain } from "../../server/test/support/spawn-server.ts";
import { type CallOptions, callApi } from "../../server/test/support/start-app.ts";
import { until } from "../../server/test/support/webhooks/until.ts";
import { uploadFile } from "../../server/test/support/webhooks/upload.ts";
import { callUpstow, runFailing, runJson, runUpstow, spawnUpstow } from "./support/run-upstow.ts";

interface Received {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

describe("upstow listen", () => {
  let folder: string;
  let service: {
    url: string;
    env: Record<string, string>;
    process: ChildProcess;
    live: string;
    test: string;
  };
  let hook: string;
  let local: Server | null = null;
  let received: Received[] = [];
  let status = 200;
  const listeners: ReturnType<typeof callUpstow>[] = [];

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), "upstow-listen-"));
    const port = await pickFreePort();
    const env = { UPSTOW_DATA_DIR: join(folder, "data"), UPSTOW_PORT: String(port) };
    const started = await startService(env);
    service = { url: `http://localhost:${port}`, env, ...started };
    await runJson(
      ["account", "set-limits", "owner@localhost", "--rate-other", "900", "--rate-upload", "900"],
      env,
    );
    hook = `http://localhost:${await pickFreePort()}/hook?from=upstow`;
  });
  after(async () => {
    for (const listener of listeners) listener.signal("SIGINT");
    service.process.kill("SIGKILL");
    await stopLocal();
    await rm(folder, { recursive: true, force: true });
  });
  beforeEach(async () => {
    received = [];
    status = 200;
    if (local === null) await startLocal();
  });

  async function startService(env: Record<string, string>) {
    const child = spawnMain({ UPSTOW_LOG_LEVEL: "error", ...env });
    let output = "";
    child.stderr?.on("data", (text) => {
      output += text;
    });
    for await (const text of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
      output += text;
      if (/Upstow is ready at \S+\n/.test(output)) break;
    }
    child.stdout?.resume();
    const find = (type: string) => new RegExp(`svc_${type}_\\w+`).exec(output)?.[0] ?? "";
    return { process: child, live: find("live"), test: find("test") };
  }

  async function restartService(): Promise<void> {
    service.process.kill("SIGKILL");
    await once(service.process, "exit");
    service.process = (await startService(service.env)).process;
  }

  async function startLocal(): Promise<void> {
    local = createServer(async (request, response) => {
      received.push({ headers: request.headers, body: await buffer(request) });
      response.writeHead(status).end(status === 200 ? "ok" : "it\u001b[31m broke");
    });
    local.listen(Number(new URL(hook).port), "localhost");
    await once(local, "listening");
  }

  async function stopLocal(): Promise<void> {
    local?.closeAllConnections();
    local?.close();
    local = null;
  }

  /** Each listener has a home of its own unless it is given another's. */
  async function listen(options: { args?: string[]; home?: string; key?: string; url?: string } = {}) {
    const home = options.home ?? (await mkdtemp(join(folder, "home-")));
    const args = ["listen", hook, "--key", options.key ?? service.test, ...(options.args ?? [])];
    const listener = callUpstow(args, { HOME: home, UPSTOW_URL: options.url ?? service.url });
    listeners.push(listener);
    const { shown, ended } = listener;
    let isOver = false;
    ended.then(() => {
      isOver = true;
    });
    await until(async () => shown.stderr.includes("Ready") || isOver);
    return {
      home,
      shown,
      /** Until it has shown how so many events were answered: one that is stopped before that sends them again. */
      forwarded: (count: number) => until(async () => shown.stdout.split("\n").length > count),
      async stop(signal: NodeJS.Signals = "SIGINT") {
        listener.signal(signal);
        assert.equal((await ended).code, 0, shown.stderr);
      },
    };
  }

  const app = {
    call: (method: string, path: string, options?: CallOptions) =>
      callApi(service.url, method, path, options),
  };
  const upload = (key = service.test) => uploadFile(app, key, "default");
  const fileIds = () => received.map(({ body }) => JSON.parse(body.toString()).file.id);
  const waitFor = (count: number) => until(async () => received.length >= count);

  it("forwards test events, signed for the local URL in both ways, and shows how each was answered", async () => {
    const listener = await listen();
    await upload(service.live);
    const file = await upload();
    await waitFor(1);
    assert.deepEqual(fileIds(), [file.id]);
    const [request] = received;
    assert.ok(request);
    const keys = await app.call("GET", "webhooks/signing-keys", { key: service.test });
    const { current: currentKey, next: nextKey } = keys.body;
    const headers = request.headers as Record<string, string>;
    const verified = await verifyDelivery({ body: request.body, url: hook, headers, currentKey, nextKey });
    assert.equal(verified.messageId, headers["webhook-id"]);
    new Webhook(currentKey).verify(request.body.toString(), headers);
    assert.deepEqual([verified.event, verified.environment], ["upload.completed", "test"]);
    assert.equal(headers["delivery-event"], "upload.completed");
    assert.deepEqual([headers["delivery-environment"], headers["delivery-route"]], ["test", "default"]);
    assert.equal(headers["content-type"], "application/json");
    assert.ok(listener.shown.stderr.includes(`UPSTOW_SIGNING_KEY=${currentKey} `));
    assert.ok(listener.shown.stderr.includes(` UPSTOW_WEBHOOK_URL=${hook}\n`), "what it is signed for");

    status = 500;
    await upload();
    await listener.forwarded(2);
    const lines = listener.shown.stdout.trim().split("\n");
    assert.match(
      lines[0] ?? "",
      /^\d\d:\d\d:\d\d {2}upload\.completed {2}default\/a\.txt {2}→ {2}200 in \d+ ms$/,
    );
    assert.match(lines[1] ?? "", /→ {2}500 server_error in \d+ ms: it\ufffd\[31m broke$/);
    await listener.stop();
    assert.match(listener.shown.stdout, /\nForwarded 1 events; 1 returned an error\.\n$/);
  });

  it("goes on where it was when the service was killed and started again", async () => {
    const listener = await listen();
    // Killed before its first event: what follows must not be missed either.
    await restartService();
    const files = [await upload()];
    await waitFor(1);
    await restartService();
    files.push(await upload(), await upload());
    await waitFor(3);
    assert.deepEqual(
      fileIds(),
      files.map(({ id }) => id),
    );
    assert.match(
      listener.shown.stderr,
      /Lost the connection to \S+; reconnecting\.\nReconnected; no events were missed\./,
    );
    await listener.stop();
  });

  it("waits for a local server that is away, and brings it everything once", async () => {
    const listener = await listen();
    await stopLocal();
    const files = [await upload(), await upload()];
    await until(async () => listener.shown.stderr.includes("is not responding (refused); waiting for it"));
    await startLocal();
    await waitFor(2);
    assert.deepEqual(
      fileIds(),
      files.map(({ id }) => id),
    );
    assert.ok(received.every(({ headers }) => headers["delivery-attempt"] === "1"));
    await listener.stop();
  });

  it("goes on behind the last event when it is started again, and replays on request", async () => {
    const first = await listen();
    await first.stop();
    const missed = await upload();
    const second = await listen({ home: first.home });
    await second.forwarded(1);
    await second.stop();
    const later = await upload();
    const third = await listen({ home: first.home });
    await third.forwarded(1);
    await third.stop();
    assert.deepEqual(fileIds(), [missed.id, later.id]);

    received = [];
    const replaying = await listen({ home: first.home, args: ["--replay", "2"] });
    await replaying.forwarded(2);
    await replaying.stop();
    assert.deepEqual(fileIds(), [missed.id, later.id]);
  });

  it("takes a key for the service that was signed in to", async () => {
    const home = await mkdtemp(join(folder, "home-"));
    await runJson(["login", "--url", service.url, "--key", service.live], { HOME: home });
    const listener = await listen({ home, url: "" });
    assert.ok(
      listener.shown.stderr.includes(`Ready: forwarding events from ${service.url} to`),
      listener.shown.stderr,
    );
    await listener.stop("SIGTERM");
  });

  it("ends at Ctrl-C, as a process", async () => {
    const env = { HOME: await mkdtemp(join(folder, "home-")), UPSTOW_URL: service.url };
    const { child, ended } = spawnUpstow(["listen", hook, "--key", service.test], env);
    let said = "";
    child.stderr?.on("data", (text) => {
      said += text;
    });
    await until(async () => said.includes("Ready") || child.exitCode !== null);
    child.kill("SIGINT");
    const { code, stdout } = await ended;
    assert.equal(code, 0, said);
    assert.equal(stdout, "Forwarded 0 events; 0 returned an error.\n");
  });

  it("refuses what cannot work, in one line", async () => {
    const env = { UPSTOW_URL: service.url, HOME: folder };
    const live = await runFailing(["listen", hook, "--key", service.live], env);
    assert.deepEqual([live.exitCode, live.code], [1, "UNAUTHORIZED"]);
    assert.match(live.message, /svc_test_/);
    const unknown = await runFailing(["listen", hook, "--key", "svc_test_wrong"], env);
    assert.deepEqual([unknown.exitCode, unknown.code], [1, "UNAUTHORIZED"]);
    for (const args of [["localhost:3000"], [hook, "--replay", "many"], [hook, "--replay", "1001"], []]) {
      const wrong = await runFailing(["listen", ...args, "--key", service.test], env);
      assert.deepEqual([wrong.exitCode, wrong.code], [2, "USAGE"], args.join(" "));
    }
    assert.match((await runUpstow(["listen", "--help"], {})).stdout, /Usage: upstow listen <url>/);
  });
});
