import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findNginx } from "../contenders/nginx.ts";
import { createPhoto } from "../contenders/photo.ts";
import { requestVariant, storeImage } from "../contenders/stored-images.ts";
import { startUpstow } from "../contenders/upstow.ts";
import { compare, requests, toTable } from "../harness/comparison.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";

const clients = 32;
/** What every project lists, so that both kinds of URL have it. */
const listed = { width: 828, quality: 75, format: "webp" };
/** What signed URLs reached when those without a signature came. */
const shareOfNginx = 0.22;

export const imagesCached: Benchmark = {
  title: `Reading a rendered image with ${clients} clients`,
  async run({ folder, ...options }) {
    const upstow = await startUpstow({ folder });
    const key = await storeImage(upstow, await createPhoto(), "image/jpeg");
    const path = await requestVariant(upstow, key, listed);
    const listedPath = path.replace(/^\/p\/[^/]+/, "/i");
    const image = Buffer.from(await (await fetch(`${upstow.url}${path}`)).arrayBuffer());
    const nginx = await findNginx(folder);
    const get = { scenario: "get-file", clients };
    const facts = { sizeBytes: image.length };
    const contenders: Contender[] = [
      {
        name: "upstow",
        ...get,
        target: { port: upstow.port, paths: [path], ...facts },
        pids: { server: upstow.pid },
      },
      {
        name: "listed",
        ...get,
        target: { port: upstow.port, paths: [listedPath], ...facts },
        pids: { server: upstow.pid },
      },
    ];
    if (nginx !== null) {
      await writeFile(join(nginx.filesDir, "image.webp"), image);
      contenders.push({
        name: "nginx",
        ...get,
        target: { port: nginx.port, paths: ["/image.webp"], ...facts },
        pids: { server: nginx.pid },
      });
    }
    const results = await runRounds(contenders, options);
    await Promise.all([upstow.stop(), nginx?.stop()]);
    const figures = compare(
      results,
      [
        ...(nginx === null ? [] : [{ label: "nginx, the same bytes as a file", contender: "nginx" }]),
        {
          label: "Upstow: signature, file and variant looked up",
          contender: "upstow",
          ...(nginx === null ? {} : { against: "nginx" }),
        },
        {
          label: "Upstow: file, the project's lists and variant looked up",
          contender: "listed",
          ...(nginx === null ? {} : { against: "nginx", target: shareOfNginx }),
        },
      ],
      requests,
    );
    return {
      tables: [
        toTable(`GET /p/… and /i/…, ${Math.round(image.length / 1024)} KiB`, figures, requests, "nginx"),
      ],
      notes: nginx === null ? ["Left out, because nginx is not installed here: nginx."] : [],
      data: figures,
    };
  },
};
