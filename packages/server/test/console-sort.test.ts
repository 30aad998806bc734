import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type ConsoleCall, signInAs } from "./support/console-client.ts";
import { expectInvalid } from "./support/expect-error.ts";
import { insertManyFiles } from "./support/many-files.ts";
import { onAnyDatabase, startApp, type Tenant, type TestApp } from "./support/start-app.ts";

interface Found {
  id: string;
  name: string;
  size: number;
  createdAt: string;
}

onAnyDatabase("the dashboard's files in another order", (database) => {
  let app: TestApp;

  before(async () => {
    app = await startApp({ database });
  });
  after(() => app.close());

  async function enter(): Promise<{ tenant: Tenant; owner: ConsoleCall }> {
    const tenant = await app.createTenant("pro");
    return { tenant, owner: await signInAs(app, tenant.accountId) };
  }

  async function walk({ tenant, owner }: Awaited<ReturnType<typeof enter>>, query: string) {
    const files: Found[] = [];
    let cursor = "";
    for (;;) {
      const path = `/in/${tenant.projectId}/live/search?limit=100&${query}${cursor}`;
      const { status, body } = await owner("GET", path);
      assert.equal(status, 200, JSON.stringify(body));
      files.push(...body.files);
      if (!body.hasMore) return { files, sortedTo: body.sortedTo };
      cursor = `&cursor=${body.nextCursor}`;
    }
  }

  const names = ["zebra.txt", "Apple.txt", "apple.txt", "Äpfel.txt", "\u{1f34e}.txt", "\uff21.txt", "b.txt"];

  test("comes page by page, by date, size or name, all of it and filtered", async () => {
    const visit = await enter();
    const nameOf = (i: number) => `${i % 3 === 0 ? "" : `${(i * 7919) % 1_300} `}${names[i % names.length]}`;
    const describe = (i: number) => ({ name: nameOf(i), size_bytes: (i * 7919) % 500 });
    await insertManyFiles(app, { projectId: visit.tenant.projectId, count: 1_300, describe });
    const newest = (await walk(visit, "")).files;
    assert.equal(newest.length, 1_300);

    const folded = ({ name }: Found) =>
      Buffer.from(name.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase()));
    const byId = (a: Found, b: Found) => (a.id < b.id ? -1 : 1);
    const orders: Record<string, (a: Found, b: Found) => number> = {
      date: byId,
      size: (a, b) => a.size - b.size || byId(a, b),
      name: (a, b) => Buffer.compare(folded(a), folded(b)) || byId(a, b),
    };
    const filters: Record<string, (file: Found) => boolean> = {
      "": () => true,
      "name=apple": ({ name }) => /apple/i.test(name),
      "name=%C3%84PFEL": ({ name }) => name.includes("Äpfel"),
      "name=no-such-name": () => false,
    };
    for (const [sort, compare] of Object.entries(orders)) {
      for (const [filter, isMatch] of Object.entries(filters)) {
        const expected = newest.filter(isMatch).toSorted(compare);
        const given = await walk(visit, `${filter}&sort=${sort}`);
        assert.deepEqual(given, { files: expected, sortedTo: null }, `${filter} ${sort}`);
        if (sort === "date") continue;
        const reversed = await walk(visit, `${filter}&sort=-${sort}`);
        assert.deepEqual(reversed.files, expected.toReversed(), `${filter} -${sort}`);
      }
    }
  });

  test("says which files are sorted if they are too many for one call, on every page", async () => {
    const visit = await enter();
    // Every file that is read displaces one that was kept, which costs the most.
    const count = 23_000;
    const describe = (i: number) => ({ size_bytes: count - i });
    await insertManyFiles(app, { projectId: visit.tenant.projectId, count, describe });
    const path = `/in/${visit.tenant.projectId}/live/search?limit=100&sort=size`;
    const first = (await visit.owner("GET", path)).body;
    const second = (await visit.owner("GET", `${path}&cursor=${first.nextCursor}`)).body;
    assert.ok(first.files[0].size > 1, `${first.files[0].size}`);
    assert.equal(first.files[0].createdAt, first.sortedTo);
    assert.equal(second.sortedTo, first.sortedTo);
    const sizes = [...first.files, ...second.files].map(({ size }: Found) => size);
    assert.deepEqual(
      sizes,
      Array.from({ length: 200 }, (_, i) => (sizes[0] ?? 0) + i),
    );
    const { body } = await visit.owner("GET", path.replace("=size", "=-size"));
    assert.ok(body.files[0].size < count && body.files[0].createdAt === body.sortedTo, body.sortedTo);
  });

  test("rejects a cursor of another order, or none of ours", async () => {
    const visit = await enter();
    await insertManyFiles(app, { projectId: visit.tenant.projectId, count: 3 });
    const path = `/in/${visit.tenant.projectId}/live/search?limit=1`;
    const cursorOf = async (sort: string) =>
      (await visit.owner("GET", `${path}&sort=${sort}`)).body.nextCursor as string;
    const [byDate, byName, bySize] = [await cursorOf("date"), await cursorOf("name"), await cursorOf("size")];
    for (const [sort, cursor] of [
      ["name", bySize],
      ["size", byName],
      ["size", byDate],
      ["date", bySize],
      ["name", `${byName.slice(0, -2)}AA`],
      ["name", "AAAA"],
    ])
      expectInvalid(await visit.owner("GET", `${path}&sort=${sort}&cursor=${cursor}`), "cursor");
    expectInvalid(await visit.owner("GET", `${path}&sort=colour`), "sort");
  });
});
