import type { CreateUploadGrantBody, UploadGrant } from "../wire/grants.ts";
import { type PostOptions, pick, type Request } from "./request.ts";

export function createGrants(request: Request) {
  return {
    /** Lets browsers, phones or partners upload to one route without an API key. */
    create: (body: CreateUploadGrantBody, options?: PostOptions): Promise<UploadGrant> =>
      pick<"grant", UploadGrant>(request, "grant")("POST", "/upload/grants", options, body),
  };
}

export type Grants = ReturnType<typeof createGrants>;
