import { escapeHtml } from "./escape.ts";

/** What somebody sees who opens the service in a browser. */
export function renderHome(publicUrl: string): string {
  const url = escapeHtml(publicUrl);
  return `<main id="content" class="home">
<h1>Your upload service is running.</h1>
<p class="lead">Ask for a presigned URL, send the bytes straight to storage, confirm. The file is served from its own address, and a signed webhook tells your server.</p>
<p class="actions"><a class="button" href="/docs">Read the docs</a><a class="button quiet" href="/dashboard">Open the dashboard</a></p>
<div class="code"><button type="button" class="copy">Copy</button><pre tabindex="0"><code>curl -s ${url}/api/v1/upload/request \\
  -H "Authorization: Bearer $UPSTOW_API_KEY" -H "Content-Type: application/json" \\
  -d '{"fileName":"hello.txt","fileSize":5,"contentType":"text/plain","routeSlug":"default"}'</code></pre></div>
<ul class="cards">
<li><a href="/docs"><strong>Docs</strong><span>Guides, concepts, operating</span></a></li>
<li><a href="/components"><strong>Components</strong><span>Upload components for React, live</span></a></li>
<li><a href="/dashboard"><strong>Dashboard</strong><span>Files, keys, webhooks, usage</span></a></li>
<li><a href="/api/v1/openapi.json"><strong>OpenAPI</strong><span>Every endpoint, machine-readable</span></a></li>
</ul>
</main>`;
}
