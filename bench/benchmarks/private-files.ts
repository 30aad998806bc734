import { createSecretKey } from "node:crypto";
import { importReadKey, signLink } from "../../packages/sdk/src/links/sign.ts";
import { signLink as signOnServer } from "../../packages/server/src/serving/links/tokens.ts";
import { call, storeFile } from "../contenders/stored-files.ts";
import { startUpstow, type Upstow } from "../contenders/upstow.ts";
import { compare, requests, toTable } from "../harness/comparison.ts";
import { formatNumber } from "../harness/format.ts";
import type { Benchmark } from "../harness/report.ts";
import { type Contender, runRounds } from "../harness/rounds.ts";

const clients = 32;
const sizeBytes = 10 * 1024;
const fileCount = 100;
const signedLinks = 1_000_000;
const mostMicroseconds = 50;

/** A private read may take 1.25 of the CPU of a public one. */
const leastShare = 1 / 1.25;

async function openPaths(upstow: Upstow): Promise<Record<"public" | "link" | "grant", string[]>> {
  const paths = await Promise.all(Array.from({ length: fileCount }, () => storeFile(upstow, sizeBytes)));
  const keys = paths.map((path) => decodeURIComponent(path.replace("/f/", "")));
  const { links } = await call<{ links: { url: string }[] }>(upstow, "/api/v1/files/links", { keys });
  const { grant } = await call<{ grant: { baseUrl: string } }>(upstow, "/api/v1/files/grants", {
    routeSlug: "default",
  });
  const base = new URL(grant.baseUrl).pathname;
  return {
    public: paths,
    link: links.map(({ url }) => new URL(url).pathname),
    grant: keys.map((key) => `${base}/${key}`),
  };
}

/** Wall time for all of them, on one core. */
async function timeSigning(sign: (i: number) => unknown): Promise<number> {
  const startedAt = performance.now();
  for (let i = 0; i < signedLinks; i++) await sign(i);
  return ((performance.now() - startedAt) * 1000) / signedLinks;
}

export const privateFiles: Benchmark = {
  title: `Reading private files of 10 KiB with ${clients} clients, and signing links`,
  async run({ folder, ...options }) {
    const upstow = await startUpstow({ folder });
    const paths = await openPaths(upstow);
    const contenders = Object.entries(paths).map(
      ([name, ways]): Contender => ({
        name,
        scenario: "get-file",
        clients,
        target: { port: upstow.port, paths: ways, sizeBytes },
        pids: { server: upstow.pid },
      }),
    );
    const results = await runRounds(contenders, options);
    await upstow.stop();
    const figures = compare(
      results,
      [
        { label: "public, at its URL", contender: "public" },
        { label: "by a link", contender: "link", against: "public", target: leastShare },
        { label: "by a grant", contender: "grant", against: "public", target: leastShare },
      ],
      requests,
    );
    const readKey = `rdk_${"x".repeat(43)}`;
    const now = Date.now();
    const fileId = "01k0000000000000000000000a";
    const inSdk = await importReadKey(readKey);
    const inService = createSecretKey(Buffer.from(readKey));
    const microseconds = {
      "the SDK, without a call": await timeSigning((i) =>
        signLink(inSdk, { fileId, signedAt: now, expiresAt: now + i, shown: "i" }, "a.png"),
      ),
      "the service": await timeSigning((i) =>
        signOnServer(
          inService,
          { fileId, signedAt: now, expiresAt: now + i, shown: "inline", countedId: null },
          "a.png",
        ),
      ),
    };
    return {
      tables: [
        toTable("GET of a file", figures, requests, "public"),
        {
          caption: `${signedLinks.toLocaleString("en")} links, signed one after the other`,
          columns: ["", "µs each", "target"],
          rows: Object.entries(microseconds).map(([name, each]) => [
            name,
            formatNumber(each),
            `below ${mostMicroseconds} ${each < mostMicroseconds ? "✔" : "✖"}`,
          ]),
        },
      ],
      notes: [],
      data: { figures, microseconds },
    };
  },
};
