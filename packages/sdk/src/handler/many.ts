import { UpstowError } from "../errors.ts";
import { withStatus } from "./answer.ts";
import type { ManyAnswer, Refusal } from "./protocol.ts";
import { invalid } from "./rules.ts";

/** The service's batch size. */
const mostAtOnce = 100;

/** Opens every token or rejects the whole call: one forged token makes the others suspicious. */
export function openMany<Payload>(
  tokens: unknown,
  path: string,
  open: (token: unknown) => Promise<Payload>,
): Promise<Payload[]> {
  if (!Array.isArray(tokens) || tokens.length === 0 || tokens.length > mostAtOnce)
    throw invalid(path, `must be a list of 1 to ${mostAtOnce}`);
  return Promise.all(tokens.map(open));
}

/** The same ids in the same order give the same key. */
export async function hashOf(ids: string[]): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(ids.join("\n")));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

export function toRefusal({ code, status, message, suggestion, retryAfter }: UpstowError): Refusal {
  return { code, status, message, suggestion, retryAfter };
}

export function toManyAnswer<Answer extends object>(
  answers: (Answer | UpstowError)[],
  report: (error: unknown) => void,
): ManyAnswer<Answer> {
  return {
    answers: answers.map((answer) => {
      if (!(answer instanceof UpstowError)) return answer;
      const error = withStatus(answer);
      if (error.status >= 500) report(answer);
      return { refusal: toRefusal(error) };
    }),
  };
}
