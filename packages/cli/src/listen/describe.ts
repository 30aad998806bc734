import type { EventPayload, ReceivedEvent } from "@upstow/sdk";
import { clean } from "../format.ts";
import type { Outcome } from "./send-locally.ts";

/** One line, for piping into other programs. */
export function toJson(event: ReceivedEvent, attempt: number, outcome: Outcome): object {
  const { messageId, event: type, fileId, routeSlug, createdAt } = event;
  const { statusCode, error, durationMs } = outcome;
  return { messageId, event: type, fileId, routeSlug, createdAt, attempt, statusCode, error, durationMs };
}

export function toText(event: ReceivedEvent, outcome: Outcome): string {
  const { file } = JSON.parse(event.body) as EventPayload;
  const time = new Date().toTimeString().slice(0, 8);
  return `${time}  ${event.event}  ${event.routeSlug}/${clean(file.name)}  →  ${describeOutcome(outcome)}`;
}

function describeOutcome({ statusCode, error, response, durationMs }: Outcome): string {
  const answer = [statusCode, error].filter((part) => part !== null).join(" ");
  const said = response.trim() === "" ? "" : `: ${clean(response.trim())}`;
  return `${answer} in ${durationMs} ms${said}`;
}
