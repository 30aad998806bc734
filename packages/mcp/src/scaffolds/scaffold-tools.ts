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
    "The backend file through which browsers upload, ready to paste; it compiles against @upstow/sdk. For private files also the one through which signed-in users read.",
  input: z.object({
    framework: z.enum(FRAMEWORKS).optional().describe("next when left out"),
    routeName: z
      .string()
      .max(100)
      .regex(/^[A-Za-z0-9_-]{1,100}$/, "must be 1 to 100 letters, digits, _ or -")
      .describe("The name that the browser uses, such as avatar"),
    maxFileSize: z
      .union([
        z
          .string()
          .max(20)
          .regex(/^\d+(\.\d+)?(B|KB|MB|GB)$/, "must be like 4MB, or a number of bytes"),
        z.int().positive(),
      ])
      .optional()
      .describe("Such as 2MB, or bytes as a number; 4MB when left out"),
    allowedTypes: z.array(mediaRange).max(100).optional().describe("Every type when left out"),
    access: z
      .enum(["public", "private"])
      .optional()
      .describe("public when left out; private adds readHandler, the endpoint that PrivateImage needs"),
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
  description: "The React file that tells all upload components where the backend's endpoint is.",
  input: z.object({}),
  run: () => renderProvider(),
});

export const getByosConfigTool = defineTool({
  name: "get_byos_config",
  title: "Get the configuration for your own bucket",
  description:
    "How to store files in your own S3, R2, Google Cloud Storage, B2 or MinIO bucket: per project (dashboard, storage set) or for the installation (variables), with the CORS rule.",
  input: z.object({ provider: z.enum(STORAGE_PROVIDERS) }),
  run: (_sources, { provider }) => getByosConfig(provider),
});

export const getQuickstart = defineTool({
  name: "get_quickstart",
  title: "Get the quick start",
  description: "From nothing to an uploaded image in a page, step by step.",
  input: z.object({}),
  run: ({ docs }) => getQuickstartText(docs),
});
