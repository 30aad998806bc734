import { createRequire } from "node:module";
import type { ErrorDetail } from "@upstow/contract";
import type { Ajv, ErrorObject, ValidateFunction } from "ajv";
import type { FastifyInstance, FastifySchema, preValidationHookHandler } from "fastify";
import type { Static, TSchema } from "typebox";
import { AppError, invalid } from "../kernel/errors.ts";
import { addRouteHook } from "./request-context.ts";

type CompileValidator = NonNullable<FastifyInstance["validatorCompiler"]>;
type Validate = ReturnType<CompileValidator>;
type Serialize = (answer: unknown) => string;

const require = createRequire(import.meta.url);

/**
 * Schemas are compiled when their route is first called, and the compiler is loaded then, because loading it at startup
 * would take a third longer.
 */
function compileLate(app: FastifyInstance, compileValidator: CompileValidator): void {
  app.setValidatorCompiler((route) => {
    let compiled: Validate | undefined;
    const validate: Validate = (data) => {
      compiled ??= compileValidator(route);
      const isValid = compiled(data);
      validate.errors = compiled.errors ?? null;
      return isValid;
    };
    return validate;
  });
  app.setSerializerCompiler(({ schema }) => {
    let compiled: Serialize | undefined;
    return (answer) => {
      compiled ??= compileSerializer(schema as object);
      return compiled(answer);
    };
  });
}

function compileSerializer(schema: object): Serialize {
  const { default: build } = require("fast-json-stringify") as typeof import("fast-json-stringify");
  return build(schema) as Serialize;
}

function refuse(): never {
  throw new Error("a route with a schema needs validateRequests before it");
}

/** Replaces the framework's own compilers, which it would load immediately. */
export const noCompilers = { buildValidator: () => refuse, buildSerializer: () => refuse };

/** Bodies are not converted ("12" is not a number); query strings are text and have to be. */
export function validateRequests(app: FastifyInstance): void {
  let strict: Ajv | undefined;
  let converting: Ajv | undefined;
  compileLate(app, ({ schema, httpPart }) => {
    if (httpPart === "body") strict ??= createValidator(false);
    else converting ??= createValidator("array");
    return ((httpPart === "body" ? strict : converting) as Ajv).compile(schema as object);
  });
  app.addHook("onRoute", (route) => {
    addRouteHook(route, "preValidation", checkBefore(route.schema));
  });
  app.setSchemaErrorFormatter((errors, part) => validationError(errors as ErrorObject[], part));
}

/** Checks a value as strictly as a body; throws the error for the caller. */
export function createCheck<Schema extends TSchema>(schema: Schema): (value: unknown) => Static<Schema> {
  let validate: ValidateFunction | undefined;
  return (value) => {
    validate ??= createValidator(false).compile(schema as object);
    if (!validate(value)) throw validationError(validate.errors ?? [], "file");
    return value as Static<Schema>;
  };
}

interface QuerySchema {
  properties?: Record<string, { type?: unknown }>;
}

/** Checks that no schema can express. */
function checkBefore(schema: FastifySchema | undefined): preValidationHookHandler {
  const query = (schema?.querystring as QuerySchema | undefined)?.properties ?? {};
  const wholeNumbers = Object.keys(query).filter((name) => query[name]?.type === "integer");
  const takesBody = schema?.body !== undefined;
  return (request, _reply, done) => {
    // PostgreSQL cannot store it in text, and none of our names or ids contain it.
    if (request.url.includes("%00"))
      throw (
        request.server.editedSignedUrl(request.url) ?? invalid("URL", "must not contain the NUL character")
      );
    for (const name of wholeNumbers) checkWholeNumber(name, (request.query as Record<string, unknown>)[name]);
    // A missing body is treated as one without fields, so that the error can name the missing field.
    if (takesBody && request.body === undefined) request.body = {};
    done();
  };
}

/** The validator's own conversion accepts "0x10" and " 5 ", and turns "1e400" into an Infinity that passes every limit. */
function checkWholeNumber(name: string, value: unknown): void {
  if (value === undefined) return;
  if (typeof value !== "string" || !/^-?\d{1,15}$/.test(value)) throw invalid(name, "must be a whole number");
}

function createValidator(coerceTypes: boolean | "array"): Ajv {
  const { Ajv } = require("ajv") as typeof import("ajv");
  const addFormats = require("ajv-formats") as typeof import("ajv-formats").default;
  const ajv = new Ajv({
    coerceTypes,
    useDefaults: true,
    strictTypes: false,
    allErrors: false,
    // Errors then include the schema, whose description explains patterns.
    verbose: true,
    // Validating the schemas themselves takes longer than compiling them; tests do that.
    meta: false,
    validateSchema: false,
  });
  addFormats(ajv, ["date-time"]);
  ajv.addKeyword("example");
  return ajv;
}

function validationError(errors: ErrorObject[], part: string): AppError {
  const details: ErrorDetail[] = errors.map((error) => ({
    path: pathOf(error, part),
    message: messageOf(error),
  }));
  const [first] = details;
  return new AppError(
    "VALIDATION_ERROR",
    first ? `${first.path} ${first.message}` : "The request is not valid.",
    {
      suggestion: "Correct the named fields and send the request again.",
      details,
    },
  );
}

function pathOf(error: ErrorObject, part: string): string {
  const missing = error.keyword === "required" ? [String(error.params["missingProperty"])] : [];
  const path = [...error.instancePath.split("/").slice(1), ...missing].join(".");
  return path === "" ? part : path;
}

function messageOf(error: ErrorObject): string {
  if (error.keyword === "required") return "is required";
  if (error.keyword === "enum")
    return `must be one of ${(error.params["allowedValues"] as unknown[]).join(", ")}`;
  // The only format in use. In a query, a plus that is not encoded as %2B arrives as a space.
  if (error.keyword === "format") return "must be a time with its zone, such as 2026-11-17T08:00:00Z";
  if (error.keyword === "pattern") {
    const [meaning] = String(error.parentSchema?.["description"] ?? "").split(";");
    return meaning ? `must be ${meaning}` : "has an invalid format";
  }
  if (error.keyword === "uniqueItems") return "must not contain the same item twice";
  if (error.keyword === "minimum") return `must be at least ${error.params["limit"]}`;
  if (error.keyword === "maximum") return `must be at most ${error.params["limit"]}`;
  const counted = countedNouns[error.keyword];
  if (counted !== undefined) {
    const [bound, noun] = counted;
    const limit = Number(error.params["limit"]);
    return `must have ${bound} ${limit} ${noun}${limit === 1 ? "" : "s"}`;
  }
  return error.message ?? "is not valid";
}

const countedNouns: Record<string, [bound: string, noun: string]> = {
  minItems: ["at least", "item"],
  maxItems: ["at most", "item"],
  minProperties: ["at least", "key"],
  maxProperties: ["at most", "key"],
  minLength: ["at least", "character"],
  maxLength: ["at most", "character"],
};
