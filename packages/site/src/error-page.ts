import { escapeHtml } from "./escape.ts";

export interface ShownError {
  status: number;
  message: string;
  suggestion: string | undefined;
  requestId: string;
}

/** The API's words for links and grants that no longer work, which are too short for a heading. */
const endings: Record<string, string> = {
  expired: "This link has expired",
  "used up": "This link has already been used",
  revoked: "This link has been revoked",
};

/** The page shown for a failed URL in a browser. Other clients get the same as JSON. */
export function renderErrorBody({ status, message, suggestion, requestId }: ShownError): string {
  const isMissing = status === 404;
  // What the API suggests is for programs.
  const advice = isMissing ? "Check the URL, or search the docs." : (suggestion ?? "Try again in a moment.");
  return `<main id="content" class="error-page">
<p class="error-code">${status}</p>
<h1>${escapeHtml(isMissing ? "Page not found" : (endings[message] ?? message))}</h1>
<p class="lead">${escapeHtml(advice)}</p>
<form class="search-form" role="search" action="/docs/search"><input class="input" type="search" name="q" aria-label="Search the docs" placeholder="Search the docs" maxlength="200"><button class="button primary">Search</button></form>
<p class="actions"><a class="button" href="/">Home</a><a class="button" href="/docs">Docs</a><a class="button" href="/dashboard">Dashboard</a></p>
<p class="dim">Request ID <code>${escapeHtml(requestId)}</code></p>
</main>`;
}
