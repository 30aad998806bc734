import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import type { Answer } from "./start-app.ts";

interface Operation {
  operationId: string;
  security?: unknown[];
  requestBody?: { required: boolean };
  responses: Record<string, { description: string; content: Record<string, { schema: object }> }>;
}

export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, object> };
}

/** Holds answers to the API's own description of them; `seen` collects the operations that succeeded. */
export function createAnswerCheck(document: ApiDocument) {
  const ajv = new Ajv2020({ strict: false, allErrors: true });
  addFormats.default(ajv);
  ajv.addSchema({ $id: "api", components: document.components });
  const seen = new Set<string>();
  const patterns = Object.keys(document.paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, "[^/]+")}$`),
  }));

  function check(method: string, url: string, answer: Answer): void {
    const matching = patterns.filter(({ pattern }) => pattern.test(url.split("?", 1)[0] ?? ""));
    // A literal segment wins over a parameter, as it does in the router.
    const [best] = matching.sort((a, b) => a.path.split("{").length - b.path.split("{").length);
    const operation = document.paths[best?.path ?? ""]?.[method.toLowerCase()];
    assert.ok(operation, `${method} ${url} is not described`);
    const response = operation.responses[answer.status] ?? operation.responses["default"];
    const schema = response?.content["application/json"]?.schema;
    assert.ok(schema, `${method} ${url} does not describe ${answer.status}`);
    const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/components', '"api#/components'));
    const isValid = ajv.validate(local, answer.body);
    assert.ok(
      isValid,
      `${method} ${url} ${answer.status}: ${ajv.errorsText()}\n${JSON.stringify(answer.body)}`,
    );
    if (answer.status < 300) seen.add(`${method} ${best?.path}`);
  }

  return { check, seen };
}
