import { askService } from "./ask-service.ts";
import type { ApiDocument } from "./docs/reference/api-document.ts";

/** The service describes its endpoints itself. Null where it does not answer: the other pages need no service. */
export async function findApiDocument(baseUrl: string): Promise<ApiDocument | null> {
  const document = (await askService(`${baseUrl}/api/v1/openapi.json`)) as ApiDocument | null;
  // Whatever else runs at this address may answer with JSON of its own.
  return document?.paths === undefined ? null : document;
}
