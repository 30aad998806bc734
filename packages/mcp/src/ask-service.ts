const patienceMs = 2000;

/** The service's response, or null if it is late or not JSON: the tools start without it. */
export async function askService(url: string): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(patienceMs) });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}
