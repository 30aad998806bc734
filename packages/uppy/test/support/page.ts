import Uppy from "@uppy/core";
import Dashboard from "@uppy/dashboard";
import Url from "@uppy/url";
import Upstow from "../../src/index.ts";

/** What an application with Uppy has in its page, and what the test reads. */
interface TestWindow {
  start(options: object): void;
  uppy: Uppy;
  succeeded: unknown[];
  failed: string[];
  progress: number[];
  isReady: boolean;
}

const page = globalThis as unknown as TestWindow;
page.succeeded = [];
page.failed = [];
page.progress = [];
page.start = (options) => {
  page.uppy = new Uppy()
    .use(Dashboard, { inline: true, target: "#uppy" })
    .use(Url, { companionUrl: "/api/upload?from=" })
    .use(Upstow, { endpoint: "/api/upload", route: "any", retryDelayMs: 20, ...options });
  page.uppy.on("upload-success", (file, { uploadURL, body }) => {
    page.succeeded.push({ name: file?.name, url: uploadURL, result: body?.["result"] });
  });
  page.uppy.on("upload-error", (file, error) => page.failed.push(`${file?.name}: ${error.message}`));
  page.uppy.on("progress", (percent) => page.progress.push(percent));
};
page.isReady = true;
