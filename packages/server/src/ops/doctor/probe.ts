export type ProbeAnswer =
  | { isAnswered: true; status: number; text: string; body: Record<string, unknown> }
  | { isAnswered: false; reason: string };

const patienceMs = 5_000;

export async function probe(url: string): Promise<ProbeAnswer> {
  try {
    const response = await fetch(url, { redirect: "manual", signal: AbortSignal.timeout(patienceMs) });
    const text = await response.text();
    return { isAnswered: true, status: response.status, text, body: readObject(text) };
  } catch (error) {
    return { isAnswered: false, reason: reasonOf(error) };
  }
}

function readObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** fetch hides what happened one level down. */
function reasonOf(error: unknown): string {
  const { cause, message } = error as Error;
  return (cause as NodeJS.ErrnoException | undefined)?.code ?? message;
}
