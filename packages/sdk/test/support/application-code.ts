import { randomBytes } from "node:crypto";
import { signDelivery } from "../../../server/src/webhooks/sign-delivery.ts";
import { MB } from "./start-service.ts";

/**
 * An application that uses all of the published package, with what every runtime has: `answer` is its server, `drive`
 * uploads in every way and says what came of it. Address and key of the service are in its environment.
 */
export const applicationCode = `
  import { createUpstow, UpstowError } from "@upstow/sdk";
  import { createUploader } from "@upstow/sdk/client";
  import { createFileRouter, createRouteHandler, UpstowAuthError } from "@upstow/sdk/server";
  import * as next from "@upstow/sdk/next";
  import * as express from "@upstow/sdk/express";
  import * as fastify from "@upstow/sdk/fastify";
  import * as hono from "@upstow/sdk/hono";
  import * as sveltekit from "@upstow/sdk/sveltekit";
  import { createWebhookHandler } from "@upstow/sdk/webhooks";

  const large = () => new Blob([new Uint8Array(${11 * MB})]);
  const codeOf = (error) => (error instanceof UpstowError ? error.code : error.name);
  const f = createFileRouter();
  const answer = createRouteHandler({
    router: {
      any: f({
        middleware({ request }) {
          if (request.headers.get("x-user") === null) throw new UpstowAuthError("Sign in first.");
        },
        onUploadComplete: ({ file }) => file.size,
      }),
    },
  });

  async function uploadFromServer(upstow) {
    const stored = [
      await upstow.upload(new Blob(["hello"]), { name: "blob.txt" }),
      await upstow.upload(large(), { name: "blob.bin" }),
      await upstow.upload(large().stream(), { name: "stream.bin", size: large().size }),
      await upstow.upload(new Blob(["unknown length"]).stream(), { name: "stream.txt" }),
    ];
    return stored.map((file) => file.size);
  }

  async function uploadFromClient(endpoint) {
    const files = [new File(["hello"], "hello.txt"), new File([large()], "large.bin")];
    const uploader = createUploader({ endpoint, headers: { "x-user": "ann" }, verify: true });
    const stored = await uploader.upload("any", files);
    const stranger = createUploader({ endpoint, retries: 0 });
    return {
      uploaded: stored.map(({ result, isVerified }) => [result, isVerified]),
      refused: await stranger.upload("any", files[0]).catch(codeOf),
    };
  }

  async function receive({ url, headers, body, ...keys }) {
    let heard = null;
    const receive = createWebhookHandler({ url, ...keys, onEvent: (event) => (heard = event.messageId) });
    const post = (text) => receive(new Request(url, { method: "POST", headers, body: text }));
    return [(await post(body)).status, heard, (await post(body + " ")).status];
  }

  async function readEvent(upstow) {
    for await (const { body } of upstow.events.stream({ last: 1 })) return JSON.parse(body).file.name;
  }

  async function drive(endpoint, delivery) {
    const upstow = createUpstow();
    const names = [];
    const stored = await uploadFromServer(upstow);
    const event = await readEvent(upstow);
    for await (const { name } of upstow.files.list({ limit: 3 })) names.push(name);
    return {
      adapters: [next, express, fastify, hono, sveltekit].map((adapter) => typeof adapter.createRouteHandler),
      stored,
      event,
      listed: names.toSorted(),
      ...(await uploadFromClient(endpoint)),
      missing: await upstow.files.get("nothing").catch(codeOf),
      cancelled: await upstow.upload(large(), { signal: AbortSignal.abort() }).catch(codeOf),
      hook: await receive(delivery),
    };
  }
`;

/** What `drive` says where all is well. */
export const expectedOfDrive = {
  adapters: Array.from({ length: 5 }, () => "function"),
  stored: [5, 11 * MB, 11 * MB, 14],
  event: "stream.txt",
  listed: ["blob.bin", "blob.txt", "stream.bin", "stream.txt"],
  uploaded: [
    [5, true],
    [11 * MB, true],
  ],
  refused: "UNAUTHORIZED",
  missing: "NOT_FOUND",
  cancelled: "AbortError",
  hook: [200, "msg_1", 401],
};

/** An event as the service delivers it, and what its receiver knows. */
export function createDelivery() {
  const createKey = () => `whsec_${randomBytes(32).toString("base64")}`;
  const [url, currentKey, nextKey] = ["https://app.example/hooks/upstow", createKey(), createKey()];
  const body = JSON.stringify({ file: { id: "f1", name: "ä.txt" }, projectId: "p1" });
  const delivery = { messageId: "msg_1", attemptId: "att_1", attempt: 1, retried: 0, url };
  const marks = { event: "upload.completed", environment: "live", routeSlug: "docs" } as const;
  const signed = { ...delivery, ...marks, body: Buffer.from(body) };
  const headers = signDelivery(signed, { current: currentKey, previous: null }, Date.now());
  return { url, currentKey, nextKey, body, headers };
}

export type TestDelivery = ReturnType<typeof createDelivery>;
