import { mkdtempSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, beforeEach } from "node:test";

export const apiKey = "svc_test_0123456789abcdef";

export const manifestOf = (...packages: string[]) =>
  `${JSON.stringify({ name: "shop", dependencies: Object.fromEntries(packages.map((name) => [name, "1"])) }, null, 2)}\n`;

/** An empty project for each test of a suite, in a home folder that the suite has to itself. */
export function createInitProjects() {
  const home = mkdtempSync(join(tmpdir(), "upstow-init-"));
  const env = { HOME: home, UPSTOW_URL: "https://files.example.com", UPSTOW_API_KEY: apiKey };
  const at = { project: "" };
  after(() => rm(home, { recursive: true }));
  beforeEach(async () => {
    at.project = await mkdtemp(join(home, "project-"));
  });
  return {
    home,
    env,
    at,
    async write(files: Record<string, string>): Promise<void> {
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(at.project, path)), { recursive: true });
        await writeFile(join(at.project, path), text);
      }
    },
    read: (path: string) => readFile(join(at.project, path), "utf8"),
    list: async () => (await readdir(at.project, { recursive: true })).sort(),
  };
}
