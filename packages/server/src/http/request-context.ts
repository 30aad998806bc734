import type { IncomingMessage, ServerResponse } from "node:http";
import type { TypeBoxTypeProvider } from "@fastify/type-provider-typebox";
import type { ErrorCode, RateWindowName } from "@upstow/contract";
import type { FastifyBaseLogger, FastifyInstance, RawServerDefault, RouteOptions } from "fastify";
import type { Deps } from "../deps.ts";
import type { Actor, Author } from "../kernel/actor.ts";
import type { Idempotency } from "./idempotency.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The caller; set on every route that requires a key before its handler runs. */
    actor: Actor;
    /** The caller as the audit trail records them; on the same routes, and on those that require a session. */
    author: Author;
    /** The client's address, as reported by the nearest trusted proxy. */
    clientAddress: string;
    /** The file that the request is about, for the log. */
    fileId: string | undefined;
    /** The account of the person who is signed in, for the log. */
    userId: string | undefined;
    /** The value of its response's Strict-Transport-Security, if it has that header. */
    hsts?: string;
    /** Set if the request is traced. */
    traceId?: string;
    /** The raw JSON text, to compare two bodies. */
    bodyText: string;
    idempotency: Idempotency;
    /** The project of the requested custom domain, on routes that serve links; not on the installation's own host. */
    boundProject?: string;
  }
  interface FastifySchema {
    /** Not part of the documented API. */
    hide?: boolean;
    tags?: string[];
    summary?: string;
    description?: string;
    /** The documented schema, if it is more detailed than the validated one. */
    documentedBody?: unknown;
  }
  interface FastifyContextConfig {
    /** The rate limit window that the route counts toward. Default: "other". */
    rateWindow?: RateWindowName;
    /** The minimum role for the dashboard. By default, viewers may read and developers may change. */
    role?: "viewer" | "developer";
    /** The path's `:id` is the caller's own project. */
    ownProject?: boolean;
    /** The URL contains a signature: one that cannot be parsed has been edited. */
    signedUrl?: boolean;
    /** Error codes of this operation, in the order of its checks, in addition to those of key, path, query and body. */
    errors?: readonly ErrorCode[];
    /** Statuses that differ from the error table. */
    errorStatuses?: Readonly<Record<number, ErrorCode>>;
    /** Requires no API key. */
    isPublic?: boolean;
    /** Available while the installation is being moved, although its method suggests a change. */
    whileReadOnly?: boolean;
    /** Takes one of the account's places for large requests, however small its body is. */
    isLarge?: boolean;
    /** Asked every few seconds by machines. */
    isProbe?: boolean;
    /** Available over plain HTTP, for probes without certificates. */
    plainHttp?: boolean;
    /**
     * What a project's custom domain serves of it: files whose key is the wildcard, links (which check `boundProject`
     * themselves), or everything. Default: nothing.
     */
    customDomain?: "own-files" | "own-links" | "always";
    /** Refreshes the stored response of a repeated call. */
    replay?: (request: import("fastify").FastifyRequest, stored: unknown) => Promise<unknown>;
  }
}

/** The part of the server to which features add routes: bodies and queries are typed by their schemas. */
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

/** For a use case whose change the audit trail attributes to the caller. */
export function withAuthor(deps: Deps, { author }: { author: Author }): Deps {
  return { ...deps, author };
}

/** Aborted if the client disconnects before the response, because no one needs the work any more. */
export function signalGone(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  if (response.destroyed) gone.abort();
  return gone.signal;
}

type HookName = "onRequest" | "preParsing" | "preValidation" | "preHandler" | "onSend" | "onResponse";
type Hook<Name extends HookName> = Exclude<NonNullable<RouteOptions[Name]>, unknown[]>;

const added = new WeakMap<RouteOptions, Map<HookName, number>>();

/** Adds a hook to a route as it is registered: after those added before, ahead of the route's own. */
export function addRouteHook<Name extends HookName>(route: RouteOptions, name: Name, hook: Hook<Name>): void {
  const counts = added.get(route) ?? new Map<HookName, number>();
  added.set(route, counts);
  const count = counts.get(name) ?? 0;
  const hooks: unknown[] = [route[name] ?? []].flat();
  Object.assign(route, { [name]: hooks.toSpliced(count, 0, hook) });
  counts.set(name, count + 1);
}
