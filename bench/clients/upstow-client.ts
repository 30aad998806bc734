import { createUpstow } from "../../packages/sdk/src/index.ts";
import { runUploadJob } from "./upload-job.ts";

await runUploadJob(({ url, key }) => {
  const upstow = createUpstow({ baseUrl: url, apiKey: key });
  return (path) => upstow.upload(path);
});
