import type { FastifyInstance, HTTPMethods } from "fastify";
import { AppError } from "../errors.ts";

const methods: HTTPMethods[] = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/** Remembers which methods each path has; call `answerOthers` once all routes are there. */
export function trackMethods(app: FastifyInstance): { answerOthers: () => void } {
  const known = new Map<string, Set<HTTPMethods>>();
  app.addHook("onRoute", (route) => {
    const taken = known.get(route.url) ?? new Set();
    for (const method of [route.method].flat()) taken.add(method as HTTPMethods);
    known.set(route.url, taken);
  });
  return {
    answerOthers() {
      for (const [url, taken] of [...known]) {
        const allow = methods.filter((method) => taken.has(method)).join(", ");
        const others = methods.filter((method) => !taken.has(method));
        app.route({
          method: others,
          url,
          schema: { hide: true },
          handler: async () => {
            throw new AppError("METHOD_NOT_ALLOWED", "This path does not take that method.", {
              suggestion: `Use ${allow}.`,
              headers: { allow },
            });
          },
        });
      }
    },
  };
}
