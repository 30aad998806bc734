import type { ApiDocument } from "./docs/reference/api-document.ts";

const patienceMs = 2000;

/** The service describes its endpoints itself. Null where it does not answer: the other pages need no service. */
export async function findApiDocument(baseUrl: string): Promise<ApiDocument | null> {
  try {
    const signal = AbortSignal.timeout(patienceMs);
    const response = await fetch(`${baseUrl}/api/v1/openapi.json`, { signal });
    return response.ok ? ((await response.json()) as ApiDocument) : null;
  } catch {
    return null;
  }
}
