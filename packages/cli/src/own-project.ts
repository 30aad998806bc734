import type { Upstow } from "@upstow/sdk";
import { OperatorError } from "./command.ts";
import { clean } from "./format.ts";

/** The key's project. No API call returns it, but its files' storage keys begin with it. */
export async function getOwnProject(upstow: Upstow, given: string | undefined): Promise<string> {
  if (given !== undefined) return given;
  const { files } = await upstow.files.list({ limit: 1 });
  const ofFile = files[0]?.key.split("/")[0];
  if (ofFile !== undefined) return ofFile;
  const projects = await upstow.projects.list();
  const [only] = projects;
  if (only !== undefined && projects.length === 1) return only._id;
  throw new OperatorError(
    "VALIDATION_ERROR",
    `Your account has ${projects.length} projects: select one with --project. ${projects.map(({ _id, name }) => `${_id} (${clean(name)})`).join(", ")}.`,
  );
}
