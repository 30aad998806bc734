import { randomUUID } from "node:crypto";
import { fileURLToPath } from "node:url";
import {
  createFileRouter,
  createReadHandler,
  createRouteHandler,
  type FileRouter,
  UpstowAuthError,
} from "@upstow/sdk/express";
import express from "express";

// Stands for your session: everyone who opens the page is somebody.
function getVisitor(req: express.Request): string {
  const [, visitor] = /(?:^|; )visitor=([\w-]+)/.exec(req.headers.cookie ?? "") ?? [];
  if (visitor === undefined) throw new UpstowAuthError("Open the page first.");
  return visitor;
}

// Stands for a table in your database: private files and whose they are.
const owners = new Map<string, string>();

const route = createFileRouter<express.Request>();

const router = {
  file: route({
    maxFileSize: "500MB",
    // Decide here who may upload: throw an UpstowAuthError to refuse.
    middleware: ({ context }) => ({ uploadedFrom: context.req.ip ?? "somewhere" }),
    onUploadComplete: ({ file }) => ({ url: file.url }),
  }),
  mine: route({
    maxFileSize: "500MB",
    access: "private",
    middleware: ({ context }) => ({ owner: getVisitor(context.req) }),
    onUploadComplete: ({ file, metadata }) => {
      owners.set(file.id, metadata.owner);
      return { url: `/files/${file.id}` };
    },
  }),
} satisfies FileRouter;

const app = express();
// Reads UPSTOW_URL and UPSTOW_API_KEY from the environment.
app.all("/api/upload", createRouteHandler({ router }));
app.get(
  "/files/{*key}",
  createReadHandler<express.Request>({
    authorize: ({ context, fileId }) => owners.get(fileId) === getVisitor(context.req),
  }),
);
app.get("/", (req, res, next) => {
  if (!req.headers.cookie?.includes("visitor="))
    res.cookie("visitor", randomUUID(), { httpOnly: true, sameSite: "lax" });
  next();
});
// The SDK's modules as they are: browsers need no bundler for them.
app.use("/upstow", express.static(fileURLToPath(new URL("..", import.meta.resolve("@upstow/sdk/client")))));
app.use(express.static(fileURLToPath(new URL("public", import.meta.url))));

const port = Number(process.env["PORT"] ?? 3000);
app.listen(port, () => console.log(`http://localhost:${port}`));
