import { env } from "$env/dynamic/private";
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

// From SvelteKit 3 on, name both variables in src/env.ts.
export const { GET, POST } = createRouteHandler({
  router,
  baseUrl: env.UPSTOW_URL,
  apiKey: env.UPSTOW_API_KEY,
});
