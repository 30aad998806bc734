import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, open, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(
  new URL("../../node_modules/@arethetypeswrong/cli/dist/index.js", import.meta.url),
);

interface TypeProblem {
  entrypoint: string;
  resolutionKind: string;
  kind: string;
}

/** What resolvers would not find of a packed package's types. */
export async function findTypeProblems(tarball: string): Promise<TypeProblem[]> {
  const folder = await mkdtemp(join(tmpdir(), "upstow-types-"));
  // Into a file: the program exits before a pipe has taken all that it writes.
  const report = await open(join(folder, "report.json"), "w");
  try {
    const args = [program, tarball, "--format", "json"];
    await once(spawn(process.execPath, args, { stdio: ["ignore", report.fd, "inherit"] }), "exit");
    return JSON.parse(await readFile(join(folder, "report.json"), "utf8")).analysis.problems;
  } finally {
    await report.close();
    await rm(folder, { recursive: true });
  }
}
