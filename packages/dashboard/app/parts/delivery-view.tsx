import type { DeliveryDetail } from "@upstow/contract";
import { formatTime } from "../format.ts";
import { SafeJson, SafeText } from "./safe-text.tsx";

export function DeliveryView({ delivery }: { delivery: DeliveryDetail }) {
  return (
    <>
      <dl>
        <dt>Status</dt>
        <dd>
          <span className={`tag ${delivery.status}`}>{delivery.status}</span>
        </dd>
        <dt>URL</dt>
        <dd>
          <SafeText text={delivery.url} />
        </dd>
        <dt>Message</dt>
        <dd className="mono">{delivery.messageId}</dd>
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
        <details key={attempt.number} open={attempt.number === delivery.attempts.length}>
          <summary>
            {attempt.number}. {attempt.statusCode ?? attempt.error ?? "under way"}
            {attempt.durationMs !== null && ` in ${attempt.durationMs} ms`} · {formatTime(attempt.at)}
          </summary>
          {attempt.error !== null && <p>Failed: {attempt.error.replaceAll("_", " ")}</p>}
          {attempt.response !== null && attempt.response !== "" && (
            <pre className="code">
              <SafeText text={attempt.response} />
            </pre>
          )}
        </details>
      ))}
      <h3>Payload</h3>
      <SafeJson value={delivery.payload} />
    </>
  );
}
