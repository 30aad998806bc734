import { setTimeout as wait } from "node:timers/promises";
import { type LieName, startHostileBucket } from "../../test/support/hostile-bucket.ts";
import { lies } from "../../test/support/hostile-lies.ts";
import type { Attacker } from "./attacker.ts";

const lieForMs = 2_000;
const size = 20;

/** H1: a bucket that is honest until it is set, then tells one lie after the other. */
export async function lieAsBucket(attacker: Attacker): Promise<void> {
  const { projectId, api, dashboard, repeat, isOver } = attacker;
  const bucket = await startHostileBucket();
  const storage = `/projects/${projectId}/storage`;
  const place = { endpoint: bucket.url, bucket: "files", accessKeyId: "key", secretAccessKey: "secret" };
  const set = await dashboard("PUT", storage, place);
  if (set.status !== 200) throw new Error(`the bucket was not set: ${JSON.stringify(set.body)}`);

  async function upload(): Promise<void> {
    const wanted = { fileName: "lie", fileSize: size, contentType: "text/plain", routeSlug: "default" };
    const asked = await api("POST", "upload/request", wanted);
    if (asked.status !== 200) return;
    const { uploadUrl, fileId, cdnUrl } = asked.body;
    const body = Buffer.alloc(size, "x");
    // The bucket lies to its owner as well, some of the time without end.
    const signal = AbortSignal.timeout(5_000);
    await fetch(uploadUrl, { method: "PUT", headers: { "content-type": "text/plain" }, body, signal });
    await api("POST", "upload/complete", { fileId });
    await fetch(cdnUrl, { signal: AbortSignal.timeout(5_000) }).then((answer) => answer.arrayBuffer());
  }

  async function changeLies(): Promise<void> {
    const names = Object.keys(lies) as LieName[];
    for (let told = 0; !isOver(); told++) {
      const name = names[told % names.length];
      if (name !== undefined) bucket.lie(name);
      await wait(lieForMs);
    }
  }

  await Promise.all([
    changeLies(),
    ...Array.from({ length: 3 }, () => repeat(300, upload)),
    repeat(2_000, () => dashboard("POST", `${storage}/probe`)),
    repeat(5_000, () => dashboard("PUT", storage, { ...place, prefix: "other/" })),
  ]);
  await bucket.stop();
}
