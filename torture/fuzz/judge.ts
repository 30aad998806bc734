import { ERROR_STATUS, type ErrorBody, errorType } from "@upstow/contract";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { FuzzAnswer } from "./client.ts";
import type { ApiDocument, Operation } from "./operations.ts";
import type { FuzzRequest } from "./requests.ts";
import type { Actor } from "./tenants.ts";

const internals = /node_modules|\.ts:\d|SQLITE_|sqlite error|SELECT |INSERT INTO|at Object\.|ENOENT|ECONN/;
/** Sent with a status that is not the code's usual one. */
const otherStatuses: Record<string, number[]> = {
  VALIDATION_ERROR: [408, 409, 411, 412, 413, 414, 416, 431],
  FORBIDDEN: [411],
};

/** Limits that long runs do reach; all others are lifted. */
const reachedLimits = /event streams|API keys per hour/;

/** Holds every answer to the document and to what is never allowed; returns what is wrong, or null. */
export function createJudge(document: ApiDocument, actors: Actor[]) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "api", components: document.components });
  const compiled = new Map<string, ValidateFunction | null>();

  function validatorFor(operation: Operation, status: number, type: string): ValidateFunction | null {
    const id = `${operation.name} ${status} ${type}`;
    const found = compiled.get(id);
    if (found !== undefined) return found;
    // Only refusals may be left to the default: what succeeds has to be described as such.
    const described =
      operation.responses[status] ?? (status >= 400 ? operation.responses["default"] : undefined);
    const schema = described?.content?.[type]?.schema;
    const text = JSON.stringify(schema ?? null).replaceAll('"#/components', '"api#/components');
    const validator = schema === undefined ? null : ajv.compile(JSON.parse(text));
    compiled.set(id, validator);
    return validator;
  }

  function checkDescribed({ operation }: FuzzRequest, { status, headers, json }: FuzzAnswer): string | null {
    const type = headers["content-type"]?.split(";", 1)[0] ?? "";
    // A stream, or an answer that another protocol describes.
    if (operation.responses[status] !== undefined && operation.responses[status].content === undefined)
      return null;
    if (isJsonRpc(json) && operation.path.endsWith("/mcp")) return null;
    const validator = validatorFor(operation, status, type);
    if (validator === null) return `${status} with '${type}' is not described`;
    if (type !== "application/json") return null;
    return validator(json) ? null : `not as described: ${ajv.errorsText(validator.errors)}`;
  }

  /** Another tenant's mark is a leak, unless the caller has sent it. */
  function checkCanaries(request: FuzzRequest, actor: Actor | null, text: string): string | null {
    const sent = request.path + (request.body ?? "");
    const isForeign = (other: Actor) => other.accountId !== actor?.accountId;
    const leaked = actors.find(
      (other) => isForeign(other) && text.includes(other.canary) && !sent.includes(other.canary),
    );
    if (actors.some(({ vaultFile }) => text.includes(vaultFile.bytes))) return "shows a private file";
    return leaked === undefined ? null : `shows what belongs to ${leaked.name}`;
  }

  return (request: FuzzRequest, actor: Actor | null, answer: FuzzAnswer): string | null => {
    const { status, headers, text, json } = answer;
    if (status >= 500) return `status ${status}`;
    if (headers["x-request-id"] === undefined) return "no X-Request-Id";
    if (actor === null && !request.operation.isPublic && status < 400) return "taken without a key";
    if (actor === null && request.mode === "valid" && !request.operation.isPublic && status !== 401)
      return "not refused with 401";
    if (internals.test(text)) return "shows internals";
    return checkDescribed(request, answer) ?? checkError(status, json) ?? checkCanaries(request, actor, text);
  };
}

const isJsonRpc = (json: unknown): boolean => typeof json === "object" && json !== null && "jsonrpc" in json;

export function checkError(status: number, json: unknown): string | null {
  const error = (json as Partial<ErrorBody> | undefined)?.error;
  if (error === undefined || typeof error.code !== "string") return null;
  if (ERROR_STATUS[error.code] !== status && otherStatuses[error.code]?.includes(status) !== true)
    return `${error.code} with status ${status}`;
  if (error.type !== errorType(status)) return `type ${error.type} with status ${status}`;
  if (error.code === "RATE_LIMITED" && !reachedLimits.test(error.message))
    return "a rate limit without cause";
  return null;
}
