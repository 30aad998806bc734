// What the examples take from packages that this repository does not install, as those packages declare it.

declare module "*.css";

declare module "@hono/node-server" {
  export function serve(options: {
    fetch: (request: Request) => Response | Promise<Response>;
    port?: number;
  }): unknown;
}

declare module "@sveltejs/kit/env" {
  export function defineEnvVars(
    variables: Record<string, { schema: (value: string | undefined) => string | undefined }>,
  ): unknown;
}

declare module "$env/dynamic/private" {
  export const env: Record<string, string | undefined>;
}

declare module "uploadthing/server" {
  export class UTApi {
    listFiles(options?: { limit?: number; offset?: number }): Promise<{
      readonly hasMore: boolean;
      readonly files: readonly {
        readonly id: string;
        readonly customId: string | null;
        readonly key: string;
        readonly name: string;
        readonly size: number;
        readonly status: "Deletion Pending" | "Failed" | "Uploaded" | "Uploading";
      }[];
    }>;
  }
}

declare module "@supabase/supabase-js" {
  type Answer<Data> = { data: Data; error: null } | { data: null; error: Error };
  interface Bucket {
    list(
      folder?: string,
      options?: { limit?: number; offset?: number },
    ): Promise<Answer<{ id: string | null; name: string }[]>>;
    download(path: string): Promise<Answer<Blob>>;
  }
  export function createClient(url: string, key: string): { storage: { from(bucket: string): Bucket } };
}

declare function $state<T>(initial: T): T;
declare function $effect(run: () => unknown): void;
