import type { DeliveryAttempt, DeliveryDetail } from "@upstow/contract";
import { formatTime } from "../format.ts";
import { reasonOf } from "./failure-reason.ts";
import { SafeJson, SafeText, showHidden } from "./safe-text.tsx";

export function DeliveryView({ delivery }: { delivery: DeliveryDetail }) {
  const last = delivery.attempts.at(-1);
  return (
    <>
      {delivery.status !== "delivered" && last !== undefined && last.error !== null && (
        <p className="notice bad">{reasonOf(last)}</p>
      )}
      <dl>
        <dt>Status</dt>
        <dd>
          <span className={`tag ${delivery.status}`}>{delivery.status}</span>
        </dd>
        <dt>Event</dt>
        <dd>{delivery.event}</dd>
        <dt>Route</dt>
        <dd>
          <SafeText text={delivery.routeSlug} />
        </dd>
        <dt>URL</dt>
        <dd>
          <SafeText text={delivery.url} />
        </dd>
        <dt>Message</dt>
        <dd className="mono">{delivery.messageId}</dd>
        <dt>File</dt>
        <dd className="mono">{delivery.fileId}</dd>
        <dt>Created</dt>
        <dd>{formatTime(delivery.createdAt)}</dd>
        {delivery.nextAttemptAt !== null && (
          <>
            <dt>Next attempt</dt>
            <dd>{formatTime(delivery.nextAttemptAt)}</dd>
          </>
        )}
      </dl>
      <h3>Attempts</h3>
      {delivery.attempts.length === 0 && <p className="dim">None yet.</p>}
      {delivery.attempts.map((attempt) => (
        <AttemptView key={attempt.number} attempt={attempt} isLast={attempt === last} />
      ))}
      <h3>Payload</h3>
      <SafeJson value={delivery.payload} />
    </>
  );
}

function AttemptView({ attempt, isLast }: { attempt: DeliveryAttempt; isLast: boolean }) {
  const { number, statusCode, error, durationMs, response } = attempt;
  return (
    <details className="attempt" open={isLast}>
      <summary>
        {number}. {statusCode ?? error?.replaceAll("_", " ") ?? "under way"}
        {durationMs !== null && ` in ${durationMs} ms`} · {formatTime(attempt.at)}
      </summary>
      {error !== null && <p>{reasonOf(attempt)}</p>}
      {response === null || response === "" ? (
        <p className="dim">The answer had no body.</p>
      ) : (
        <pre className="code">{response.split(/\r?\n/).map(showHidden).join("\n")}</pre>
      )}
    </details>
  );
}
