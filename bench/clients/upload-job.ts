/** What a client program is told, as JSON in its first argument. */
export interface UploadJob {
  /** Where to, and whatever else this client needs to know. */
  target: Record<string, string>;
  paths: string[];
  /** Files under way at once. */
  filesAtOnce: number;
}

export interface UploadResult {
  elapsedSec: number;
  cpuSec: number;
}

/** Uploads all files with one client, and prints how long that took and what it cost the client. */
export async function runUploadJob(
  createUpload: (target: Record<string, string>) => (path: string) => Promise<unknown>,
): Promise<void> {
  const job: UploadJob = JSON.parse(process.argv[2] ?? "{}");
  const upload = createUpload(job.target);
  const waiting = [...job.paths];
  const startMs = performance.now();
  const startCpu = process.cpuUsage();
  const work = async () => {
    for (let path = waiting.shift(); path !== undefined; path = waiting.shift()) await upload(path);
  };
  await Promise.all(Array.from({ length: job.filesAtOnce }, work));
  const { user, system } = process.cpuUsage(startCpu);
  const result: UploadResult = {
    elapsedSec: (performance.now() - startMs) / 1000,
    cpuSec: (user + system) / 1e6,
  };
  console.log(JSON.stringify(result));
  process.exit();
}
