import { createTestBucket, type S3Server } from "../../../../../test/support/s3-server.ts";
import { createS3Store, type S3Store, type S3StoreOptions } from "../../../src/storage/s3/s3-store.ts";

/** A store in a new bucket of a running server. */
export async function openTestStore(
  server: S3Server,
  settings: Partial<S3StoreOptions> = {},
): Promise<S3Store> {
  const { endpoint, region, accessKeyId, secretAccessKey } = server;
  return createS3Store({
    name: "s3",
    bucket: await createTestBucket(server),
    endpoint,
    publicEndpoint: endpoint,
    region,
    accessKeyId,
    secretAccessKey,
    forcePathStyle: true,
    prefix: "installation/",
    headersOf: (contentType) => ({ contentType, contentDisposition: "attachment" }),
    ...settings,
  });
}

/** A store on a server of its own, as the suite of the port wants it. */
export async function openSubject(startServer: () => Promise<S3Server>) {
  const server = await startServer();
  const store = await openTestStore(server);
  return {
    store,
    async close() {
      await store.close();
      await server.stop();
    },
  };
}
