import { askService } from "./ask-service.ts";
import type { ApiDocument } from "./docs/reference/api-document.ts";

/** The service's own API description. Null if it does not respond: the other pages need no service. */
export async function findApiDocument(baseUrl: string): Promise<ApiDocument | null> {
  const document = (await askService(`${baseUrl}/api/v1/openapi.json`)) as ApiDocument | null;
  // Another program at this URL may also respond with JSON.
  return document?.paths === undefined ? null : document;
}
