import { fileURLToPath } from "node:url";
import { createFileRouter, createRouteHandler, type FileRouter } from "@upstow/sdk/express";
import express from "express";

const route = createFileRouter<express.Request>();

const router = {
  file: route({
    maxFileSize: "500MB",
    maxFileCount: 20,
    // Decide here who may upload: throw an UpstowAuthError to refuse.
    middleware: () => ({ uploadedBy: "someone" }),
    onUploadComplete: ({ file, metadata }) => ({ url: file.url, uploadedBy: metadata.uploadedBy }),
  }),
} satisfies FileRouter;

export type Router = typeof router;

const app = express();
// Reads UPSTOW_URL and UPSTOW_API_KEY from the environment.
app.all("/api/upload", createRouteHandler({ router }));
app.use(express.static(fileURLToPath(new URL("dist", import.meta.url))));

const port = Number(process.env["PORT"] ?? 3000);
app.listen(port, () => console.log(`http://localhost:${port}`));
