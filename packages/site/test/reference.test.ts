import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ERROR_STATUS } from "@upstow/contract";
import { type ApiDocument, type DocsLibrary, openDocs } from "@upstow/mcp/docs";
import { catalogue } from "@upstow/react/catalogue";
import { parse as parseYaml } from "yaml";
import { configReference } from "../../server/src/config/reference.ts";
import { readConfig } from "../../server/src/config.ts";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { docFiles, readDoc } from "./support/doc-files.ts";
import { findUnlisted } from "./support/limits-table.ts";

describe("the reference", () => {
  let app: TestApp;
  let docs: DocsLibrary;
  before(async () => {
    app = await startApp({ database: "sqlite" });
    docs = openDocs((await app.call("GET", "openapi.json")).body, app.url);
  });
  after(() => app.close());
  const textBelow = (path: string) =>
    docs.pages
      .filter((page) => page.path.startsWith(path))
      .map(({ markdown }) => markdown)
      .join("\n");

  it("describes every endpoint with request, response and errors", async () => {
    const { paths } = (await app.call("GET", "openapi.json")).body;
    const text = textBelow("reference/api/");
    for (const [path, methods] of Object.entries(paths)) {
      for (const method of Object.keys(methods as object))
        assert.ok(text.includes(`\`${method.toUpperCase()} ${path}\``), `${method} ${path}`);
    }
    const uploads = docs.find("reference/api/uploads")?.markdown ?? "";
    assert.match(uploads, /\| `fileName` \| string \| 1 to 255 characters/);
    assert.match(uploads, /\| `parts\[\]\.uploadUrl` \| string \|/);
    assert.match(uploads, /\| 400 \| `VALIDATION_ERROR`, `INVALID_FILE_TYPE` \|/);
    assert.match(uploads, /\| 422 \| `FILE_NOT_IN_STORAGE`, `CONTENT_MISMATCH` \|/);
    const files = docs.find("reference/api/files")?.markdown ?? "";
    assert.match(
      files,
      /\| `cursor` \| query \| string, optional \| at most 200 characters; nextCursor of the previous page \|/,
    );
    const webhooks = docs.find("reference/api/webhooks")?.markdown ?? "";
    assert.match(webhooks, /\| `force` \| boolean, optional \|/, "a body that may be left out is shown too");
    assert.match(webhooks, /\| `since` \| query \| string, optional \| .*a time with its zone, such as /);
    assert.match(webhooks, /JSON with messageId, event, fileId, routeSlug, createdAt, body;/);
    assert.match(docs.find("reference/api/logs")?.markdown ?? "", /\| `type` .*upload\.completed, /);
    assert.ok(!/\*\*Request body\*\*\n\n.*\n.*\n\n/.test(text), "no body without fields");
    const everywhere = Object.keys(ERROR_STATUS).filter((code) => code !== "METHOD_NOT_ALLOWED");
    for (const code of everywhere) assert.ok(text.includes(`\`${code}\``), code);
  });

  it("is named by its whole path everywhere else, so that it can be called as it stands there", async () => {
    const { paths } = (await app.call("GET", "openapi.json")).body;
    const shapeOf = (path: string) => path.replaceAll(/\{[^}]+\}|:\w+|<\w+>/g, "*");
    const known = new Set(
      Object.entries(paths).flatMap(([path, methods]) =>
        Object.keys(methods as object).map((method) => `${method.toUpperCase()} ${shapeOf(path)}`),
      ),
    );
    const outsideOfIt = /^\/(?:[fgipst]|form|metrics|packages|resumable|tus)\b/;
    const calls = docFiles.flatMap((file) =>
      [...readDoc(file).matchAll(/`(GET|POST|PATCH|PUT|DELETE) (\/[^`? ]*)/g)].map(
        ([, method = "", path = ""]) => ({ file, method, path }),
      ),
    );
    assert.ok(calls.length > 40);
    for (const { file, method, path } of calls)
      assert.ok(
        outsideOfIt.test(path) || known.has(`${method} ${shapeOf(path)}`),
        `${file}: ${method} ${path}`,
      );
  });

  it("begins every request body in the explorer with an object", async () => {
    const { exampleOf } = await import(import.meta.resolve("../src/assets/explorer-request.js"));
    const { paths } = (await app.call("GET", "openapi.json")).body as ApiDocument;
    const operations = Object.values(paths).flatMap((methods) => Object.values(methods));
    for (const { operationId, requestBody } of operations) {
      const schema = requestBody?.content["application/json"]?.schema;
      if (schema !== undefined) assert.equal(typeof exampleOf(schema), "object", operationId);
    }
  });

  it("has every error code with its status", () => {
    const page = readDoc("docs/reference/errors.md");
    for (const [code, status] of Object.entries(ERROR_STATUS))
      assert.match(page, new RegExp(`\\| \`${code}\` \\| ${status}\\b`), code);
    const rows = page.match(/^\| `[A-Z_]+` \| \d/gm) ?? [];
    assert.equal(rows.length, Object.keys(ERROR_STATUS).length);
    const ofSdk: string[] = readDoc("packages/sdk/src/errors.ts").match(/(?<=^ {2}\| ")[A-Z_]+/gm) ?? [];
    assert.ok(ofSdk.includes("CANCELLED"));
    for (const code of ofSdk) assert.match(page, new RegExp(`^\\| .*\`${code}\``, "m"), code);
  });

  it("has the packages' exports with their types and comments", async () => {
    for (const [path, entry] of [
      ["server-client", "@upstow/sdk"],
      ["browser-uploader", "@upstow/sdk/client"],
      ["webhooks", "@upstow/sdk/webhooks"],
    ] as const) {
      const page = docs.find(`reference/sdk/${path}`)?.markdown ?? "";
      for (const name of Object.keys(await import(entry)))
        assert.match(page, new RegExp(`^## ${name}$`, "m"));
      assert.ok(!/^export |\bundefined is not/m.test(page), path);
    }
    const client = docs.find("reference/sdk/server-client")?.markdown ?? "";
    const { createUpstow } = await import("@upstow/sdk");
    const upstow = createUpstow({ apiKey: "svc_test_x", baseUrl: "http://localhost" });
    for (const call of listCalls(upstow, "upstow")) assert.ok(client.includes(`\`${call}(`), call);
    assert.match(client, /\/\*\* Bytes\. A stream of more than 10 MB whose size is not given/);
  });

  it("has every component with its props", () => {
    const text = textBelow("reference/components/");
    for (const { name, props } of catalogue) {
      assert.match(text, new RegExp(`^## ${name}$`, "m"));
      for (const prop of props) assert.ok(text.includes(`\`${prop.name}\``), `${name}.${prop.name}`);
    }
  });

  it("has every limit of the contract", () => {
    assert.deepEqual(findUnlisted(), []);
  });

  it("has every variable that the configuration reads, with its default", () => {
    const asked = new Set<string>();
    const env = new Proxy({}, { get: (_target, name) => void asked.add(String(name)) });
    const config = readConfig(env);
    assert.deepEqual(configReference.map(({ name }) => name).sort(), [...asked].sort());
    const fixed = Object.fromEntries(configReference.map((variable) => [variable.name, variable.default]));
    assert.equal(fixed["UPSTOW_HOST"], `\`${config.host}\``);
    assert.equal(fixed["UPSTOW_PORT"], `\`${config.port}\``);
    assert.equal(fixed["UPSTOW_WEBHOOK_RETRY_BASE_MS"], `\`${config.webhookRetryBaseMs}\``);
    assert.equal(fixed["UPSTOW_LOG_LEVEL"], `\`${config.logLevel}\``);
    assert.equal(fixed["UPSTOW_LOG_RETENTION_DAYS"], `\`${config.logRetentionDays}\``);
    assert.equal(fixed["UPSTOW_AUDIT_RETENTION_DAYS"], `\`${config.auditRetentionDays}\``);
    const needed = { UPSTOW_S3_BUCKET: "b", UPSTOW_S3_ACCESS_KEY_ID: "a", UPSTOW_S3_SECRET_ACCESS_KEY: "s" };
    const { s3 } = readConfig(needed);
    assert.equal(fixed["UPSTOW_S3_REGION"], `\`${s3?.region}\``);
    assert.equal(fixed["UPSTOW_S3_PREFIX"], `\`${s3?.prefix}\``);
    assert.equal(fixed["UPSTOW_S3_DELIVERY"], `\`${s3?.delivery}\``);
  });

  it("has metrics that the service really has, and every alert", async (t) => {
    const onPostgres = await startApp({ database: "postgres" });
    t.after(() => onPostgres.close());
    const { body } = await onPostgres.call("GET", "/metrics");
    const page = readDoc("docs/metrics.md");
    const named = new Set(page.match(/\bupstow_\w+/g) ?? []);
    named.delete("upstow_");
    for (const name of named)
      assert.ok(body.includes(`# HELP ${name.replace(/_(?:bucket|count)$/, "")} `), name);
    const { groups } = parseYaml(readDoc("deploy/prometheus/upstow.rules.yaml"));
    const alerts: string[] = groups[1].rules.map(({ alert }: { alert: string }) => alert);
    assert.deepEqual([...new Set(page.match(/\bUpstow[A-Z]\w+/g))].sort(), alerts.sort());
  });
});

function listCalls(value: object, prefix: string): string[] {
  return Object.entries(value).flatMap(([name, member]) =>
    typeof member === "function" ? [`${prefix}.${name}`] : listCalls(member as object, `${prefix}.${name}`),
  );
}
