import { startApp, type TestApp } from "../../../server/test/support/start-app.ts";
import { type StorageProxy, startStorageProxy } from "./storage-proxy.ts";

export interface TestService {
  app: TestApp;
  /** Every upload URL leads through it. */
  storage: StorageProxy;
  apiKey: string;
  close(): Promise<void>;
}

/** The real service with a network in front of it that tests can disturb. */
export async function startService(
  options: { rateWindowMs?: number; keepRateLimits?: boolean; env?: Record<string, string> } = {},
): Promise<TestService> {
  const storage = await startStorageProxy();
  const env = { UPSTOW_PUBLIC_URL: storage.url, ...options.env };
  const app = await startApp({ database: "sqlite", ...options, env });
  storage.target = app.url;
  return {
    app,
    storage,
    apiKey: app.owner.live,
    async close() {
      await storage.stop();
      await app.close();
    },
  };
}

export const MB = 1024 * 1024;
