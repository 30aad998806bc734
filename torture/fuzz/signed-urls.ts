import type { Choice } from "./choice.ts";
import type { RawRequest } from "./client.ts";
import { hostileText } from "./hostile.ts";
import type { Actor } from "./tenants.ts";

export interface SignedRequest extends RawRequest {
  /** Whether it is as it was signed, so that it may succeed. */
  isIntact: boolean;
}

const largestBytes = 4_096;

/** What is beside the document: presigned PUTs, file URLs and variant URLs, whole and edited. */
export function createSignedRequest(actor: Actor, choice: Choice): SignedRequest | null {
  const file = choice.pick(actor.files);
  if (file === undefined) return null;
  if (file.uploadUrl === null || file.sizeBytes > largestBytes || choice.chance(0.3))
    return read(file.key, choice);
  const { pathname, search } = new URL(file.uploadUrl);
  const body = Buffer.alloc(file.sizeBytes, 65);
  const signed = pathname + search;
  const path = choice.chance(0.6) ? signed : edit(signed, choice);
  return {
    isIntact: path === signed,
    method: "PUT",
    path,
    headers: { "content-type": file.contentType },
    body,
  };
}

function read(key: string, choice: Choice): SignedRequest {
  const path = `/f/${key.split("/").map(encodeURIComponent).join("/")}`;
  const isIntact = choice.chance(0.4);
  const odd = choice.pick([
    () => edit(path, choice),
    () => `/f/${encodeURIComponent(hostileWellFormed(choice))}`,
    () => `/t/${choice.int(0, 9e9)}/${"A".repeat(43)}/w_1,fit_cover,q_85,f_auto/${encodeURIComponent(key)}`,
    () => `/p/${"A".repeat(43)}/w_${hostileWellFormed(choice).length}/${encodeURIComponent(key)}`,
  ]);
  return {
    isIntact,
    method: choice.pick(["GET", "GET", "HEAD"]),
    path: isIntact ? path : odd(),
    headers: choice.chance(0.3)
      ? { range: choice.pick(["bytes=0-1", "bytes=9-", "bytes=-0", "bytes=5-1", "x=1"]) }
      : {},
    body: null,
  };
}

const hostileWellFormed = (choice: Choice): string => hostileText(choice).toWellFormed();

/** One character more, less or another. */
export function edit(text: string, choice: Choice): string {
  const at = choice.int(1, text.length - 1);
  const letter = choice.pick([..."aZ09_-%/.=&"]);
  return text.slice(0, at) + choice.pick([letter, ""]) + text.slice(at + choice.int(0, 1));
}
