import type { ErrorBody } from "@upstow/contract";

/** An error with the server's message. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly status: number;
  readonly suggestion: string;

  constructor(status: number, message: string, suggestion = "") {
    super(message);
    this.status = status;
    this.suggestion = suggestion;
  }
}

/** JSON as typed. Parsing it here could change large numbers; the server reports those it can't store. */
export class JsonText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** No response came at all. What browsers say of it differs, and helps nobody. */
export function unreachable(): ApiError {
  return new ApiError(0, "The server cannot be reached.", "Check your connection and try again.");
}

let onSignedOut = () => {};

/** Called when the session has ended on the server. */
export function whenSignedOut(react: () => void): void {
  onSignedOut = react;
}

const entries = new EventTarget();

/** Called after signing in again: rejected requests can be retried. */
export function announceEntry(): void {
  entries.dispatchEvent(new Event("entered"));
}

export function whenEntered(react: () => void): () => void {
  entries.addEventListener("entered", react);
  return () => entries.removeEventListener("entered", react);
}

export async function callApi<T>(
  method: string,
  path: string,
  body?: unknown,
  options: RequestInit = {},
): Promise<T> {
  const response = await request(method, path, body, options);
  const answer: unknown = await response.json().catch(() => null);
  if (response.ok) return answer as T;
  const error = (answer as ErrorBody | null)?.error;
  if (response.status === 401 && error?.message === "You are not signed in.") onSignedOut();
  throw new ApiError(
    response.status,
    error?.message ?? `The server returned ${response.status}.`,
    error?.suggestion,
  );
}

/** After a rejected or failed request outside `callApi`: the session may have ended. */
export function checkSession(): void {
  callApi("GET", "/session").catch(() => {});
}

async function request(method: string, path: string, body: unknown, options: RequestInit): Promise<Response> {
  try {
    return await fetch(`/dashboard/api${path}`, {
      ...options,
      method,
      credentials: "same-origin",
      ...(body === undefined
        ? {}
        : {
            body: body instanceof JsonText ? body.text : JSON.stringify(body),
            headers: { "content-type": "application/json" },
          }),
    });
  } catch {
    throw unreachable();
  }
}

export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return inSentences(error);
  return error instanceof Error ? error.message : String(error);
}

/** Advice that the API gives to the callers of every endpoint. */
const forPrograms = /^(?:Correct the request|Check the identifier)/;

/** Field errors arrive as "email is taken", with a suggestion for programs, or as "domain cannot be used: The name …" */
function inSentences({ message: text, suggestion }: ApiError): string {
  const message = text.replace(/^[a-z]\w* cannot be used: (?=[A-Z])/, "");
  const advice = forPrograms.test(suggestion) ? "" : suggestion;
  if (/[.!?]$/.test(message)) return `${message} ${advice}`.trim();
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}.`;
}
