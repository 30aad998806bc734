import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { createUpstow, type Upstow } from "../src/index.ts";

describe("files of the server's client", () => {
  let app: TestApp;
  let upstow: Upstow;

  before(async () => {
    app = await startApp({ database: "sqlite" });
    upstow = createUpstow({ apiKey: app.owner.live, baseUrl: app.url });
  });
  after(() => app.close());

  it("finds files by filters, and names them by their ids", async () => {
    const red = await upstow.upload(new Blob(["r"]), {
      name: "Ärger & Co.txt",
      metadata: { colour: "red", "a.b=c&d": 5, yes: true },
    });
    const blue = await upstow.upload(new Blob(["b"]), { name: "blue.txt", metadata: { colour: "blue" } });
    const find = async (query: Parameters<typeof upstow.files.list>[0]) => {
      const ids: string[] = [];
      for await (const file of upstow.files.list(query)) ids.push(file.id);
      return ids.filter((id) => [red.id, blue.id].includes(id));
    };
    assert.deepEqual(await find({ metadata: { colour: "red" } }), [red.id]);
    assert.deepEqual(await find({ metadata: { "a.b=c&d": 5, yes: true } }), [red.id]);
    assert.deepEqual(await find({ name: "äRGER & c" }), [red.id]);
    assert.deepEqual(await find({ prefix: `default/${blue.id}/` }), [blue.id]);
    assert.deepEqual(await find({ status: "UPLOADED", since: red.createdAt, limit: 1 }), [blue.id, red.id]);
    assert.deepEqual(await find({ status: "FAILED" }), []);
    const listed = await upstow.files.list({ include: "metadata", metadata: { colour: "blue" } });
    const [file] = listed.files;
    assert.equal(file?.metadata["colour"], "blue");
    await assert.rejects(upstow.files.list({ type: "image" }), { code: "VALIDATION_ERROR" });

    const renamed = await upstow.files.update(red.id, { name: "new.txt" });
    assert.deepEqual([renamed.name, renamed.key, renamed.url], ["new.txt", red.key, red.url]);
    assert.equal((await upstow.files.get(red.id)).name, "new.txt");
    await upstow.files.delete(red.id);
    assert.equal((await upstow.files.deleteMany([red.id, blue.id])).deleted, 1);
  });
});
