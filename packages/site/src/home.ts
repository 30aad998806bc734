import { drawIcon } from "@upstow/kit/draw-icon";
import {
  bookOpenIcon,
  cloudUploadIcon,
  databaseIcon,
  imageIcon,
  keyRoundIcon,
  layoutDashboardIcon,
  lockIcon,
  rotateCwIcon,
  webhookIcon,
} from "@upstow/kit/icons";
import { renderCode, renderTabSet } from "./markdown.ts";

const features: [icon: string, title: string, about: string, page: string][] = [
  [
    rotateCwIcon,
    "Resumable uploads",
    "Parts of 5 MB, retried and continued after a reload.",
    "guides/large-files",
  ],
  [
    webhookIcon,
    "Signed webhooks",
    "Every completed upload reaches your server, with retries for 33 minutes.",
    "guides/webhooks",
  ],
  [imageIcon, "Image variants", "Resize, crop and convert by URL. Results are cached.", "guides/images"],
  [
    lockIcon,
    "Private files",
    "Expiring links, grants for many files, instant revocation.",
    "guides/private-files",
  ],
  [
    databaseIcon,
    "SQLite or PostgreSQL",
    "Start with one process and a folder. Move to S3 and many instances later.",
    "scale-out",
  ],
  [
    keyRoundIcon,
    "Keys stay on your server",
    "Browsers get presigned URLs, valid for one file and 15 minutes.",
    "concepts/security",
  ],
];

/** The page shown when the service is opened in a browser. `welcome.js` fills the panel next to the headline. */
export function renderHome(publicUrl: string): string {
  const api = `${publicUrl}/api/v1`;
  const curl = `# 1. Request a presigned URL
curl -s ${api}/upload/request \\
  -H "Authorization: Bearer $UPSTOW_API_KEY" -H "Content-Type: application/json" \\
  -d '{"fileName": "hello.txt", "fileSize": 5, "contentType": "text/plain", "routeSlug": "default"}'

# 2. Send the bytes to the uploadUrl of the response
curl -X PUT "$UPLOAD_URL" -H "Content-Type: text/plain" -d hello

# 3. Confirm the upload; the response has the file's permanent URL
curl -s ${api}/upload/complete \\
  -H "Authorization: Bearer $UPSTOW_API_KEY" -H "Content-Type: application/json" \\
  -d "{\\"fileId\\":\\"$FILE_ID\\"}"`;
  const handler = `// app/api/upload/route.ts
import { createFileRouter, createRouteHandler, type FileRouter } from "@upstow/sdk/next";

const route = createFileRouter();

const router = {
  image: route({
    allowedTypes: ["image/*"],
    maxFileSize: "4MB",
    onUploadComplete: async ({ file }) => ({ url: file.url }),
  }),
} satisfies FileRouter;

export const { GET, POST } = createRouteHandler({ router });`;
  const component = `// app/page.tsx
"use client";

import { UploadDropzone } from "@upstow/react";

export default function Page() {
  return <UploadDropzone route="image" onUploaded={({ file }) => console.log(file.url)} />;
}`;
  const examples = renderTabSet("example", "home", [
    { name: "HTTP", html: renderCode(curl, "sh") },
    { name: "Route handler", html: renderCode(handler, "ts") },
    { name: "React", html: renderCode(component, "tsx") },
  ]);
  const cards = features.map(
    ([icon, title, about, page]) =>
      `<li><a href="/docs/${page}">${drawIcon(icon, "icon task-icon")}<strong>${title}</strong><span>${about}</span></a></li>`,
  );
  return `<main id="content" class="home">
<section class="hero">
<div class="pitch">
<p class="overline">Self-hosted file uploads</p>
<h1>Uploads for your app, on your own server</h1>
<p class="lead">Browsers send files straight to your storage. Your server gets a signed webhook, and every file gets a permanent URL.</p>
<p class="actions"><a class="button primary large" href="/docs/quick-start">${drawIcon(bookOpenIcon)}Quick start</a><a class="button large" href="/dashboard">${drawIcon(layoutDashboardIcon)}Open the dashboard</a></p>
</div>
<section class="panel" aria-label="Try it" data-welcome>
<div class="drop" data-state="waiting">${drawIcon(cloudUploadIcon, "icon drop-icon")}<p><strong>This installation is running</strong></p><p class="dim">Create an API key in the dashboard, or follow the quick start.</p></div>
</section>
</section>
<section class="examples"><h2>Three calls, or one component</h2>${examples}</section>
<section><h2>What it does</h2><ul class="features">${cards.join("")}</ul></section>
</main>`;
}
