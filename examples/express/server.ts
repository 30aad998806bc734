import { fileURLToPath } from "node:url";
import { createFileRouter, createRouteHandler, type FileRouter } from "@upstow/sdk/express";
import express from "express";

const route = createFileRouter<express.Request>();

const router = {
  file: route({
    maxFileSize: "500MB",
    // Decide here who may upload: throw an UpstowAuthError to refuse.
    middleware: ({ context }) => ({ uploadedFrom: context.req.ip ?? "somewhere" }),
    onUploadComplete: ({ file }) => ({ url: file.url }),
  }),
} satisfies FileRouter;

const app = express();
// Reads UPSTOW_URL and UPSTOW_API_KEY from the environment.
app.all("/api/upload", createRouteHandler({ router }));
// The SDK's modules as they are: browsers need no bundler for them.
app.use("/upstow", express.static(fileURLToPath(new URL("..", import.meta.resolve("@upstow/sdk/client")))));
app.use(express.static(fileURLToPath(new URL("public", import.meta.url))));

const port = Number(process.env["PORT"] ?? 3000);
app.listen(port, () => console.log(`http://localhost:${port}`));
