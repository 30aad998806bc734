import { UpstowError } from "../errors.ts";
import { mayPass } from "../http/call.ts";

const longestBodyBytes = 1024 * 1024;

export function json(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json; charset=utf-8", "cache-control": "no-store", ...headers },
  });
}

/** An error without a status was thrown by the application, unless its code means that there was no response. */
export function withStatus(error: UpstowError): UpstowError {
  if (error.status !== 0) return error;
  const { code, suggestion, details, retryAfter } = error;
  const isUnanswered = mayPass(error);
  const status = isUnanswered ? 502 : 400;
  // The original message contains an internal URL that browsers must not see.
  const message = isUnanswered ? "The file service is not responding." : error.message;
  return new UpstowError(message, { code, status, suggestion, details, retryAfter });
}

/** Uses the service's own envelope, so that one error class serves both. */
export function errorAnswer(error: UpstowError, allow = "GET, POST"): Response {
  const { code, message, suggestion, details, type, status, retryAfter, requestId } = error;
  return json(
    status,
    { error: { type, code, message, suggestion, details } },
    {
      ...(retryAfter === undefined ? {} : { "retry-after": String(Math.ceil(retryAfter)) }),
      ...(requestId === undefined ? {} : { "x-request-id": requestId }),
      ...(code === "METHOD_NOT_ALLOWED" ? { allow } : {}),
    },
  );
}

export function logAs(name: string): (error: unknown) => void {
  return (error) => {
    // biome-ignore lint/suspicious/noConsole: an error that nobody sees costs somebody a day
    console.error(name, error);
  };
}

/** Unexpected errors are reported to the application, not to the browser. */
export function answerFailure(error: unknown, report: (error: unknown) => void, allow?: string): Response {
  const known = error instanceof UpstowError ? withStatus(error) : internalError();
  if (known.status >= 500) report(error);
  return errorAnswer(known, allow);
}

function internalError(): UpstowError {
  return new UpstowError("Something went wrong on our side.", { code: "INTERNAL_ERROR", status: 500 });
}

/** Requires the JSON content type: with any other, a form on another site could send it without a preflight. */
export async function readJson(request: Request): Promise<Record<string, unknown>> {
  if (!/^application\/json\b/i.test(request.headers.get("content-type") ?? "")) {
    throw badRequest("The Content-Type must be application/json.", 415);
  }
  const decoder = new TextDecoder();
  const reader = request.body?.getReader();
  let text = "";
  let sizeBytes = 0;
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    sizeBytes += next.value.byteLength;
    if (sizeBytes > longestBodyBytes) {
      await reader?.cancel();
      throw badRequest("The body is larger than 1 MiB.", 413);
    }
    text += decoder.decode(next.value, { stream: true });
  }
  try {
    const body: unknown = JSON.parse(text);
    if (typeof body === "object" && body !== null) return body as Record<string, unknown>;
  } catch {
    // Falls through to the error below.
  }
  throw badRequest("The body is not a JSON object.", 400);
}

function badRequest(message: string, status: number): UpstowError {
  return new UpstowError(message, { code: "VALIDATION_ERROR", status });
}
