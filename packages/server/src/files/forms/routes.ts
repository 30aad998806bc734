import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from "fastify";
import type { Deps } from "../../deps.ts";
import { errorBody } from "../../http/error-handler.ts";
import { type AppError, invalid } from "../../kernel/errors.ts";
import { cdnFor } from "../../projects/file-url.ts";
import { toCompletedFile } from "../serialize.ts";
import { allowPages, limitGuessing } from "../uploads/doors/door-routes.ts";
import { getHeldGrant } from "../uploads/grants/grant.ts";
import type { FormPace } from "./parse-form.ts";
import { type ReceivedForm, receiveForm } from "./receive-form.ts";

const formPath = "/form/";

/** `<form action="…/form/<grant>" method="post" enctype="multipart/form-data">`, with or without scripts. */
export function formRoutes(app: FastifyInstance, deps: Deps, pace?: FormPace): void {
  async function receive(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const token = (request.raw.url ?? "").slice(formPath.length).split("?", 1)[0] ?? "";
    const held = await getHeldGrant(deps, token).catch((error) => limitGuessing(request, deps, error));
    const form = await receiveForm(deps, held, request.raw, pace);
    request.fileId = form.files[0]?.id;
    const answer = answerTo(form);
    if (typeof answer === "string") return void reply.code(303).header("location", answer).send();
    const cdn = cdnFor(deps.config, held.actor);
    const files = form.files.map((file) => toCompletedFile(cdn, file));
    await reply
      .code(answer.status)
      .header("cache-control", "no-store")
      .send({ files, failures: toFailures(form), ...(answer.error === null ? {} : errorBody(answer.error)) });
  }

  // The form is read as it arrives, so respond before the framework reads it.
  const answer: onRequestHookHandler = (request, reply, done) => {
    receive(request, reply).catch(done);
  };
  const shared = { schema: { hide: true }, config: { isPublic: true } };
  app.register(async (scope) => {
    // A script that shows progress makes the browser ask first.
    allowPages(scope, { methods: "POST", exposed: "X-Request-Id" });
    scope.options(`${formPath}*`, shared, async (_request, reply) => reply.code(204).send());
    scope.post(`${formPath}*`, { ...shared, onRequest: answer }, () => {});
  });
}

/** The URL to redirect to, or the status and the error. */
function answerTo({
  files,
  failures,
  redirect,
}: ReceivedForm): string | { status: number; error: AppError | null } {
  const [failed] = failures;
  if (failed !== undefined && files.length === 0) return { status: failed.error.status, error: failed.error };
  if (failed !== undefined) return { status: 207, error: null };
  if (files.length === 0) throw invalid("form", "has no file", 'Add <input type="file" name="file"> to it.');
  if (redirect === null) return { status: 200, error: null };
  const url = new URL(redirect);
  for (const { id } of files) url.searchParams.append("fileId", id);
  return url.href;
}

const toFailures = ({ failures }: ReceivedForm) =>
  failures.map(({ name, error }) => ({ name, code: error.code, message: error.message }));
