import * as z from "zod";
import { createFileRouter, createRouteHandler, type FileRouter } from "../../src/server.ts";
import { startService, type TestService } from "./start-service.ts";
import { startSite, type TestPage, type TestSite } from "./start-site.ts";

const f = createFileRouter();
const router = {
  any: f({
    middleware: () => ({ user: "ann" }),
    onUploadComplete: ({ file, metadata }) => ({ name: file.name, by: metadata.user, at: new Date() }),
  }),
  album: f({
    allowedTypes: ["image/*"],
    input: z.object({ album: z.number() }),
    middleware: ({ input }) => ({ album: input.album }),
    onUploadComplete: ({ metadata }) => metadata.album,
  }),
  few: f({ maxFileCount: 1 }),
  fetched: f({ fromUrl: true, onUploadComplete: ({ file }) => ({ fetched: file.name }) }),
} satisfies FileRouter;

export type TestRouter = typeof router;

export interface TestApplication {
  service: TestService;
  site: TestSite;
  close(): Promise<void>;
}

/** A whole application: the service, a network before it, a backend with a route handler, and a page. */
export async function startApplication(
  options: Parameters<typeof startService>[0] & { page?: TestPage } = {},
): Promise<TestApplication> {
  const { page, ...serviceOptions } = options;
  const service = await startService(serviceOptions);
  const handle = createRouteHandler({ router, apiKey: service.apiKey, baseUrl: service.storage.url });
  const site = await startSite(handle, page);
  return {
    service,
    site,
    async close() {
      await site.stop();
      await service.close();
    },
  };
}

/** Waits for something that will happen; the test's own deadline ends a wait in vain. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 10));
}
