import { escapeHtml } from "./escape.ts";

export interface ShownError {
  status: number;
  message: string;
  suggestion: string | undefined;
  deadLink: keyof typeof deadLinks | undefined;
  requestId: string;
}

const deadLinks = {
  expired: "This link has expired",
  "used up": "This link has already been used",
  revoked: "This link has been revoked",
  unknown: "This link is not valid",
};

const links = `<form class="search-form" role="search" action="/docs/search"><input class="input" type="search" name="q" aria-label="Search the docs" placeholder="Search the docs" maxlength="200"><button class="button primary">Search</button></form>
<p class="actions"><a class="button" href="/">Home</a><a class="button" href="/docs">Docs</a><a class="button" href="/dashboard">Dashboard</a></p>
`;

/** The page shown for a failed URL in a browser. Other clients get the same as JSON. */
export function renderErrorBody(error: ShownError): string {
  const { status, requestId, deadLink } = error;
  const { heading, advice } =
    deadLink === undefined
      ? describe(error)
      : { heading: deadLinks[deadLink], advice: "Request a new link from the site that gave you this one." };
  return `<main id="content" class="error-page">
<p class="error-code">${status}</p>
<h1>${escapeHtml(heading)}</h1>
<p class="lead">${escapeHtml(advice)}</p>
${deadLink === undefined ? links : ""}<p class="dim">Request ID <code>${escapeHtml(requestId)}</code></p>
</main>`;
}

function describe({ status, message, suggestion }: ShownError): { heading: string; advice: string } {
  // What the API suggests for a missing path is for programs.
  if (status === 404) return { heading: "Page not found", advice: "Check the URL, or search the docs." };
  return { heading: message, advice: suggestion ?? "Try again in a moment." };
}
