import { createFiles } from "../api/files.ts";
import { createRequest } from "../api/request.ts";
import { isDevelopment, readConnection, type UpstowOptions } from "../api/settings.ts";
import { createUploads } from "../api/uploads.ts";
import { UpstowError } from "../errors.ts";
import { createSigner } from "../links/create-signer.ts";
import { streamInDevelopment } from "../webhooks/development.ts";
import { createActions } from "./actions.ts";
import { answerFailure, json, logAs, readJson } from "./answer.ts";
import type { FileRouter } from "./file-router.ts";
import { asksForUrlFacts, describeUrl } from "./import.ts";
import type { Action, RoutesAnswer } from "./protocol.ts";
import { createSeal } from "./sealed-token.ts";
import type { Handling } from "./tools.ts";

export interface HandlerOptions<Context = unknown>
  extends Omit<UpstowOptions, "retries" | "concurrency" | "onWait"> {
  router: FileRouter<Context>;
  /** Called with errors that are hidden from the browser. Default: logs them to the console. */
  onError?: (error: unknown) => void;
}

/** The endpoint of your backend through which browsers upload. Handles GET and POST. */
export function createHandler<Context>(
  options: HandlerOptions<Context>,
): (request: Request, context: Context) => Promise<Response> {
  checkRouter(options.router);
  // Browsers wait for rate limits themselves; a request handler must not hang for a minute.
  const connection = asOwnMistake(readConnection({ ...options, retries: 2 }, 0));
  const request = createRequest(connection);
  const actions = createActions<Context>({
    router: options.router,
    uploads: createUploads(request),
    files: createFiles(request, createSigner(request, connection, options)),
    seal: createSeal(() => connection().apiKey),
    report: options.onError ?? logAs("upload handler:"),
  });

  async function answer(handling: Handling<Context>): Promise<Response> {
    streamInDevelopment(connection);
    if (handling.request.method === "GET") return json(200, describeRoutes(options.router));
    if (handling.request.method !== "POST") throw methodNotAllowed();
    const body = await readJson(handling.request);
    if (asksForUrlFacts(handling.request)) return json(200, describeUrl(body["url"]));
    return json(200, await actions.run(body as unknown as Action, handling));
  }

  return async (given, context) => {
    try {
      return await answer({ request: given, context });
    } catch (error) {
      return answerFailure(error, options.onError ?? logAs("upload handler:"));
    }
  };
}

/** Missing settings are a server error, not a rejection; details are shown only in development. */
function asOwnMistake<Result>(read: () => Result): () => Result {
  return () => {
    try {
      return read();
    } catch (cause) {
      const { message, suggestion = "" } = cause as UpstowError;
      const text = `${message} ${suggestion}`.trim();
      if (!isDevelopment()) throw new Error(text, { cause });
      // The browser would retry any other 5xx before it shows this.
      throw new UpstowError(text, { code: "INTERNAL_ERROR", status: 501, cause });
    }
  };
}

/** A plain handler for every framework and runtime that uses Web `Request` and `Response`. */
export function createRouteHandler(options: HandlerOptions): (request: Request) => Promise<Response> {
  const handle = createHandler(options);
  return (request) => handle(request, undefined);
}

function describeRoutes(router: FileRouter): RoutesAnswer {
  const routes = Object.entries(router).map(([name, { rules }]) => [name, rules]);
  return { routes: Object.fromEntries(routes) };
}

/** Untyped code can put anything there. */
function checkRouter(router: FileRouter | undefined): void {
  if (router === undefined)
    throw new TypeError("router is missing: createRouteHandler({ router }), an object of routes by name.");
  for (const [name, route] of Object.entries(router)) {
    if (route?.rules !== undefined) continue;
    throw new TypeError(
      `The route "${name}" must be created with the function that createFileRouter() returns.`,
    );
  }
}

function methodNotAllowed(): UpstowError {
  return new UpstowError("Use GET or POST.", { code: "METHOD_NOT_ALLOWED", status: 405 });
}
