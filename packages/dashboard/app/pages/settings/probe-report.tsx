import { SafeText } from "../../parts/safe-text.tsx";

export interface ProbeResult {
  ok: boolean;
  /** Why it cannot be used at all; null where it can. */
  unusable: string | null;
  refused: { act: string; reason: string }[];
  clockAheadMs: number | null;
  /** Whether pages may upload to it; null where that was not to be found out. */
  allowsBrowsers: boolean | null;
}

/** The result of writing, reading, copying and deleting a small object in a bucket. */
export function ProbeReport({ result }: { result: ProbeResult }) {
  return (
    <div className={result.ok ? "notice" : "notice bad"} role="status">
      <p>
        {result.ok
          ? "The bucket works: write, read, copy and delete succeeded."
          : "The bucket cannot be used."}
      </p>
      {result.unusable !== null && (
        <p>
          <SafeText text={result.unusable} />
        </p>
      )}
      {result.refused.map(({ act, reason }) => (
        <p key={act}>
          Not allowed to {act}: <SafeText text={reason} />
        </p>
      ))}
      {result.allowsBrowsers === false && (
        <p>Browsers may not upload to it yet: its CORS rules need PUT from your pages, with ETag exposed.</p>
      )}
    </div>
  );
}
