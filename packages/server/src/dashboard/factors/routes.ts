import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import { IdParam, Type } from "@upstow/contract";
import type { FastifyRequest } from "fastify";
import type { Deps } from "../../deps.ts";
import { type ApiApp, withAuthor } from "../../http/request-context.ts";
import { confirmPassword } from "../credentials.ts";
import type { PasswordWork } from "../password-work.ts";
import { letIn, visitorOf, visitorOrigin } from "../session/visitor.ts";
import {
  addPasskey,
  removePasskey,
  signInWithPasskey,
  startPasskey,
  startPasskeySignIn,
} from "./passkeys.ts";
import { countRecoveryCodes, findTotp, listPasskeys } from "./queries.ts";
import { confirmCodes, replaceRecoveryCodes, startCodes, turnOffCodes } from "./totp.ts";

const schema = { hide: true };
const ticket = Type.String({ minLength: 1, maxLength: 200 });
/** The authenticator's response, in the form that the library parses and verifies. */
const answer = <T>() =>
  Type.Unsafe<T>({
    type: "object",
    required: ["id"],
    properties: { id: { type: "string", maxLength: 2000 } },
  });
const PasswordBody = Type.Object({ currentPassword: Type.String({ maxLength: 1000 }) });
const CodeBody = Type.Object({ code: Type.String({ minLength: 1, maxLength: 20 }) });
const NewPasskeyBody = Type.Object({
  ticket,
  name: Type.String({ minLength: 1, maxLength: 100 }),
  response: answer<RegistrationResponseJSON>(),
});
const PasskeyBody = Type.Object({ ticket, response: answer<AuthenticationResponseJSON>() });

export function passkeySignInRoutes(app: ApiApp, deps: Deps): void {
  app.post("/sign-in/passkey/options", { schema }, async (request) =>
    startPasskeySignIn(deps, visitorOf(request), visitorOrigin(request)),
  );

  app.post("/sign-in/passkey", { schema: { ...schema, body: PasskeyBody } }, async (request, reply) =>
    letIn(deps, request, reply, (visitor) =>
      signInWithPasskey(deps, visitor, visitorOrigin(request), request.body),
    ),
  );
}

/** The user's own second factors. Each change requires the password again. */
export function factorRoutes(app: ApiApp, deps: Deps, passwords: PasswordWork): void {
  const confirm: Confirm = (request) =>
    confirmPassword(deps, passwords, request.session, request.body.currentPassword);

  app.get("/account/factors", { schema }, async ({ session: { accountId } }) => {
    const totp = await deps.db.get(findTotp, { accountId });
    const codes = await deps.db.get(countRecoveryCodes, { accountId });
    const passkeys = await deps.db.all(listPasskeys, { accountId });
    return {
      hasCodes: totp !== null && totp.confirmed_at !== null,
      recoveryCodesLeft: codes?.count ?? 0,
      passkeys: passkeys.map((row) => ({
        id: row.id,
        name: row.name,
        createdAt: new Date(row.created_at).toISOString(),
        lastUsedAt: row.last_used_at === null ? null : new Date(row.last_used_at).toISOString(),
      })),
    };
  });

  codeRoutes(app, deps, confirm);
  passkeyRoutes(app, deps, confirm);
}

type Confirm = (request: FastifyRequest & { body: { currentPassword: string } }) => Promise<unknown>;

function codeRoutes(app: ApiApp, deps: Deps, confirm: Confirm): void {
  app.post("/account/codes", { schema: { ...schema, body: PasswordBody } }, async (request) => {
    await confirm(request);
    return startCodes(deps, request.session);
  });

  app.post("/account/codes/confirm", { schema: { ...schema, body: CodeBody } }, async (request) => ({
    recoveryCodes: await confirmCodes(
      withAuthor(deps, request),
      request.session.accountId,
      request.body.code,
    ),
  }));

  app.delete("/account/codes", { schema: { ...schema, body: PasswordBody } }, async (request) => {
    await confirm(request);
    await turnOffCodes(withAuthor(deps, request), request.session.accountId);
    return { ok: true };
  });

  app.post("/account/recovery-codes", { schema: { ...schema, body: PasswordBody } }, async (request) => {
    await confirm(request);
    const { accountId } = request.session;
    return { recoveryCodes: await replaceRecoveryCodes(withAuthor(deps, request), accountId) };
  });
}

function passkeyRoutes(app: ApiApp, deps: Deps, confirm: Confirm): void {
  app.post("/account/passkeys/options", { schema: { ...schema, body: PasswordBody } }, async (request) => {
    await confirm(request);
    return startPasskey(deps, request.session, visitorOrigin(request));
  });

  app.post("/account/passkeys", { schema: { ...schema, body: NewPasskeyBody } }, async (request, reply) => {
    await addPasskey(withAuthor(deps, request), request.session, visitorOrigin(request), request.body);
    return reply.code(201).send({ ok: true });
  });

  app.delete(
    "/account/passkeys/:id",
    { schema: { ...schema, params: IdParam, body: PasswordBody } },
    async (request) => {
      await confirm(request);
      const { accountId } = request.session;
      await removePasskey(withAuthor(deps, request), { id: request.params.id, accountId });
      return { ok: true };
    },
  );
}
