import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { LoadJob, LoadResult } from "./load-job.ts";

export interface Load {
  run(job: LoadJob): Promise<LoadResult>;
  close(): void;
}

type Message = { result: LoadResult } | { error: string };

export function startLoad(): Load {
  const client = fork(fileURLToPath(new URL("load-client.ts", import.meta.url)));
  let settle: (message: Message) => void = () => {};
  client.on("message", (message: Message) => settle(message));
  client.on("exit", () => settle({ error: "the load client ended" }));
  return {
    async run(job) {
      const message = await new Promise<Message>((resolve) => {
        settle = resolve;
        client.send(job);
      });
      if ("error" in message) throw new Error(`${job.scenario}: ${message.error}`);
      return message.result;
    },
    close() {
      client.kill();
    },
  };
}
