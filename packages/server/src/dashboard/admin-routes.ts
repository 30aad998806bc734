import { statfs } from "node:fs/promises";
import { IdParam, PageQuery, StringEnum, TIER_NAMES, Type } from "@upstow/contract";
import type { Deps } from "../deps.ts";
import { endPage, startPage } from "../http/paging.ts";
import { type ApiApp, withAuthor } from "../http/request-context.ts";
import { AppError, notFound } from "../kernel/errors.ts";
import { isoTime } from "../kernel/iso-time.ts";
import { version } from "../kernel/version.ts";
import { getReports } from "../ops/maintenance-reports.ts";
import { changeAccount, createAccount, createLoginLink } from "../projects/accounts/accounts.ts";
import { findInstallation } from "../projects/accounts/queries.ts";
import { measureQueue } from "../webhooks/metrics.ts";
import { TIMEOUTS_UNTIL_FAILING } from "../webhooks/queue-queries.ts";
import { installationAuditRoutes } from "./audit-routes.ts";
import { findAccountById, listAccounts, measureInstallation } from "./queries.ts";

const schema = { hide: true };
const limit = (minimum: number) =>
  Type.Optional(Type.Union([Type.Integer({ minimum, maximum: 1_000_000_000 }), Type.Null()]));
const AccountQuery = Type.Object({
  ...PageQuery.properties,
  email: Type.Optional(Type.String({ maxLength: 300 })),
});
const NewAccountBody = Type.Object({
  email: Type.String({ minLength: 1, maxLength: 300 }),
  tier: StringEnum(TIER_NAMES),
});
const AccountBody = Type.Object({
  tier: Type.Optional(StringEnum(TIER_NAMES)),
  limits: Type.Optional(
    Type.Object({
      rateUpload: limit(1),
      rateTransform: limit(1),
      rateOther: limit(1),
      transformUnits: limit(0),
    }),
  ),
});

/** The operator's commands, for the account that owns the installation. */
export function adminRoutes(app: ApiApp, deps: Deps): void {
  app.addHook("onRequest", async ({ session }) => {
    const installation = await deps.db.get(findInstallation, {});
    if (installation?.owner_account_id !== session.accountId) {
      throw new AppError("FORBIDDEN", "Only the installation's owner can do that.", {
        suggestion: "Ask the owner, or sign in with the owner's account.",
      });
    }
  });

  installationAuditRoutes(app, deps);
  app.get("/status", { schema }, () => getStatus(deps));

  app.get("/accounts", { schema: { ...schema, querystring: AccountQuery } }, async ({ query }) => {
    const { before, take } = startPage(query);
    const pattern = `%${(query.email ?? "").toLowerCase().replaceAll(/[!%_]/g, "!$&")}%`;
    const rows = await deps.db.all(listAccounts, { pattern, before, take });
    const { shown, nextCursor, hasMore } = endPage(rows, take);
    const accounts = shown.map(({ createdAt, hasPassword, emailVerified, mayOwnProjects, ...account }) => ({
      ...account,
      hasPassword: hasPassword === 1,
      emailVerified: emailVerified === 1,
      mayOwnProjects: mayOwnProjects === 1,
      createdAt: isoTime(createdAt),
    }));
    return { accounts, nextCursor, hasMore };
  });

  app.post("/accounts", { schema: { ...schema, body: NewAccountBody } }, async (request, reply) => {
    const own = withAuthor(deps, request);
    const { email } = await createAccount(own, { ...request.body, password: null });
    const { link, expiresAt } = await createLoginLink(own, email);
    return reply.code(201).send({ email, link, expiresAt: isoTime(expiresAt) });
  });

  app.patch(
    "/accounts/:id",
    { schema: { ...schema, params: IdParam, body: AccountBody } },
    async (request) => {
      const account = await deps.db.get(findAccountById, { id: request.params.id });
      if (account === null) throw notFound("Account");
      await changeAccount(withAuthor(deps, request), account.email, request.body);
      return { ok: true };
    },
  );
}

/** The installation's status, for its owner. */
async function getStatus(deps: Deps) {
  const { config, db } = deps;
  const [counts, queue, reports, storage] = await Promise.all([
    db.get(measureInstallation, {}),
    db.get(measureQueue, { timeouts: TIMEOUTS_UNTIL_FAILING }),
    getReports(db),
    examineStorage(deps),
  ]);
  if (counts === null || queue === null) throw new Error("the installation could not be measured");
  return {
    version,
    node: process.versions.node,
    startedAt: isoTime(Math.floor(Date.now() - process.uptime() * 1000)),
    publicUrl: config.publicUrl,
    database: db.dialect,
    accounts: counts.accounts,
    projects: counts.projects,
    storedBytes: counts.storedBytes,
    storage: { ...storage, damagedObjects: counts.damaged },
    queues: {
      webhooksWaiting: queue.ready,
      webhooksUnderWay: queue.leased,
      webhookOldestDueSec: Math.max(0, Math.round(queue.oldestMs / 1000)),
      failingEndpoints: queue.failing,
      deletionsWaiting: counts.deletions,
      openUploads: counts.openUploads,
    },
    maintenance: reports.map(({ startedAt, endedAt, ...report }) => ({
      ...report,
      startedAt: isoTime(startedAt),
      endedAt: isoTime(endedAt),
    })),
  };
}

/** A disk has a size to show; a bucket does not. */
async function examineStorage({ config, store }: Deps) {
  const problem = await store.check().then(
    () => null,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  );
  const kind = config.s3 === null ? "disk" : "s3";
  const disk = kind === "disk" ? await statfs(config.dataDir).catch(() => null) : null;
  return {
    kind,
    problem,
    freeBytes: disk === null ? null : disk.bavail * disk.bsize,
    totalBytes: disk === null ? null : disk.blocks * disk.bsize,
  };
}
