const patienceMs = 2000;

/** The service's answer, or null where it gives none in time or none that is JSON: the tools start without it. */
export async function askService(url: string): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(patienceMs) });
    return response.ok ? await response.json() : null;
  } catch {
    return null;
  }
}
