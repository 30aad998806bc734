import assert from "node:assert/strict";
import { setTimeout as wait } from "node:timers/promises";
import { PART_SIZE_BYTES } from "@upstow/contract";
import { createSessionToken, signInAs } from "../console-client.ts";
import { startSource } from "../imports/source.ts";
import { read } from "../private-reader.ts";
import { assertCountersMatch } from "../recount.ts";
import type { TestApp } from "../start-app.ts";
import { createUploadClient } from "../upload-client.ts";
import type { Disguise } from "./disguises.ts";
import { doors, inParts, type Place } from "./doors.ts";

const routeSlug = "checked";
/** As many as are under way. */
const newest = Object.keys(doors).length;
const padding = Buffer.alloc(2 * PART_SIZE_BYTES);

interface Sent {
  disguises: Disguise[];
  /** Of them, those that are sent in parts as well, with zeros behind them. */
  large: Disguise[];
  /** A file that is what it says. */
  genuine: Disguise;
}

/** Sends every file through every door. All have to give the same verdict, and nobody may read a disguise at any moment. */
export async function judgeAtDoors(app: TestApp, { disguises, large, genuine }: Sent): Promise<void> {
  const tenant = await app.createTenant("enterprise");
  const client = createUploadClient(app, tenant.live);
  const route = { slug: routeSlug, checkContent: "enforce" };
  const made = await client.post(`projects/${tenant.projectId}/routers`, route);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const call = await signInAs(app, tenant.accountId);
  const source = await startSource();
  const place: Place = {
    ...{ app, client, source, routeSlug },
    session: (method, path, body) => call(method, `/in/${tenant.projectId}/live${path}`, body),
  };
  const sendTo = (all: typeof doors, { name, declared, bytes }: Disguise) =>
    Promise.all(
      Object.entries(all).map(async ([door, send]) => {
        const sent = { name: `${name} by ${door}`, type: declared, bytes };
        return { name: sent.name, verdict: await send(sent, place) };
      }),
    );
  const refused: string[] = [];
  async function refuse(all: typeof doors, disguise: Disguise): Promise<void> {
    const told = await sendTo(all, disguise);
    for (const { name, verdict } of told) {
      assert.equal(verdict?.code, "CONTENT_MISMATCH", name);
      assert.equal(verdict.message, told[0]?.verdict?.message, name);
      refused.push(name);
    }
  }
  try {
    let isOver = false;
    const reading = (async () => {
      for (; !isOver; await wait(100)) {
        const { files } = (await client.list(`?routeSlug=${routeSlug}&limit=${newest}`)).body;
        for (const { name, status, url } of files) {
          assert.notEqual(status, "UPLOADED", name);
          assert.equal((await read(url)).status, 404, name);
        }
      }
    })();
    const sending = (async () => {
      for (const disguise of disguises) await refuse(doors, disguise);
      for (const { name, declared, bytes } of large)
        await refuse(
          { parts: inParts },
          { name: `large ${name}`, declared, bytes: Buffer.concat([bytes, padding]) },
        );
    })().finally(() => {
      isOver = true;
    });
    await Promise.all([reading, sending]);

    const files = await listAll(client);
    const detected = new Map<string, string | null>();
    for (const name of refused) {
      const file = files.get(name);
      assert.equal(file?.status, "FAILED", name);
      const disguise = name.slice(0, name.lastIndexOf(" by "));
      assert.equal(file.detectedType, detected.get(disguise) ?? file.detectedType, name);
      detected.set(disguise, file.detectedType);
    }
    await expectUnreadable(app, tenant, client, [...files.values()]);

    const stored = await sendTo(doors, genuine);
    const all = await listAll(client);
    for (const { name, verdict } of stored) {
      assert.equal(verdict, null, name);
      assert.deepEqual((await read(all.get(name)?.url ?? "")).bytes, genuine.bytes, name);
    }
    await assertCountersMatch(app, tenant.projectId, { live: stored.length });
  } finally {
    await source.close();
  }
}

interface ListedFile {
  id: string;
  key: string;
  name: string;
  status: string;
  url: string;
  detectedType: string | null;
}

async function listAll(client: ReturnType<typeof createUploadClient>): Promise<Map<string, ListedFile>> {
  const files = new Map<string, ListedFile>();
  for (let cursor = ""; ; ) {
    const { body } = await client.list(`?routeSlug=${routeSlug}&limit=100${cursor}`);
    for (const file of body.files) files.set(file.name, file);
    if (!body.hasMore) return files;
    cursor = `&cursor=${body.nextCursor}`;
  }
}

/** On every path that gives out files. */
async function expectUnreadable(
  app: TestApp,
  { accountId, projectId }: { accountId: string; projectId: string },
  client: ReturnType<typeof createUploadClient>,
  files: ListedFile[],
): Promise<void> {
  const { grant } = (await client.post("files/grants", { prefix: `${routeSlug}/` })).body;
  const image = "w_640,fit_scale-down,q_75,f_auto";
  for (const { key, url, name } of files) {
    for (const path of [url, `${app.url}/i/${image}/${key}`, `${grant.baseUrl}/${key}`])
      for (const way of [{}, { method: "HEAD" }, { headers: { range: "bytes=0-3" } }])
        assert.equal((await read(path, way)).status, 404, `${name}: ${path}`);
    assert.equal((await client.post("transforms/image", { key, width: 5 })).status, 404, name);
  }
  for (let at = 0; at < files.length; at += 100) {
    const some = files.slice(at, at + 100);
    const keys = some.map(({ key }) => key);
    for (const answer of [
      await client.post("files/links", { keys }),
      await client.claim(keys),
      await client.restore(keys),
    ])
      assert.equal(answer.status, 404, JSON.stringify(answer.body));
    const ids = some.map(({ id }) => id).join(",");
    const cookie = `upstow_session=${await createSessionToken(app, accountId)}`;
    const archive = await fetch(`${app.url}/dashboard/api/in/${projectId}/live/files/archive?ids=${ids}`, {
      headers: { cookie },
    });
    const zip = Buffer.from(await archive.arrayBuffer()).toString("latin1");
    assert.equal(zip.split("PK\x03\x04").length, 2, "there is only the list of what was left out");
    assert.match(zip, /Files left out/);
  }
  for (const { key, name } of files)
    for (const path of [key, `private/${key}`])
      assert.equal(await app.app.deps.store.findReceived(path), null, name);
}
