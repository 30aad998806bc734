import { ERROR_STATUS, type ErrorCode, ErrorEnvelope } from "@upstow/contract";
import type { FastifyContextConfig, FastifyInstance, FastifySchema, RouteOptions } from "fastify";
import { http } from "../kernel/net/node-http.ts";

interface ObjectSchema {
  properties?: Record<string, { description?: string }>;
  required?: string[];
}

/** Collects every route of the API as it is registered, so that the document cannot drift from the code. */
export function describeApi(app: FastifyInstance, version: string): (publicUrl: string) => object {
  const routes: RouteOptions[] = [];
  app.addHook("onRoute", (route) => {
    if (route.schema?.hide !== true && route.method !== "HEAD") routes.push(route);
  });
  return (publicUrl) => ({
    openapi: "3.1.0",
    info: {
      title: "Upstow",
      version,
      description:
        "Request a presigned URL, PUT the bytes to it, then confirm; the file is served from its CDN URL.",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: publicUrl }],
    security: [{ apiKey: [] }],
    tags: [...new Set(routes.flatMap((route) => route.schema?.tags ?? []))].map((name) => ({ name })),
    components: {
      securitySchemes: {
        apiKey: { type: "http", scheme: "bearer", description: "An API key: svc_live_… or svc_test_…" },
      },
      schemas: { Error: plain(ErrorEnvelope) },
    },
    paths: describePaths(routes),
  });
}

function describePaths(routes: RouteOptions[]): Record<string, Record<string, object>> {
  const paths: Record<string, Record<string, object>> = {};
  for (const route of routes) {
    const path = route.url.replaceAll(/:(\w+)/g, "{$1}").replace("*", "{key}");
    for (const method of [route.method].flat()) {
      paths[path] = { ...paths[path], [method.toLowerCase()]: describeOperation(route, path, method) };
    }
  }
  return paths;
}

function describeOperation(route: RouteOptions, path: string, method: string): object {
  const schema: FastifySchema = route.schema ?? {};
  const isPublic = route.config?.isPublic === true;
  const takesInput = schema.body !== undefined || schema.querystring !== undefined;
  return {
    operationId: operationId(path, method),
    ...(schema.summary === undefined ? {} : { summary: schema.summary }),
    ...(schema.description === undefined ? {} : { description: schema.description }),
    ...(schema.tags === undefined ? {} : { tags: schema.tags }),
    ...(isPublic ? { security: [] } : {}),
    parameters: [
      ...pathParameters(path),
      ...queryParameters(schema.querystring as ObjectSchema | undefined),
      ...(method === "POST" && !isPublic ? [idempotencyKey] : []),
    ],
    ...(schema.body === undefined
      ? {}
      : { requestBody: describeBody((schema.documentedBody ?? schema.body) as ObjectSchema) }),
    responses: describeResponses(
      schema.response as Record<string, unknown> | undefined,
      listErrors({ method, path, isPublic, takesInput, config: route.config ?? {} }),
    ),
  };
}

/** A missing body means one without fields. */
function describeBody(body: ObjectSchema): object {
  const required = (body.required ?? []).length > 0;
  return { required, content: { "application/json": { schema: plain(body) } } };
}

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description: "makes the call safe to repeat for 24 hours",
  schema: { type: "string", minLength: 1, maxLength: 255 },
};

function operationId(path: string, method: string): string {
  const words = path
    .replace("/api/v1/", "")
    .replaceAll(/[{}]/g, "")
    .split(/[/_.-]/);
  return method.toLowerCase() + words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join("");
}

function pathParameters(path: string): object[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(schema: ObjectSchema | undefined): object[] {
  return Object.entries(schema?.properties ?? {}).map(([name, property]) => ({
    name,
    in: "query",
    required: schema?.required?.includes(name) ?? false,
    schema: plain(property),
  }));
}

function describeResponses(
  response: Record<string, unknown> = {},
  errors: [string, ErrorCode[]][],
): Record<string, object> {
  const described: Record<string, object> = {};
  if (Object.keys(response).length === 0) described["200"] = { description: "OK" };
  for (const [status, schema] of Object.entries(response)) {
    described[status] = {
      description: http.STATUS_CODES[status] ?? status,
      content: { "application/json": { schema: plain(schema) } },
    };
  }
  for (const [status, codes] of errors) described[status] ??= describeError(codes.join(", "));
  described["default"] = describeError("Any other error");
  return described;
}

function describeError(description: string): object {
  return { description, content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } };
}

/** TypeBox marks its schemas with hidden symbols; the document needs plain JSON. */
function plain(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema));
}

interface OperationShape {
  method: string;
  /** As the document writes it: `/api/v1/files/{key}`. */
  path: string;
  isPublic: boolean;
  takesInput: boolean;
  config: Pick<FastifyContextConfig, "errors" | "errorStatuses">;
}

/** Every error code of an operation by status, in the order of its checks. */
function listErrors({ method, path, isPublic, takesInput, config }: OperationShape): [string, ErrorCode[]][] {
  const codes: ErrorCode[] = [
    ...(isPublic ? [] : (["UNAUTHORIZED"] as const)),
    "RATE_LIMITED",
    ...(takesInput || (method === "POST" && !isPublic) ? (["VALIDATION_ERROR"] as const) : []),
    ...(config.errors ?? []),
    ...(path.includes("{") ? (["NOT_FOUND"] as const) : []),
    "FORBIDDEN",
    "INTERNAL_ERROR",
    "SERVICE_UNAVAILABLE",
  ];
  const others = Object.entries(config.errorStatuses ?? {});
  return [
    ...Map.groupBy(new Set(codes), (code) => String(ERROR_STATUS[code])),
    ...others.map(([status, code]): [string, ErrorCode[]] => [status, [code]]),
  ];
}
