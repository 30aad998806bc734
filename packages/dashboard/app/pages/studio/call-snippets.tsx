import type { TransformedImage } from "@upstow/contract";
import { useState } from "react";
import { callApi } from "../../api.ts";
import { formatCount, formatTime } from "../../format.ts";
import { CodeBlock } from "../../parts/code-block.tsx";
import { shellQuote } from "../../parts/shell-quote.ts";
import { Failure } from "../../parts/states.tsx";
import { useAction } from "../../parts/use-action.ts";
import { toVisibleJson } from "../../parts/visible-json.ts";
import { useWorkspace } from "../../workspace.ts";
import type { toBody } from "./knobs.ts";

type Body = ReturnType<typeof toBody>;
interface Size {
  width: number;
  height: number;
}

/** The call behind the picture, to be taken home. Only the HTML needs a URL, and that costs units. */
export function CallSnippets({ body, size }: { body: Body; size: Size | null }) {
  return (
    <section>
      <h2>API call</h2>
      <CodeBlock label="curl" code={toCurl(body)} />
      <CodeBlock label="SDK" code={toSdk(body)} />
      <UrlMaker key={JSON.stringify(body)} body={body} size={size} />
    </section>
  );
}

function UrlMaker({ body, size }: { body: Body; size: Size | null }) {
  const { api, mayChange } = useWorkspace();
  const [made, setMade] = useState<TransformedImage | null>(null);
  const { error, isBusy, run } = useAction();
  const units = body.format === "auto" ? "3 units" : "1 unit";
  const make = () =>
    run(async () => setMade(await callApi<TransformedImage>("POST", `${api}/transforms/image`, body)));
  if (made !== null) {
    const { used, limit, counted } = made.usage;
    return (
      <>
        <CodeBlock label="HTML" code={toHtml(made.url, size)} />
        <p className="dim" role="status">
          {counted ? `Counted as ${units}` : "Already counted this month"}: {formatCount(used)} of{" "}
          {formatCount(limit)} used.
          {made.expiresAt !== null && ` The URL works until ${formatTime(made.expiresAt)}.`}
        </p>
      </>
    );
  }
  return (
    <>
      {error !== null && <Failure error={error} />}
      {mayChange && (
        <p className="line">
          <button type="button" className="primary" disabled={isBusy} onClick={() => void make()}>
            Create URL and HTML
          </button>
          <small>Costs {units}, once per variant per month.</small>
        </p>
      )}
    </>
  );
}

function toCurl(body: Body): string {
  return [
    `curl -X POST ${shellQuote(`${location.origin}/api/v1/transforms/image`)}`,
    `  -H "Authorization: Bearer $UPSTOW_API_KEY"`,
    `  -H 'Content-Type: application/json'`,
    `  -d ${shellQuote(toVisibleJson(body))}`,
  ].join(" \\\n");
}

function toSdk(body: Body): string {
  return [
    'import { createUpstow } from "@upstow/sdk";',
    "",
    "const upstow = createUpstow();",
    `const { url } = await upstow.transforms.image(${toVisibleJson(body, 2)});`,
  ].join("\n");
}

function toHtml(url: string, size: Size | null): string {
  const sides = size === null ? "" : ` width="${size.width}" height="${size.height}"`;
  return `<img src="${url.replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"${sides} alt="" loading="lazy">`;
}
