import { IdParam, PageQuery, StringEnum, TIER_NAMES, Type } from "@upstow/contract";
import type { Deps } from "../../deps.ts";
import type { ApiApp } from "../../http/api-app.ts";
import { endPage, startPage } from "../../http/paging.ts";
import { AppError, notFound } from "../../kernel/errors.ts";
import { isoTime } from "../../kernel/iso-time.ts";
import { createAccount } from "../../projects/accounts/create-account.ts";
import { createLoginLink } from "../../projects/accounts/login-link.ts";
import { changeAccount } from "../../projects/accounts/manage-account.ts";
import { findInstallation } from "../../projects/accounts/queries.ts";
import { findAccountById, listAccounts } from "./admin-queries.ts";
import { getStatus } from "./status.ts";

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

/** What the operator's commands do, for the account that owns the installation. */
export function adminRoutes(app: ApiApp, deps: Deps): void {
  app.addHook("onRequest", async ({ session }) => {
    const installation = await deps.db.get(findInstallation, {});
    if (installation?.owner_account_id !== session.accountId) {
      throw new AppError("FORBIDDEN", "This is for the installation's owner.", {
        suggestion: "Ask them, or sign in as them.",
      });
    }
  });

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

  app.post("/accounts", { schema: { ...schema, body: NewAccountBody } }, async ({ body }, reply) => {
    const { email } = await createAccount(deps, { ...body, password: null });
    const { link, expiresAt } = await createLoginLink(deps, email);
    return reply.code(201).send({ email, link, expiresAt: isoTime(expiresAt) });
  });

  app.patch(
    "/accounts/:id",
    { schema: { ...schema, params: IdParam, body: AccountBody } },
    async ({ params, body }) => {
      const account = await deps.db.get(findAccountById, { id: params.id });
      if (account === null) throw notFound("Account");
      await changeAccount(deps, account.email, body);
      return { ok: true };
    },
  );
}
