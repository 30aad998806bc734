// In SvelteKit 2: import { env } from "$env/dynamic/private";
import * as env from "$app/env/private";
import { createFileRouter, createRouteHandler, type FileRouter } from "@upstow/sdk/sveltekit";

const route = createFileRouter();

const router = {
  image: route({
    allowedTypes: ["image/*"],
    maxFileSize: "4MB",
    // Decide here who may upload: throw an UpstowAuthError to refuse.
    middleware: async () => ({ uploadedBy: "someone" }),
    onUploadComplete: async ({ file, metadata }) => ({ url: file.url, uploadedBy: metadata.uploadedBy }),
  }),
} satisfies FileRouter;

export type Router = typeof router;

// SvelteKit 3 needs both variables named in src/env.ts.
export const { GET, POST } = createRouteHandler({
  router,
  baseUrl: env.UPSTOW_URL,
  apiKey: env.UPSTOW_API_KEY,
});
