import { putMember } from "../../../server/src/dashboard/members/queries.ts";
import { createPerson } from "../../../server/test/support/console-people.ts";
import type { Tenant, TestApp } from "../../../server/test/support/start-app.ts";
import { addSampleData } from "../support/sample-data.ts";

interface SampleFile {
  id: string;
  key: string;
  name: string;
}

/** What the pictures are taken of. */
export interface Scene {
  app: TestApp;
  /** A project in use. */
  full: Tenant;
  /** A project without files. */
  empty: Tenant;
  /** Reads the project in use. */
  viewerId: string;
  /** The newest files of the project in use. */
  files: SampleFile[];
  /** The newest file whose name ends with this. */
  fileOf(ending: string): SampleFile;
}

export async function setScene(app: TestApp): Promise<Scene> {
  const full = await app.createTenant("pro");
  const empty = await app.createTenant("pro");
  await addSampleData(app, full);
  const { accountId: viewerId } = await createPerson(app, "reader@example.com");
  const { db, now } = app.app.deps;
  const { projectId } = full;
  await app.call("PATCH", `projects/${projectId}`, { key: full.live, body: { name: "Harbour magazine" } });
  await db.run(putMember, { projectId, accountId: viewerId, role: "viewer", now: now() });
  const files: SampleFile[] = (await app.call("GET", "files", { key: full.live })).body.files;
  const fileOf = (ending: string) => {
    const file = files.find(({ name }) => name.endsWith(ending));
    if (file === undefined) throw new Error(`There is no file whose name ends with ${ending}`);
    return file;
  };
  await fillTrash(app, full, files);
  return { app, full, empty, viewerId, files, fileOf };
}

async function fillTrash(app: TestApp, { projectId, live: key }: Tenant, files: SampleFile[]): Promise<void> {
  const kept = await app.call("PATCH", `projects/${projectId}`, { key, body: { trashDays: 30 } });
  if (kept.status !== 200) throw new Error("the trash could not be turned on");
  // From the end: the first ones are shown on their own.
  const chosen = files.filter(({ name }) => /\.(?:pdf|csv|txt)$/.test(name)).slice(-3);
  for (const { id } of chosen) {
    const gone = await app.call("DELETE", `files/${id}`, { key });
    if (gone.status !== 200) throw new Error("the trash could not be filled");
  }
}
