import { z } from "zod";
import { defineTool } from "../tool.ts";
import { getByosConfig, STORAGE_PROVIDERS } from "./byos.ts";
import { renderProvider } from "./provider.ts";
import { getQuickstartText } from "./quickstart.ts";
import { renderReadHandler } from "./read-handler.ts";
import { FRAMEWORKS, renderRouteHandler } from "./route-handler.ts";

const mediaRange = z
  .string()
  .max(255)
  .regex(
    /^(image|video|audio|text|font|pdf|\*\/\*|[\w!#$&^.+-]+\/(\*|[\w!#$&^.+-]+))$/,
    "must be like image, image/*, image/png or */*",
  );

export const scaffoldRouteHandler = defineTool({
  name: "scaffold_route_handler",
  title: "Scaffold a route handler",
  description:
    "Returns the backend route handler for browser uploads, ready to paste; it compiles against @upstow/sdk. For private files, also returns the read handler for signed-in users.",
  input: z.object({
    framework: z.enum(FRAMEWORKS).optional().describe("Default: next"),
    routeName: z
      .string()
      .max(100)
      .regex(/^[A-Za-z0-9_-]{1,100}$/, "must be 1 to 100 letters, digits, _ or -")
      .describe("The route name used by the browser, such as avatar"),
    maxFileSize: z
      .union([
        z
          .string()
          .max(20)
          .regex(/^\d+(\.\d+)?(B|KB|MB|GB)$/, "must be like 4MB, or a number of bytes"),
        z.int().positive(),
      ])
      .optional()
      .describe("Such as 2MB, or a number of bytes. Default: 4MB"),
    allowedTypes: z.array(mediaRange).max(100).optional().describe("Default: every type"),
    access: z
      .enum(["public", "private"])
      .optional()
      .describe("Default: public. private adds readHandler, the endpoint that PrivateImage needs"),
  }),
  run: (
    _sources,
    { framework = "next", routeName, maxFileSize = "4MB", allowedTypes = ["*/*"], access },
  ) => ({
    ...renderRouteHandler({ framework, routeName, maxFileSize, allowedTypes, ...(access && { access }) }),
    ...(access === "private" && { readHandler: renderReadHandler(framework) }),
  }),
});

export const scaffoldProvider = defineTool({
  name: "scaffold_provider",
  title: "Scaffold the React provider",
  description: "Returns the React provider that gives upload components the backend's endpoint.",
  input: z.object({}),
  run: () => renderProvider(),
});

export const getByosConfigTool = defineTool({
  name: "get_byos_config",
  title: "Get the configuration for your own bucket",
  description:
    "Explains how to store files in your own S3, R2, Google Cloud Storage, B2 or MinIO bucket: per project (dashboard, storage set) or for the installation (variables), with the CORS rule.",
  input: z.object({ provider: z.enum(STORAGE_PROVIDERS) }),
  run: (_sources, { provider }) => getByosConfig(provider),
});

export const getQuickstart = defineTool({
  name: "get_quickstart",
  title: "Get the quick start",
  description: "Returns the steps from setup to an uploaded image in a page.",
  input: z.object({}),
  run: ({ docs }) => getQuickstartText(docs),
});
