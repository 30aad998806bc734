/** Only the members in use, so that servers need no browser types. */
export interface Xhr {
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  send(body: unknown): void;
  abort(): void;
  getResponseHeader(name: string): string | null;
  readonly status: number;
  readonly upload: { onprogress: ((event: { loaded: number }) => void) | null };
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
}

export function findXhr(): (new () => Xhr) | undefined {
  return (globalThis as { XMLHttpRequest?: new () => Xhr }).XMLHttpRequest;
}
