import assert from "node:assert/strict";
import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { after, before, it } from "node:test";
import { expectInvalid } from "./support/expect-error.ts";
import { createPrivateReader, type PrivateReader } from "./support/private-reader.ts";
import { onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import {
  createUploadClient,
  smallBody,
  type UploadClient,
  type UploadedFile,
} from "./support/upload-client.ts";

/** Sends the path as it is, where `fetch` would resolve its dots. */
async function ask(app: TestApp, path: string): Promise<{ status: number | undefined; text: string }> {
  const { hostname, port } = new URL(app.url);
  const asking = request({ hostname, port, path });
  asking.end();
  const [answer] = (await once(asking, "response")) as [IncomingMessage];
  let text = "";
  for await (const chunk of answer) text += chunk;
  return { status: answer.statusCode, text };
}

onAnyDatabase("paths below a grant", (database) => {
  let app: TestApp;
  let client: UploadClient;
  let reader: PrivateReader;
  let file: UploadedFile;
  let secret: UploadedFile;
  let foreign: UploadedFile;
  before(async () => {
    app = await startApp({ database });
    const tenant = await app.createTenant("pro");
    client = createUploadClient(app, tenant.live);
    reader = createPrivateReader(client);
    file = await reader.privately({ audience: "shown", fileName: "a b.txt" });
    secret = await reader.privately({ fileName: "secret.txt" });
    const other = createUploadClient(app, (await app.createTenant("pro")).live);
    foreign = await other.upload(smallBody, { access: "private", audience: "shown" });
  });
  after(() => app.close());

  const grant = async (scope: object) => new URL(await reader.grant(scope)).pathname;

  async function expectShown(path: string): Promise<void> {
    assert.deepEqual(await ask(app, path), { status: 200, text: smallBody.toString() }, path);
  }

  async function expectHidden(path: string): Promise<void> {
    const { status, text } = await ask(app, path);
    assert.ok([400, 404].includes(status ?? 0), `${status} for ${path}`);
    assert.ok(!text.includes(smallBody.toString()), path);
  }

  it("name a file in every spelling that means the same, and in no other", async () => {
    const at = await grant({ audience: "shown" });
    const [project, route, id, name] = file.key.split("/");
    const plain = `${project}/${route}/${id}`;
    for (const key of [`${plain}/a%20b.txt`, `${plain}/%61%20b.txt`, `${plain}%2Fa%20b.txt`])
      await expectShown(`${at}/${key}`);
    assert.equal(name, "a b.txt");
    for (const key of [
      "",
      id,
      plain,
      `${plain}/`,
      `${plain}/a+b.txt`,
      `${plain}/a%2520b.txt`,
      `${plain}%252Fa%20b.txt`,
      `${plain}//a%20b.txt`,
      `/${plain}/a%20b.txt`,
      `./${plain}/a%20b.txt`,
      `${plain}/./a%20b.txt`,
      `${plain}/x/../a%20b.txt`,
      `${plain}\\a%20b.txt`,
      `${plain}/A%20b.txt`,
      `${plain}/a%20b.txt%00`,
      `${plain}/a%20b.txt%2F..`,
      `${plain}/a%20b.txt/variants/x`,
      `private/${plain}/a%20b.txt`,
      `${project?.toUpperCase()}/${route}/${id}/a%20b.txt`,
      `${project}/${route}/${id?.toUpperCase()}/a%20b.txt`,
      `${plain}/%FF`,
      `${plain}/a%20b.txt%`,
    ])
      await expectHidden(`${at}/${key}`);
  });

  it("lead out of its scope in no way", async () => {
    const shown = file.key.split("/").slice(0, 3).join("/");
    const escapes = [secret, foreign].flatMap(({ key }) => [
      key,
      key.replaceAll("/", "%2F"),
      key.replaceAll("/", "%252F"),
      `${shown}/../../../${key}`,
      `${shown}/..%2F..%2F..%2F${key}`,
      `${shown}/%2e%2e/%2e%2e/%2e%2e/${key}`,
      `${shown}/%252e%252e/%252e%252e/%252e%252e/${key}`,
      `../${key}`,
      `../../f/${key}`,
      `%2e%2e/%2e%2e/f/${key}`,
      `..%5C..%5Cf%5C${key}`,
      `${shown}/a%20b.txt%3F/${key}`,
      // The id of one file, the rest of another.
      key.replace(key.split("/")[2] ?? "", file.id),
      `${shown}/${key.split("/").at(-1)}`,
    ]);
    for (const scope of [{ audience: "shown" }, { prefix: `default/${file.id}/` }]) {
      const at = await grant(scope);
      await expectShown(`${at}/${encodeURI(file.key)}`);
      for (const path of escapes) await expectHidden(`${at}/${path}`);
    }
    // A whole route of one project is none of another.
    await expectHidden(`${await grant({ routeSlug: "default" })}/${foreign.key}`);
  });

  it("are covered by a prefix letter by letter, also amid a segment, and never beyond the project", async () => {
    const key = encodeURI(file.key);
    const beginnings = [
      "d",
      "default",
      "default/",
      `default/${file.id.slice(0, 20)}`,
      `default/${file.id}/a `,
    ];
    for (const prefix of [...beginnings, `default/${file.id}/a b.txt`]) {
      const at = await grant({ prefix });
      await expectShown(`${at}/${key}`);
      const listed = (await client.list(`?prefix=${encodeURIComponent(prefix)}`)).body.files;
      assert.ok(
        listed.some(({ id }: UploadedFile) => id === file.id),
        "as the list does",
      );
      const coversSecret = secret.key.slice(secret.key.indexOf("/") + 1).startsWith(prefix);
      if (coversSecret) await expectShown(`${at}/${secret.key}`);
      else await expectHidden(`${at}/${secret.key}`);
      await expectHidden(`${at}/${foreign.key}`);
    }
    const [project = "", theirs = ""] = [file.key.split("/")[0], foreign.key.split("/")[0]];
    for (const prefix of [
      "D",
      "default%2F",
      "/default",
      "../",
      `../${theirs}/`,
      `${project}/`,
      "%",
      "_",
      "*",
    ]) {
      const at = await grant({ prefix });
      for (const { key: each } of [file, secret, foreign]) await expectHidden(`${at}/${encodeURI(each)}`);
    }
    expectInvalid(await client.post("files/grants", { prefix: "" }), "prefix");
  });

  it("open nothing at a link's address, nor links at theirs", async () => {
    const link = new URL(await reader.linkTo(file.key)).pathname;
    const token = (path: string) => path.split("/")[2] ?? "";
    const at = await grant({ audience: "shown" });
    for (const path of [
      `/g/${token(link)}/${encodeURI(file.key)}`,
      `/s/${token(at)}/a%20b.txt`,
      link.replace("a%20b.txt", "a%20b.txt/.."),
      link.replace("a%20b.txt", "x/../a%20b.txt"),
      link.replace("a%20b.txt", "a%2520b.txt"),
      link.replace("a%20b.txt", "%2e%2e%2Fa%20b.txt"),
      link.replace("/s/", "/s//"),
      link.replace("/s/", "/s/./"),
      link.replaceAll(".", "%252E"),
    ])
      await expectHidden(path);
    // Percent-encoding of a letter changes nothing that is signed.
    await expectShown(link.replace(/\.txt$/, "%2Etxt"));
    await expectShown(link.replace("/s/l1.", "/s/l1%2E"));
  });
});
