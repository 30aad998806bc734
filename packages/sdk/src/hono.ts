import * as router from "./handler/file-router.ts";
import { createHandler, type HandlerOptions } from "./handler/route-handler.ts";

export { UpstowAuthError, UpstowError } from "./errors.ts";
export type { FileRouter } from "./handler/file-router.ts";

interface HonoContext {
  req: { raw: Request };
}

/** Callbacks get Hono's own context: `createFileRouter<Context<Env>>()`. */
export const createFileRouter = <Context extends HonoContext = HonoContext>() =>
  router.createFileRouter<Context>();

/** `app.on(["GET", "POST"], "/api/upload", createRouteHandler({ router }))` */
export function createRouteHandler<Context extends HonoContext>(options: HandlerOptions<Context>) {
  const handle = createHandler(options);
  return (context: Context): Promise<Response> => handle(context.req.raw, context);
}
