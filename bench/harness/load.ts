import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { LoadJob, LoadResult } from "./load-job.ts";

export interface Load {
  run(job: LoadJob): Promise<LoadResult>;
  close(): void;
}

type Message = { result: LoadResult } | { error: string };

/** Beyond the time that was asked for: a server that never answers must not hold up the run for ever. */
const patienceSec = 120;

export function startLoad(): Load {
  const client = fork(fileURLToPath(new URL("load-client.ts", import.meta.url)));
  let settle: (message: Message) => void = () => {};
  client.on("message", (message: Message) => settle(message));
  client.on("exit", () => settle({ error: "the load client ended" }));
  return {
    async run(job) {
      let timer: NodeJS.Timeout | undefined;
      const message = await new Promise<Message>((resolve) => {
        settle = resolve;
        client.send(job);
        const error = `nothing came for ${patienceSec} s after its end`;
        timer = setTimeout(() => resolve({ error }), (job.seconds + patienceSec) * 1000);
      });
      clearTimeout(timer);
      if ("error" in message) throw new Error(`${job.scenario}: ${message.error}`);
      return message.result;
    },
    close() {
      client.kill();
    },
  };
}
