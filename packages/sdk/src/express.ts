import { logAs } from "./handler/answer.ts";
import * as router from "./handler/file-router.ts";
import { type NodeRequest, toWebRequest } from "./handler/node-request.ts";
import * as reading from "./handler/read-handler.ts";
import { createHandler, type HandlerOptions } from "./handler/route-handler.ts";
import { receiveInDevelopment } from "./webhooks/development.ts";
import { type NodeBody, readNodeBody } from "./webhooks/node-body.ts";
import { receiveDelivery, tooLarge, type WebhookOptions } from "./webhooks/receive-delivery.ts";

export { UpstowAuthError, UpstowError } from "./errors.ts";
export type { FileRouter } from "./handler/file-router.ts";
export type { WebhookEvent } from "./webhooks/receive-delivery.ts";

export interface ExpressRequest extends NodeRequest, AsyncIterable<Uint8Array> {
  originalUrl?: string;
  body?: unknown;
}

/** Node's own response has these too. */
export interface ExpressResponse {
  statusCode: number;
  setHeader(name: string, value: string): unknown;
  end(body?: string): unknown;
}

/** Additional members for sending a file. */
export interface ExpressStream extends ExpressResponse {
  write(chunk: Uint8Array): boolean;
  once(event: "drain" | "close", listener: () => void): unknown;
  destroyed: boolean;
}

type Next = (error: unknown) => void;

const log = logAs("the handler of Upstow:");

/** Without a framework, an error that nobody handles would end the process. */
const failing = (res: ExpressResponse) => (error: unknown) => {
  log(error);
  res.statusCode = 500;
  res.end();
};

/** Callbacks get Express's own objects: `createFileRouter<express.Request>()` makes `context.req` yours. */
export const createFileRouter = <Req extends NodeRequest = ExpressRequest>() =>
  router.createFileRouter<{ req: Req }>();

/**
 * `app.all("/api/upload", createRouteHandler({ router }))`, before or after `express.json()`. It also serves Node's own
 * `createServer((req, res) => handler(req, res))`.
 */
export function createRouteHandler<Req extends NodeRequest>(options: HandlerOptions<{ req: Req }>) {
  const handle = createHandler(options);
  return (req: Req & ExpressRequest, res: ExpressResponse, next?: Next): void => {
    const answer = async () => {
      const request = await toWebRequest({ ...pick(req), url: req.originalUrl ?? req.url }, req.body, req);
      const response = await handle(request, { req });
      res.statusCode = response.status;
      response.headers.forEach((value, name) => {
        res.setHeader(name, value);
      });
      res.end(await response.text());
    };
    answer().catch(next ?? failing(res));
  };
}

const pick = ({ method, headers, protocol }: NodeRequest) => ({ method, headers, protocol });

/** `app.post("/hooks/upstow", createWebhookHandler({ onEvent }))`, before or after `express.json()`. */
export function createWebhookHandler(options: WebhookOptions) {
  receiveInDevelopment(options);
  return (req: NodeRequest & NodeBody, res: ExpressResponse, next?: Next): void => {
    const answer = async () => {
      const body = await readNodeBody(req);
      const given = body === null ? tooLarge : await receiveDelivery(options, { body, headers: req.headers });
      res.statusCode = given.status;
      res.setHeader("content-type", "application/json; charset=utf-8");
      res.end(JSON.stringify(given.body));
    };
    answer().catch(next ?? failing(res));
  };
}

/** `app.get("/files/{*key}", createReadHandler({ authorize }))` */
export function createReadHandler<Req extends NodeRequest & { originalUrl?: string }>(
  options: reading.ReadHandlerOptions<{ req: Req }>,
) {
  const handle = reading.createReadHandler(options);
  return (req: Req, res: ExpressStream, next?: Next): void => {
    const answer = async () => {
      const request = await toWebRequest({ ...pick(req), url: req.originalUrl ?? req.url }, undefined, null);
      const response = await handle(request, { req });
      res.statusCode = response.status;
      response.headers.forEach((value, name) => {
        res.setHeader(name, value);
      });
      const reader = response.body?.getReader();
      // A reader who has gone takes nothing more.
      let wake = () => {};
      res.once("close", () => wake());
      const untilDrained = () =>
        new Promise<void>((resolve) => {
          wake = resolve;
          res.once("drain", resolve);
        });
      for (let part = await reader?.read(); part && !part.done && !res.destroyed; part = await reader?.read())
        if (!res.write(part.value)) await untilDrained();
      if (res.destroyed) await reader?.cancel();
      res.end();
    };
    answer().catch(next ?? failing(res));
  };
}
