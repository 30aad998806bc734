import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { Validator } from "@seriousme/openapi-schema-validator";
import { type ApiDocument, createAnswerCheck } from "./support/check-answer.ts";
import { type CallOptions, startApp, type TestApp } from "./support/start-app.ts";

/** What the contract names, with an answer in JSON. */
const operations = `
POST /upload/request
POST /upload/complete
POST /upload/multipart/init
POST /upload/multipart/complete
POST /upload/multipart/abort
POST /upload/multipart/sign
GET /upload/multipart/{fileId}
GET /files
GET /files/{key}
PATCH /files/{key}
DELETE /files/{key}
DELETE /files
GET /projects
POST /projects
GET /projects/{id}
PATCH /projects/{id}
DELETE /projects/{id}
GET /projects/{id}/routers
POST /projects/{id}/routers
GET /routers/{id}
PATCH /routers/{id}
DELETE /routers/{id}
POST /routers/{id}/test
GET /projects/{id}/keys
POST /projects/{id}/keys
DELETE /keys/{id}
GET /usage
GET /usage/history
GET /logs
POST /transforms/image
GET /events/stream
GET /webhooks/deliveries
GET /webhooks/deliveries/{id}
POST /webhooks/deliveries/{id}/redeliver
POST /webhooks/deliveries/redeliver
GET /webhooks/signing-keys
POST /webhooks/signing-keys/rotate
POST /mcp
GET /mcp/health`;

describe("the OpenAPI document", () => {
  let app: TestApp;
  let document: ApiDocument;
  before(async () => {
    app = await startApp();
    document = (await app.call("GET", "openapi.json")).body;
  });
  after(() => app.close());

  it("is valid OpenAPI 3.1", async () => {
    const validator = new Validator();
    const result = await validator.validate({ ...document });
    assert.deepEqual(result, { valid: true });
    assert.equal(validator.version, "3.1");
  });

  it("describes every endpoint of the contract, and nothing that is not served", async () => {
    const described = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace("/api/v1", "")}`),
    );
    for (const operation of operations.trim().split("\n"))
      assert.ok(described.includes(operation), operation);
    for (const operation of described) {
      const [method = "", path = ""] = operation.split(" ");
      const answer = await app.call(method, path.slice(1).replaceAll(/\{\w+\}/g, "x"));
      assert.notEqual(answer.status, 405, operation);
      assert.doesNotMatch(JSON.stringify(answer.body), /Not found\./, operation);
    }
    const ids = Object.values(document.paths).flatMap((methods) =>
      Object.values(methods).map((op) => op.operationId),
    );
    assert.equal(new Set(ids).size, ids.length, "an operationId names one operation");
  });

  it("puts every operation below /api/v1", () => {
    const elsewhere = Object.keys(document.paths).filter((path) => !path.startsWith("/api/v1/"));
    assert.deepEqual(elsewhere, []);
  });

  it("names the refusal of two rotations at once, which has a status of its own", () => {
    const { responses } = document.paths["/api/v1/webhooks/signing-keys/rotate"]?.["post"] ?? {};
    assert.deepEqual(
      ["400", "409"].map((status) => responses?.[status]?.description),
      ["VALIDATION_ERROR", "VALIDATION_ERROR"],
    );
  });

  it("describes what is answered", async () => {
    const { check, seen } = createAnswerCheck(document);
    const { live: key, projectId } = await app.createTenant("pro");
    const call = async (method: string, path: string, options: CallOptions = {}) => {
      const answer = await app.call(method, path, { key, ...options });
      check(method, `/api/v1/${path}`, answer);
      return answer.body;
    };
    const { project } = await call("POST", "projects", { body: { name: "described" } });
    await call("GET", "projects");
    await call("GET", `projects/${project._id}`);
    await call("PATCH", `projects/${project._id}`, { body: { name: "again" } });
    await call("DELETE", `projects/${project._id}`);
    const route = { slug: "described", webhookUrl: null, allowedTypes: ["image/*"], maxFileSize: 5 };
    const { router } = await call("POST", `projects/${projectId}/routers`, { body: route });
    await call("POST", `projects/${projectId}/routers`, { body: route });
    await call("GET", `projects/${projectId}/routers`);
    await call("GET", `routers/${router.id}`);
    await call("PATCH", `routers/${router.id}`, { body: { environment: "live" } });
    await call("DELETE", `routers/${router.id}`);
    const { key: made } = await call("POST", `projects/${projectId}/keys`);
    await call("GET", `projects/${projectId}/keys`);
    await call("DELETE", `keys/${made.id}`);
    await call("GET", "usage");
    await call("GET", "usage/history?months=3");
    await call("GET", "logs?limit=2");
    const succeeded = seen.size;
    await call("GET", "projects", { key: "none" });
    await call("GET", "projects/none");
    await call("POST", "projects", { body: {} });
    await call("GET", "logs?limit=0");
    await call("POST", `projects/${projectId}/keys`, { body: { type: "test" } });
    assert.equal(succeeded, 16);
    assert.equal(seen.size, succeeded, "refusals do not count");
  });
});
