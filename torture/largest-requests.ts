import {
  ALLOWED_TYPES_MAX_BYTES,
  BODY_MAX_BYTES,
  BULK_DELETE_MAX,
  GB,
  LIST_MAX,
  METADATA_MAX_BYTES,
  PAGE_MAX,
  ROUTES_PER_PROJECT_MAX,
  SEARCH_TERM_MAX,
  TOOL_BATCH_MAX,
  TOOL_BODY_MAX_BYTES,
  UPLOAD_BATCH_MAX,
} from "@upstow/contract";
import type { Database } from "../packages/server/src/db/database.ts";
import { serviceAuthor } from "../packages/server/src/kernel/actor.ts";
import { createAccount, createProjectFor } from "../packages/server/src/projects/accounts/accounts.ts";
import { createKeyFor } from "../packages/server/src/projects/api-keys/api-keys.ts";
import { insertManyFiles } from "../packages/server/test/support/many-files.ts";
import type { DatabaseKind } from "../packages/server/test/support/start-app.ts";
import { onBothDatabases } from "./both-databases.ts";
import { createAttacker } from "./hostile/attacker.ts";
import { createInstallation, type Installation, liftRateLimits } from "./installation.ts";
import type { Outcome, RunOptions } from "./scenario.ts";

const storedFiles = 20_000;
/** The upper end of a bucket in the service's own histogram of stalls. */
const longestStallSec = 0.05;

type Send = () => Promise<{ status: number }>;

/**
 * The largest requests the contract allows, one after the other. None may keep the event loop for long. A stall now and
 * then is the machine's, or a collection of garbage; one that comes with most requests of a kind is that kind's.
 */
export const largestRequests = onBothDatabases("requests of each kind", sendEach);

async function sendEach({ rounds, onRound }: RunOptions, database: DatabaseKind): Promise<Outcome> {
  const installation = await createInstallation({}, undefined, database);
  try {
    const server = await installation.start();
    const kinds = await prepare(installation);
    const counts: Record<string, number> = {};
    const violations: string[] = [];
    for (let round = 1; round <= rounds; round++) {
      for (const [kind, send] of Object.entries(kinds)) {
        const before = await countLongStalls(installation);
        const { status } = await send();
        const stalls = (await countLongStalls(installation)) - before;
        counts[kind] = (counts[kind] ?? 0) + Math.min(1, stalls);
        if (status >= 500) violations.push(`${kind} was answered with ${status}`);
      }
      onRound(round, counts);
    }
    for (const [kind, stalled] of Object.entries(counts))
      if (stalled > rounds / 2) violations.push(`${kind} stalled the event loop ${stalled} times`);
    await server.stop();
    return { counts: nameCounts(database, counts), violations };
  } finally {
    await installation.remove();
  }
}

const nameCounts = (database: DatabaseKind, counts: Record<string, number>) =>
  Object.fromEntries(
    Object.entries(counts).map(([kind, stalls]) => [`stalls by ${kind} on ${database}`, stalls]),
  );

async function countLongStalls({ call }: Installation): Promise<number> {
  const metrics = String((await call("GET", "/metrics")).body);
  const read = (le: string) =>
    Number(metrics.match(`nodejs_eventloop_delay_seconds_bucket\\{le="${le}"\\} (\\d+)`)?.[1]);
  return read("\\+Inf") - read(String(longestStallSec));
}

async function prepare(installation: Installation): Promise<Record<string, Send>> {
  const access = await installation.withDatabase((db) => createCustomer(db, installation.url));
  const { api, dashboard } = await createAttacker(access, () => false);
  const { projectId } = access;
  const inLive = `/in/${projectId}/live`;
  const longText = "a".repeat(METADATA_MAX_BYTES - 100);
  const types = Array.from({ length: 40 }, (_, i) => `application/${"x".repeat(80)}${i}`);
  while (JSON.stringify(types).length > ALLOWED_TYPES_MAX_BYTES) types.pop();
  for (let i = 1; i < ROUTES_PER_PROJECT_MAX; i++)
    await api("POST", `projects/${projectId}/routers`, { slug: `route-${i}`, allowedTypes: types });

  const file = (metadata: Record<string, unknown> = {}) => ({
    fileName: "large",
    fileSize: 10,
    contentType: "text/plain",
    routeSlug: "default",
    metadata,
  });
  const shareOfBody = Math.floor(BODY_MAX_BYTES / UPLOAD_BATCH_MAX) - 200;
  const batch = Array.from({ length: UPLOAD_BATCH_MAX }, () => file({ text: "b".repeat(shareOfBody) }));
  const keys = Array.from({ length: BULK_DELETE_MAX }, (_, i) => `${projectId}/${"k".repeat(800)}${i}`);
  const manyKeys = Object.fromEntries(Array.from({ length: 1_200 }, (_, i) => [`key${i}`, i]));
  const nearMiss = `${"a".repeat(SEARCH_TERM_MAX - 1)}b`;
  const askTools = (count: number, query: string) =>
    api(
      "POST",
      "mcp",
      Array.from({ length: count }, (_, id) => ({
        jsonrpc: "2.0",
        id,
        method: "tools/call",
        params: { name: "search_docs", arguments: { query } },
      })),
    );
  let batchIds: string[] = [];

  return {
    "a request with metadata of 16 KB": () => api("POST", "upload/request", file({ text: longText })),
    "a request with 1,200 keys of metadata": () => api("POST", "upload/request", file(manyKeys)),
    "a body of nested arrays": () => api("POST", "upload/request", "[".repeat(BODY_MAX_BYTES - 10)),
    "a body of escapes": () =>
      api("POST", "upload/request", `{"fileName":"${"\\u0061".repeat(BODY_MAX_BYTES / 6 - 10)}"}`),
    "a body of numbers": () =>
      api("POST", "upload/request", `{"fileSize":[${"1,".repeat(BODY_MAX_BYTES / 2 - 20)}1]}`),
    "a batch of 100 requests in 1 MB": async () => {
      const answer = await api("POST", "upload/batch/request", { files: batch });
      batchIds = (answer.body.uploads ?? []).map((upload: { fileId: string }) => upload.fileId);
      return answer;
    },
    "a batch of 100 completions": () =>
      api("POST", "upload/batch/complete", { files: batchIds.map((fileId) => ({ fileId })) }),
    "a multipart upload of 10 GB": () =>
      api("POST", "upload/multipart/init", { ...file(), fileSize: 10 * GB }),
    "a deletion of 100 files": () => api("DELETE", "files", { keys }),
    "a page of 100 files": () => api("GET", `files?limit=${PAGE_MAX}`),
    "a page of 100 log entries": () => api("GET", `logs?limit=${PAGE_MAX}`),
    "log entries of a type that has none": () => api("GET", "logs?type=nothing"),
    "a page of 100 deliveries": () => api("GET", `webhooks/deliveries?limit=${PAGE_MAX}`),
    [`a list of ${LIST_MAX} routes`]: () => api("GET", `projects/${projectId}/routers`),
    "100 tool calls": () => askTools(TOOL_BATCH_MAX, "a ".repeat(TOOL_BODY_MAX_BYTES / TOOL_BATCH_MAX / 4)),
    "a tool call of 200 KB": () => askTools(1, "upload ".repeat(28_000)),
    "a search in 20,000 files": () => dashboard("GET", `${inLive}/search?metadata=${nearMiss}`),
    "a count of 20,000 files": () => dashboard("GET", `${inLive}/search/count?name=${nearMiss}`),
    "a search in log entries": () => dashboard("GET", `${inLive}/logs/search?text=${nearMiss}`),
    "a sign-in": () =>
      installation.call("POST", "/dashboard/api/sign-in", {
        headers: { origin: installation.url },
        body: { email: access.email, password: `${"p".repeat(1_000)}` },
      }),
    "the OpenAPI document": () => installation.call("GET", "/api/v1/openapi.json"),
    "the metrics": () => installation.call("GET", "/metrics"),
  };
}

async function createCustomer(db: Database, url: string) {
  const deps = { db, now: Date.now, author: serviceAuthor };
  const email = "large@customer.example";
  const password = "a customer with large requests";
  const account = await createAccount(deps, { email, password, tier: "enterprise" });
  await liftRateLimits(db, email);
  const { id: projectId } = await createProjectFor(deps, email, "large");
  const { secret: key } = await createKeyFor(deps, { projectId, type: "live", name: "large" });
  await insertManyFiles(
    { app: { deps }, clock: deps },
    {
      projectId,
      count: storedFiles,
      describe: (index) => ({
        metadata: JSON.stringify({ text: "a".repeat(index % 10 === 0 ? 16_000 : 100) }),
      }),
    },
  );
  return { url, accountId: account.id, email, password, tier: "enterprise" as const, projectId, key };
}
