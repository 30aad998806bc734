import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { METADATA_FILTER_MAX, METADATA_FILTERS_MAX } from "@upstow/contract";
import { statement } from "../src/db/statement.ts";
import { expectError, expectInvalid } from "./support/expect-error.ts";
import { onBothDatabases, startApp, type Tenant, type TestApp } from "./support/start-app.ts";
import {
  createUploadClient,
  smallBody,
  type UploadClient,
  type UploadFields,
} from "./support/upload-client.ts";

const setStatus = statement((q, p: { id: string; status: "FAILED" }) =>
  q.updateTable("file").set({ status: p.status }).where("id", "=", p.id),
);

onBothDatabases("filters of a file list", (database) => {
  let app: TestApp;
  let tenant: Tenant;
  let client: UploadClient;
  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  async function enter(): Promise<void> {
    tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    for (const slug of ["photos", "photos-2"])
      await app.call("POST", `projects/${tenant.projectId}/routers`, { key: tenant.live, body: { slug } });
  }
  const open = (fileName: string, fields: UploadFields = {}) => {
    app.clock.advance(1);
    return client.request({ fileName, ...fields });
  };
  const list = (query: Record<string, string> | string) =>
    client.list(`?${typeof query === "string" ? query : new URLSearchParams(query)}`);
  const find = async (query: Record<string, string> | string): Promise<string[]> => {
    const { status, body } = await list(query);
    assert.equal(status, 200, JSON.stringify(body));
    assert.deepEqual([body.hasMore, body.nextCursor], [false, null]);
    return body.files.map((file: { name: string }) => file.name);
  };

  describe("by what a file is", () => {
    let failedId: string;
    let times: string[];
    before(async () => {
      await enter();
      const rows: [string, UploadFields][] = [
        ["a.png", { routeSlug: "photos", contentType: "image/png" }],
        ["b.PNG", { routeSlug: "photos-2", contentType: "Image/PNG; x=1" }],
        ["c.txt", { contentType: "text/plain; charset=utf-8" }],
        ["d.txt", { contentType: "text/plain2", access: "private" }],
      ];
      for (const [name, fields] of rows) await open(name, fields);
      app.clock.advance(1);
      await client.upload(smallBody, { fileName: "e.txt", contentType: "text/plain" });
      failedId = (await open("f.bin", { contentType: "application/octet-stream" })).fileId;
      await app.app.deps.db.run(setStatus, { id: failedId, status: "FAILED" });
      await client.remove((await open("gone.png", { contentType: "image/png" })).key);
      times = (await list("")).body.files.map((file: { createdAt: string }) => file.createdAt);
    });

    it("status", async () => {
      assert.deepEqual(await find({ status: "UPLOADED" }), ["e.txt"]);
      assert.deepEqual(await find({ status: "FAILED" }), ["f.bin"]);
      assert.deepEqual(await find({ status: "UPLOADING" }), ["d.txt", "c.txt", "b.PNG", "a.png"]);
      assert.deepEqual(await find({ status: "DELETED" }), [], "the list never holds deleted files");
    });

    it("access", async () => {
      assert.deepEqual(await find({ access: "private" }), ["d.txt"]);
      assert.deepEqual(await find({ access: "public" }), ["f.bin", "e.txt", "c.txt", "b.PNG", "a.png"]);
      assert.deepEqual(await find({ access: "private", type: "image/*" }), []);
    });

    it("type, whole or its first half, without case and parameters", async () => {
      assert.deepEqual(await find({ type: "image/png" }), ["b.PNG", "a.png"]);
      assert.deepEqual(await find({ type: "IMAGE/*" }), ["b.PNG", "a.png"]);
      assert.deepEqual(await find({ type: "text/plain" }), ["e.txt", "c.txt"]);
      assert.deepEqual(await find({ type: "text/plain; charset=utf-8" }), ["e.txt", "c.txt"]);
      assert.deepEqual(await find({ type: "text/*" }), ["e.txt", "d.txt", "c.txt"]);
      assert.deepEqual(await find({ type: "*/*", status: "FAILED" }), ["f.bin"]);
      assert.deepEqual(await find({ type: "image/pn" }), []);
      assert.deepEqual(await find({ type: "video/*" }), []);
    });

    it("route", async () => {
      assert.deepEqual(await find({ routeSlug: "photos" }), ["a.png"]);
      assert.deepEqual(await find({ routeSlug: "PHOTOS" }), []);
      assert.deepEqual(await find({ routeSlug: "no such route" }), []);
    });

    it("prefix of the key behind the project", async () => {
      const { key, id } = (await list({ name: "b.png" })).body.files[0];
      assert.deepEqual(await find({ prefix: "photos" }), ["b.PNG", "a.png"]);
      assert.deepEqual(await find({ prefix: "photos/" }), ["a.png"]);
      assert.deepEqual(await find({ prefix: "photos-2/" }), ["b.PNG"]);
      for (const prefix of [
        `photos-2/${id.slice(0, 12)}`,
        `photos-2/${id}`,
        `photos-2/${id}/`,
        `photos-2/${id}/b.P`,
        key.slice(tenant.projectId.length + 1),
      ])
        assert.deepEqual(await find({ prefix }), ["b.PNG"], prefix);
      assert.equal((await find({ prefix: "" })).length, 6);
      for (const prefix of [
        "/photos",
        "PHOTOS",
        tenant.projectId,
        `${tenant.projectId}/photos`,
        `photos-2/${id}/B`,
        `photos-2/${id}x/`,
        `photos-2/${id.slice(0, 20)}/`,
        "photos/U",
        "photos/%",
        "p_otos",
        "photos//",
        `${key.slice(tenant.projectId.length + 1)}x`,
      ])
        assert.deepEqual(await find({ prefix }), [], prefix);
    });

    it("time, from since on and before until", async () => {
      const [newest = "", second = "", , fourth = "", , oldest = ""] = times;
      assert.deepEqual(await find({ since: second }), ["f.bin", "e.txt"]);
      assert.deepEqual(await find({ until: fourth }), ["b.PNG", "a.png"]);
      assert.deepEqual(await find({ since: fourth, until: second }), ["d.txt", "c.txt"]);
      assert.deepEqual(await find({ since: second, until: second }), []);
      assert.deepEqual(await find({ since: oldest, until: newest, type: "text/*" }), [
        "e.txt",
        "d.txt",
        "c.txt",
      ]);
      assert.equal((await find({ since: "0001-01-01T00:00:00Z", until: "9999-12-31T23:59:59Z" })).length, 6);
      expectInvalid(await list({ since: newest, until: oldest }), "since");
    });

    it("several of them together", async () => {
      assert.deepEqual(await find({ type: "image/*", routeSlug: "photos", status: "UPLOADING" }), ["a.png"]);
      assert.deepEqual(await find({ type: "image/*", status: "UPLOADED" }), []);
      assert.deepEqual(await find({ status: "FAILED", name: "F.B" }), ["f.bin"]);
      assert.deepEqual(await find({ status: "FAILED", name: "a" }), []);
    });

    it("is nothing of another project or environment", async () => {
      const other = createUploadClient(app, (await app.createTenant("pro")).live);
      const sandbox = createUploadClient(app, tenant.test);
      for (const stranger of [other, sandbox])
        for (const query of ["status=FAILED", "name=a", "prefix=photos", "type=image/*"])
          assert.deepEqual((await stranger.list(`?${query}`)).body.files, []);
    });
  });

  describe("by name", () => {
    const names = [
      "100%_\\[a].txt",
      "ÉTÉ à Łódź.JPG",
      "ΟΔΟΣΤΡΩΜΑ",
      "straße",
      "ОТЧЁТ",
      "中文",
      "🎉x",
      "__proto__",
      "a'b\"c",
    ];
    before(async () => {
      await enter();
      for (const name of names) await open(name);
    });
    for (const [wanted, found] of [
      ["%", ["100%_\\[a].txt"]],
      ["_", ["__proto__", "100%_\\[a].txt"]],
      ["\\[A]", ["100%_\\[a].txt"]],
      [".JPG", ["ÉTÉ à Łódź.JPG"]],
      ["été", ["ÉTÉ à Łódź.JPG"]],
      ["tÉ À łÓDŹ.j", ["ÉTÉ à Łódź.JPG"]],
      ["οδος", ["ΟΔΟΣΤΡΩΜΑ"]],
      ["STRASSE", []],
      ["STRAß", ["straße"]],
      ["отчёт", ["ОТЧЁТ"]],
      ["文", ["中文"]],
      ["🎉X", ["🎉x"]],
      ["\ud83c", []],
      ["__PROTO__", ["__proto__"]],
      ["A'B\"", ["a'b\"c"]],
      ["' or 1=1 --", []],
      ["é".repeat(255), []],
    ] as [string, string[]][]) {
      it(JSON.stringify(wanted.slice(0, 20)), async () =>
        assert.deepEqual(await find({ name: wanted }), found),
      );
    }
    it("of no characters is every name", async () =>
      assert.equal((await find({ name: "" })).length, names.length));
  });

  describe("by metadata", () => {
    const given: [name: string, metadata: Record<string, unknown>][] = [
      ["text", { user: "42", n: "a" }],
      ["number", { user: 42, deep: { user: "7", color: "red" } }],
      ["longer", { user: 421, color: "Red" }],
      ["list", { user: [42, "7"], color: "red" }],
      ["object", { user: { id: 42 }, empty: "" }],
      ["nothing", { user: null, yes: true, half: 0.5, big: 1e21 }],
      [
        "odd",
        JSON.parse(
          '{"a.b":"c","\\"q\\\\":"x\\"y\\\\z","__proto__":"p","":"no name","käse":"ö\\u0001\\n","%":"_"}',
        ),
      ],
      ["pretend", { text: '"user":"42"', user2: '42","user":"42' }],
    ];
    before(async () => {
      await enter();
      for (const [name, metadata] of given) await open(name, { metadata });
    });
    for (const [key, value, found] of [
      ["user", "42", ["number", "text"]],
      ["user", "421", ["longer"]],
      ["user", "4", []],
      ["user", '"42"', []],
      ["user", "7", []],
      ["user", '[42,"7"]', ["list"]],
      ["user", '[42, "7"]', []],
      ["user", '{"id":42}', ["object"]],
      ["user", "null", ["nothing"]],
      ["yes", "true", ["nothing"]],
      ["half", "0.5", ["nothing"]],
      ["big", "1e+21", ["nothing"]],
      ["color", "red", ["list"]],
      ["color", "Red", ["longer"]],
      ["empty", "", ["object"]],
      ["missing", "", []],
      ["missing", "undefined", []],
      ["a.b", "c", ["odd"]],
      ["a", "c", []],
      ['"q\\', 'x"y\\z', ["odd"]],
      ["__proto__", "p", ["odd"]],
      ["__proto__", "[object Object]", []],
      ["constructor", "", []],
      ["toString", "", []],
      ["", "no name", ["odd"]],
      ["käse", "ö\u0001\n", ["odd"]],
      ["%", "_", ["odd"]],
      ["%", "%", []],
      ["user", "é".repeat(500), []],
    ] as [string, string, string[]][]) {
      it(JSON.stringify([key, value.slice(0, 20)]), async () =>
        assert.deepEqual(await find({ [`metadata.${key}`]: value }), found),
      );
    }

    it("by several keys, and beside other filters", async () => {
      assert.deepEqual(await find({ "metadata.user": "42", "metadata.n": "a" }), ["text"]);
      assert.deepEqual(await find({ "metadata.user": "42", "metadata.n": "b" }), []);
      assert.deepEqual(await find({ "metadata.user": "42", name: "NUM" }), ["number"]);
      const many = Object.fromEntries(given.slice(0, 1).flatMap(() => [["metadata.user", "42"]]));
      for (let i = 1; i < METADATA_FILTERS_MAX; i++) many[`metadata.k${i}`] = "";
      assert.deepEqual(await find(many), []);
      expectInvalid(await list({ ...many, "metadata.one too many": "" }), "metadata");
    });

    it("is shown where it is asked for", async () => {
      const shown = (await list("include=metadata")).body.files;
      assert.deepEqual(
        shown.map((file: { name: string; metadata: object }) => [file.name, file.metadata]),
        given.toReversed(),
      );
      const plain = (await list({ "metadata.user": "421" })).body.files[0];
      assert.equal("metadata" in plain, false);
      const both = (await list({ "metadata.user": "421", include: "metadata", limit: "1" })).body.files[0];
      assert.deepEqual(both, { ...plain, metadata: { user: 421, color: "Red" } });
    });
  });

  it("go with paging, and a cursor works with any other filter", async () => {
    await enter();
    for (let i = 0; i < 30; i++)
      await open(`${i % 3 === 0 ? "yes" : "no"}-${i}`, { metadata: { odd: i % 2 } });
    const queries = [
      "name=YES",
      "metadata.odd=1",
      "status=UPLOADING&name=s-",
      "include=metadata",
      "name=%C3%A9",
    ];
    const cursors: string[] = [];
    for (const query of queries) {
      const whole = (await list(`${query}&limit=100`)).body.files;
      const seen = [];
      for (let cursor = ""; ; ) {
        const { body } = await list(`${query}&limit=4${cursor}`);
        seen.push(...body.files);
        assert.equal(body.hasMore, body.nextCursor !== null);
        if (!body.hasMore) break;
        cursors.push(body.nextCursor);
        cursor = `&cursor=${body.nextCursor}`;
        await open("later: yes é", { metadata: { odd: 1 } });
      }
      assert.deepEqual(seen, whole, query);
    }
    for (const cursor of cursors)
      for (const query of [...queries, "since=2000-01-01T00:00:00Z", "prefix=default/0"])
        assert.equal((await list(`${query}&cursor=${cursor}`)).status, 200);
  });

  it("name the field that is wrong", async () => {
    await enter();
    const long = "x".repeat(METADATA_FILTER_MAX + 1);
    for (const [query, field] of [
      ["status=uploaded", "status"],
      ["status=", "status"],
      ["status=UPLOADED&status=FAILED", "status"],
      ["type=image", "type"],
      ["type=image/", "type"],
      ["type=*", "type"],
      ["type=*/png", "type"],
      ["type=", "type"],
      ["type=image/%F0%9F%8E%89", "type"],
      [`type=image/${"x".repeat(300)}`, "type"],
      ["access=secret", "access"],
      ["access=", "access"],
      ["access=public&access=private", "access"],
      ["routeSlug=", "routeSlug"],
      [`routeSlug=${"x".repeat(101)}`, "routeSlug"],
      [`name=${"x".repeat(256)}`, "name"],
      ["name=a&name=b", "name"],
      [`prefix=${"x".repeat(1025)}`, "prefix"],
      ["since=yesterday", "since"],
      ["since=2026-11-17", "since"],
      ["since=", "since"],
      ["until=2016-12-31T23:59:60Z", "until"],
      ["until=1", "until"],
      ["include=everything", "include"],
      ["include=", "include"],
      ["include=metadata,metadata", "include"],
      [`metadata.x=${long}`, "metadata.x"],
      [`metadata.${long}=x`, "metadata"],
      ["metadata.x=1&metadata.x=2", "metadata.x"],
    ] as const)
      expectInvalid(await list(query), field);
    for (const query of [
      "name=%00",
      "metadata.x=a%00b",
      "metadata.%00=a",
      "prefix=%00",
      "name=%ff",
      "limit=0&name=a",
    ]) {
      const { status } = await list(query);
      assert.ok(status === 400 || (status === 200 && query.includes("%ff")), `${query}: ${status}`);
    }
    const tooLong = await list(`name=${"x".repeat(10_000)}`);
    expectError(tooLong, 414, "VALIDATION_ERROR");
    assert.equal(
      (await list("Status=x&unknown=1&metadata=x&metadata[x]=1")).status,
      200,
      "unknown fields are ignored",
    );
  });
});
