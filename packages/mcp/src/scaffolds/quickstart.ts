import { renderProvider } from "./provider.ts";
import { renderRouteHandler } from "./route-handler.ts";

/** From nothing to an uploaded image in a Next.js page. */
export function getQuickstartText(): string {
  const handler = renderRouteHandler({
    framework: "next",
    routeName: "image",
    maxFileSize: "4MB",
    allowedTypes: ["image/*"],
  });
  const provider = renderProvider();
  return `# Quick start

1. Start the service. It prints a live and a test key once.

\`\`\`sh
npm start
\`\`\`

2. In your app, install the packages and say where the service is.

\`\`\`sh
npm install @upstow/sdk @upstow/react
printf 'UPSTOW_URL=http://localhost:4000\\nUPSTOW_API_KEY=svc_test_…\\n' >> .env.local
\`\`\`

3. Add the upload endpoint, \`${handler.path}\`. The API key stays on the server.

\`\`\`ts
${handler.code}\`\`\`

4. Add the provider, \`${provider.path}\`, and wrap your layout in it.

\`\`\`tsx
${provider.code}\`\`\`

5. Put a dropzone on a page.

\`\`\`tsx
"use client";

import { UploadDropzone } from "@upstow/react";

export default function Page() {
  return <UploadDropzone route="image" onUploaded={({ file }) => console.log(file.url)} />;
}
\`\`\`

6. No React, or another backend? Ask \`scaffold_route_handler\` for Express, Fastify, Hono or SvelteKit, or follow the
guide for plain HTTP.
`;
}
