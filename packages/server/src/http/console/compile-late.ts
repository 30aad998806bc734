import type { FastifyInstance } from "fastify";

type Validate = ReturnType<NonNullable<FastifyInstance["validatorCompiler"]>>;

/**
 * Schemas are compiled when their route is first called, not at the start: a server that nobody watches starts as
 * fast as one without a dashboard. Answers are written as they are; the pages read no more than they know.
 */
export function compileLate(app: FastifyInstance): void {
  const compile = app.validatorCompiler;
  if (compile === undefined) throw new Error("the dashboard's routes need the server's validation");
  app.setSerializerCompiler(() => (answer) => JSON.stringify(answer));
  app.setValidatorCompiler((route) => {
    let compiled: Validate | undefined;
    const validate: Validate = (data) => {
      compiled ??= compile(route);
      const isValid = compiled(data);
      validate.errors = compiled.errors ?? null;
      return isValid;
    };
    return validate;
  });
}
