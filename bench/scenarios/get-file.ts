import type { Scenario, Target } from "../harness/scenario.ts";
import { expectStatus } from "./expect-status.ts";

interface FilesTarget extends Target {
  paths: string[];
  sizeBytes: number;
}

/** Each client reads the files in turn, beginning at another one. */
const getFile: Scenario<FilesTarget> = ({ paths, sizeBytes }, connection, client) => {
  const heads = paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`);
  let next = client;
  return async () => {
    const answer = await connection.send(heads[next++ % heads.length] ?? "");
    expectStatus(answer, 200);
    if (answer.bodyBytes !== sizeBytes) throw new Error(`${answer.bodyBytes} bytes came, not ${sizeBytes}`);
  };
};

export default getFile;
