import * as z from "zod";
import { createFileRouter, type FileRouter } from "../../src/server.ts";

const f = createFileRouter();

export const router = {
  avatar: f({
    allowedTypes: ["image/*"],
    maxFileSize: "4MB",
    maxFileCount: 1,
    input: z.object({ album: z.string(), page: z.coerce.number().default(1) }),
    middleware: async ({ input, request, files }) => {
      const page: number = input.page;
      const method: string = request.method;
      const size: number | undefined = files[0]?.size;
      return { userId: 7, page, method, size, since: new Date() };
    },
    onUploadComplete: ({ file, metadata }) => {
      const userId: number = metadata.userId;
      // What middleware returned has travelled as JSON.
      const since: string = metadata.since;
      return { url: file.url, userId, since, at: new Date() };
    },
    onUploadError: ({ error, metadata }) => {
      const text: string = `${error.message} ${metadata.userId}`;
      void text;
    },
  }),
  plain: f({}),
  short: f({ allowedTypes: ["image", "application/pdf", "video/*", "application/x-own-format"] }),
  each: f({
    allowedTypes: {
      image: { maxFileSize: "4MB", maxFileCount: 4 },
      "application/pdf": { maxFileSize: 100 },
      "application/x-own-format": {},
    },
  }),
} satisfies FileRouter;

export type AppRouter = typeof router;

export const refusals = {
  size: f({
    // @ts-expect-error a size needs a unit that is known
    maxFileSize: "4 parsecs",
  }),
  type: f({
    // @ts-expect-error a file type is image, image/* or image/png
    allowedTypes: ["imgae"],
  }),
  ending: f({
    // @ts-expect-error endings are no types
    allowedTypes: { jpg: { maxFileSize: "4MB" } },
  }),
  limit: f({
    // @ts-expect-error there is no such limit
    allowedTypes: { image: { maxSize: "4MB" } },
  }),
  metadata: f({
    middleware: () => ({ userId: 7 }),
    // @ts-expect-error middleware returned no such thing
    onUploadComplete: ({ metadata }) => metadata.nothing,
  }),
  input: f({
    input: z.object({ album: z.string() }),
    // @ts-expect-error the schema makes a string of it
    middleware: ({ input }) => ({ album: input.album.toFixed() }),
  }),
};

// @ts-expect-error a router holds routes
export const wrong = { avatar: 5 } satisfies FileRouter;
