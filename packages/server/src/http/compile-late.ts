import fastJsonStringify from "fast-json-stringify";
import type { FastifyInstance } from "fastify";

type CompileValidator = NonNullable<FastifyInstance["validatorCompiler"]>;
type Validate = ReturnType<CompileValidator>;
type Serialize = (answer: unknown) => string;

/** Schemas become code when their route is first called, not at the start, which would take a third longer. */
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
      compiled ??= fastJsonStringify(schema as object) as Serialize;
      return compiled(answer);
    };
  });
}
