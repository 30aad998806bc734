import { setTimeout as wait } from "node:timers/promises";
import { MB } from "@upstow/contract";
import { startSource } from "../../packages/server/test/support/imports/source.ts";
import { noise } from "../../packages/server/test/support/render/test-images.ts";
import type { Attacker } from "./attacker.ts";
import { openSlowly, store } from "./attacks.ts";

const tus = { "tus-resumable": "1.0.0" };

async function openUpload({ url, key, count }: Attacker, sizeBytes: number): Promise<string | null> {
  const answer = await fetch(`${url}/tus`, {
    method: "POST",
    headers: { ...tus, authorization: `Bearer ${key}`, "upload-length": String(sizeBytes) },
  });
  count(`responses with ${answer.status}`);
  const location = answer.headers.get("location");
  return location === null ? null : new URL(location, url).href;
}

const appendHeaders = ({ key }: Attacker, offset: number) => ({
  ...tus,
  authorization: `Bearer ${key}`,
  "content-type": "application/offset+octet-stream",
  "upload-offset": String(offset),
});

async function append(attacker: Attacker, url: string, offset: number, bytes: number): Promise<boolean> {
  const headers = appendHeaders(attacker, offset);
  const answer = await fetch(url, { method: "PATCH", headers, body: Buffer.alloc(bytes) });
  attacker.count(`responses with ${answer.status}`);
  return answer.ok;
}

/** One byte at a time behind two megabytes, two clients at one offset, and bodies that never come. */
export async function appendCrumbs(attacker: Attacker): Promise<void> {
  const { repeat } = attacker;
  const size = 4 * MB;
  await repeat(5_000, async () => {
    const url = await openUpload(attacker, size);
    if (url === null) return;
    let offset = size / 2 - 1;
    if (!(await append(attacker, url, 0, offset))) return;
    for (let crumbs = 0; crumbs < 200; crumbs++) {
      const sent = await Promise.all([append(attacker, url, offset, 1), append(attacker, url, offset, 1)]);
      if (sent.some((isKept) => isKept)) offset++;
      await wait(25);
    }
    const sockets = await Promise.all(
      Array.from({ length: 10 }, () =>
        openSlowly(attacker, "PATCH", url, size - offset, appendHeaders(attacker, offset)),
      ),
    );
    await wait(5_000);
    for (const socket of sockets) socket.destroy();
  });
}

/** More imports than run at once, from sources that send just enough to stay, or never end. */
export async function importForever(attacker: Attacker): Promise<void> {
  const { api, repeat } = attacker;
  const source = await startSource();
  source.paths.set("/slow", (_, response) => {
    const timer = setInterval(() => response.write(Buffer.alloc(2_048)), 1_000);
    response.once("close", () => clearInterval(timer));
  });
  source.paths.set("/endless", (_, response) => {
    const more = () => {
      while (!response.destroyed && response.write(Buffer.alloc(16_384)));
    };
    response.on("drain", more);
    more();
  });
  let asked = 0;
  await repeat(1_000, () => {
    const url = source.url + (asked++ % 3 === 0 ? "/endless" : "/slow");
    return api("POST", "upload/import", { url, routeSlug: "default" });
  });
  await source.close();
}

/** Forms of many fields, of many files that are refused, and without an end. */
export async function fillForms(attacker: Attacker): Promise<void> {
  const { api, url, repeat, count } = attacker;
  const part = (name: string, value: string, file = "") =>
    `--x\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
  const forms = [
    Array.from({ length: 5_000 }, (_, i) => part(`field${i}`, "v".repeat(200))).join(""),
    Array.from({ length: 5_000 }, (_, i) => part("file", "x", `; filename="${i}.bin"`)).join(""),
    part("n".repeat(100_000), "v"),
    part("file", "x".repeat(MB), '; filename="endless.bin"').repeat(8),
    `--x\r\n${"Header: x\r\n".repeat(20_000)}`,
    "--x".repeat(300_000),
  ];
  let sent = 0;
  await repeat(1_000, async () => {
    const { status, body } = await api("POST", "upload/grants", { routeSlug: "default", maxFiles: 3 });
    if (status !== 200 && status !== 201) return;
    const answer = await fetch(`${url}/form/${body.grant.token}`, {
      method: "POST",
      headers: { "content-type": "multipart/form-data; boundary=x" },
      body: forms[sent++ % forms.length] ?? "",
      signal: AbortSignal.timeout(20_000),
    });
    count(`responses with ${answer.status}`);
    await answer.arrayBuffer();
  });
}

/** Every colour and height that a public image can have without a signature. */
export async function varyPublicImages(attacker: Attacker): Promise<void> {
  const { url, repeat, count } = attacker;
  const picture = await noise(1_600, 1_200, 5).jpeg({ quality: 90 }).toBuffer();
  const file = await store(attacker, Buffer.from(picture), { type: "image/jpeg" });
  if (file === null) return;
  let asked = 0;
  const next = async () => {
    const at = asked++;
    const colour = (at * 7_919).toString(16).padStart(6, "0").slice(-6);
    const recipe = `w_3840,h_${100 + (at % 3_900)},fit_pad,q_85,f_avif,bg_${colour},blur_${1 + (at % 100)}`;
    const answer = await fetch(`${url}/i/${recipe}/${file.key}`, { signal: AbortSignal.timeout(10_000) });
    count(`responses with ${answer.status}`);
    await answer.arrayBuffer();
  };
  await Promise.all(Array.from({ length: 8 }, () => repeat(50, next)));
}
