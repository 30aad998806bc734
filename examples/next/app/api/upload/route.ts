import { createFileRouter, createRouteHandler, type FileRouter } from "@upstow/sdk/next";

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

// Reads UPSTOW_URL and UPSTOW_API_KEY from the environment.
export const { GET, POST } = createRouteHandler({ router });
