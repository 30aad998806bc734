import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { z } from "zod";
import { hostedTools } from "../packages/mcp/src/tools.ts";
import { createTransformTool } from "../packages/mcp/src/transform-tool.ts";
import { startApp } from "../packages/server/test/support/start-app.ts";
import { collectRoutes } from "./support/collect-routes.ts";
import { readSourceFiles } from "./support/source-files.ts";
import { findUnlimited } from "./support/unbounded-lists.ts";
import { findUnbounded, type Schema } from "./support/unbounded-schemas.ts";

describe("what callers send", () => {
  it("has a bound in every schema of every route", async () => {
    const routes = await collectRoutes(async () => (await startApp()).close());
    const looked = routes.flatMap(({ method, url, schema }) =>
      (["body", "querystring", "params", "headers"] as const).flatMap((part) => {
        const found = schema?.[part] as Schema | undefined;
        return found === undefined ? [] : [{ name: `${method} ${url} ${part}`, schema: found }];
      }),
    );
    assert.ok(looked.length > 100, `${looked.length} schemas`);
    assert.ok(
      looked.some(({ name }) => name.includes("/dashboard/api/in/")),
      "the dashboard's too",
    );
    assert.deepEqual([...new Set(looked.flatMap(({ name, schema }) => findUnbounded(schema, name)))], []);
  });

  it("has a bound in the input of every tool", () => {
    const tools = [...hostedTools, createTransformTool("http://127.0.0.1", "key")];
    assert.ok(tools.length > 5, `${tools.length} tools`);
    const found = tools.flatMap(({ name, input }) =>
      findUnbounded(z.toJSONSchema(input as never) as Schema, name),
    );
    assert.deepEqual(found, []);
  });

  it("is told apart from what has none", () => {
    const bad: Schema = {
      type: "object",
      properties: {
        text: { type: "string" },
        list: { type: "array", items: { type: "string", maxLength: 3 } },
        texts: { type: "array", maxItems: 3, items: { type: ["string", "null"] } },
        count: { type: "integer", minimum: 0 },
        size: { type: "number", maximum: 10 },
        any: {},
        map: { type: "object", additionalProperties: true },
        either: { anyOf: [{ type: "null" }, { type: "string" }] },
        word: { type: "string", enum: ["a"] },
        good: { type: "string", maxLength: 1 },
        numbers: { type: "array", maxItems: 2, items: { type: "integer", minimum: 1, maximum: 2 } },
        keys: { type: "object", additionalProperties: true, maxProperties: 4 },
        record: { type: "object", patternProperties: { "^.*$": { type: "string" } }, maxProperties: 4 },
        others: {
          type: "object",
          additionalProperties: { type: "array", maxItems: 1, items: {} },
          maxProperties: 4,
        },
        whole: { type: "object", properties: {} },
      },
    };
    assert.deepEqual(findUnbounded(bad, "body"), [
      "body.text has no maxLength",
      "body.list has no maxItems",
      "body.texts[] has no maxLength",
      "body.count has no maximum",
      "body.size has no minimum",
      "body.any may be anything",
      "body.map has no maxProperties",
      "body.either has no maxLength",
      "body.record.* has no maxLength",
      "body.others.*[] may be anything",
      "body.whole has no maxProperties",
    ]);
  });
});

describe("what statements read", () => {
  const isProduct = (path: string) =>
    /^packages\/(server|cli)\/src\//.test(path) && !/\.test\.ts$|\/testing\/|\/open-test-/.test(path);

  it("has a limit, or says why it cannot grow", () => {
    const sources = readSourceFiles().filter(({ path }) => isProduct(path));
    assert.ok(sources.length > 200, `${sources.length} files`);
    const reasons = sources.flatMap(({ text }) => [...text.matchAll(/\/\/ bounded: /g)]);
    assert.ok(reasons.length > 0 && reasons.length < 25, `${reasons.length} lists without a limit`);
    assert.deepEqual(findUnlimited(sources), []);
  });

  it("is told apart from what has none", () => {
    const queries = `
const listAll = statement((q, p: { id: string }) => q.selectFrom("log").selectAll().where("id", "=", p.id));
const listSome = statement((q, p: { take: number }) => q.selectFrom("log").selectAll().limit(p.take));
const listNamed = statement((q, p: { ids: string }, d) => q.selectFrom("log").where(isOneOf(d, "id", p.ids)));
// bounded: one row per planet
const listPlanets = statement((q, _: object) => q.selectFrom("planet").selectAll());
const findOne = statement((q, p: { id: string }) => q.selectFrom("log").selectAll().where("id", "=", p.id));
const removeAll = statement((q, _: object) => q.deleteFrom("log").returning("id"));
function createList(status: string) {
  return statement((q, _: object) => q.selectFrom("log").where("status", "=", status));
}
const countSparse = () => statement((q, _: object) => q.selectFrom("log").select(sql<number>\`count(*)\`.as("n")));
const countSome = statement((q, _: object) => q.selectFrom((r) => r.selectFrom("log").limit(9)).select(sql\`count(*)\`));
const findNewest = statement((q, _: object) => q.selectFrom("log").selectAll().orderBy("id", "desc"));
const listOfAll = statement((q, p: { take: number }) => q.selectFrom(q.selectFrom("log").as("all")).limit(p.take));
const listRaw = statement((q, _: object) => q.selectFrom("log").select(sql\`(select 1 limit \${9})\`.as("one")));
const old = (q: QueryCreator<Schema>, before: number) =>
  q.selectFrom("log").select("id").where("at", "<", before);
const removeOld = statement((q, p: { at: number }) => q.deleteFrom("log").where("id", "in", old(q, p.at)));
const countInSql = statement((q, _: object) => q.selectNoFrom(sql\`(select count(*) from log where rare = 1)\`));
`;
    const handedOn = `
const listForHelper = statement((q, p: { id: string }) => q.selectFrom("log").selectAll().where("id", ">", p.id));
const listTyped = statement((q, p: { id: string }) => q.selectFrom("log").selectAll().where("id", ">", p.id));
const listFirst = statement((q, p: { id: string }) => q.selectFrom("log").selectAll().where("id", ">", p.id));
const findAll = statement((q, p: { id: string }) => q.selectFrom("log").selectAll().where("id", ">", p.id));
`;
    const uses =
      "readPages(db, listForHelper); db.all<Row>(listTyped, {}); tx.get(listFirst, {}); db.recallAll(findAll, {}); db.all(listAll, {}); db.recallAll(\n listSome, {}); db.all(listNamed, {}); tx.all(listPlanets, {}); db.get(findOne, {}); tx.all(removeAll, {}); db.get(findNewest, {}); db.all(listOfAll, {}); db.all(listRaw, {}); tx.run(removeOld, {})";
    const sources = [
      { path: "queries.ts", text: queries },
      { path: "handed-on.ts", text: handedOn },
      { path: "uses.ts", text: uses },
    ];
    assert.deepEqual(findUnlimited(sources), [
      "queries.ts:2 listAll has neither a limit nor a reason",
      "queries.ts:10 a statement without a name has neither a limit nor a reason",
      "queries.ts:12 countSparse has neither a limit nor a reason",
      "queries.ts:14 findNewest has neither a limit nor a reason",
      "queries.ts:15 listOfAll has neither a limit nor a reason",
      "queries.ts:16 listRaw has neither a limit nor a reason",
      "queries.ts:19 removeOld has neither a limit nor a reason",
      "queries.ts:20 countInSql has neither a limit nor a reason",
      "handed-on.ts:2 listForHelper has neither a limit nor a reason",
      "handed-on.ts:3 listTyped has neither a limit nor a reason",
      "handed-on.ts:5 findAll has neither a limit nor a reason",
    ]);
  });
});
