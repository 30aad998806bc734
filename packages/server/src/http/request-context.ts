import type { IncomingMessage, ServerResponse } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { ErrorCode, RateWindowName } from "@upstow/contract";
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault } from "fastify";
import type { Actor } from "../kernel/actor.ts";
import type { Idempotency } from "./idempotency.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** Who calls; set on every route that needs a key before its handler runs. */
    actor: Actor;
    /** The client's address, as the nearest proxy that we trust reported it. */
    clientAddress: string;
    /** The JSON text as it came, to tell two bodies apart. */
    bodyText: string;
    idempotency: Idempotency;
  }
  interface FastifySchema {
    /** Not part of the described API. */
    hide?: boolean;
    tags?: string[];
    summary?: string;
    description?: string;
    /** What the document shows where it says more than the validator asks for. */
    documentedBody?: unknown;
  }
  interface FastifyContextConfig {
    /** Which of a key's rate limit windows the route counts to; "other" unless set. */
    rateWindow?: RateWindowName;
    /** The least role that may call it in the dashboard. Unless set, viewers may read and developers may change. */
    role?: "viewer" | "developer";
    /** The path's `:id` names the caller's own project. */
    ownProject?: boolean;
    /** The URL carries a signature: one that cannot be read has been edited. */
    signedUrl?: boolean;
    /** Error codes of this operation, in the order of its checks, beside those that key, path, query and body bring. */
    errors?: readonly ErrorCode[];
    /** Where a code comes with another status than in the table of errors. */
    errorStatuses?: Readonly<Record<number, ErrorCode>>;
    /** Needs no API key. */
    isPublic?: boolean;
    /** Answers while the installation is moved, although its method says that it changes something. */
    whileReadOnly?: boolean;
    /** Answers over plain HTTP, for probes that know no certificate. */
    plainHttp?: boolean;
    /** What of it a project's custom domain serves: files whose key is the wildcard, or all of it. Nothing when not said. */
    customDomain?: "own-files" | "always";
    /** Turns the stored answer of a repeated call into what it would be now. */
    replay?: (request: import("fastify").FastifyRequest, stored: unknown) => Promise<unknown>;
  }
}

/** The part of the server that features add their routes to: bodies and queries have the types of their schemas. */
export type ApiApp = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;

export function typed(app: FastifyInstance): ApiApp {
  return app.withTypeProvider<TypeBoxTypeProvider>();
}

/** Aborted when the client goes away before it was answered: nobody needs the work any more. */
export function signalGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  if (response.destroyed) gone.abort();
  return gone.signal;
}
