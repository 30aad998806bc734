import { createRequire } from "node:module";
import type { FastifyInstance } from "fastify";

type CompileValidator = NonNullable<FastifyInstance["validatorCompiler"]>;
type Validate = ReturnType<CompileValidator>;
type Serialize = (answer: unknown) => string;

const require = createRequire(import.meta.url);

/**
 * Schemas become code when their route is first called, and what compiles them is loaded then, not at the start, which
 * would take a third longer.
 */
export function compileLate(app: FastifyInstance, compileValidator: CompileValidator): void {
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

/** In place of the framework's own compilers, which it would load at once. */
export const noCompilers = { buildValidator: () => refuse, buildSerializer: () => refuse };
