import type { Scenario, Target } from "../harness/scenario.ts";
import { expectStatus } from "./expect-status.ts";

interface KeysTarget extends Target {
  key: string;
  /** Keys of files, read in turn. */
  fileKeys: string[];
}

const getMetadata: Scenario<KeysTarget> = ({ key, fileKeys }, connection, client) => {
  const heads = fileKeys.map(
    (fileKey) =>
      `GET /api/v1/files/${fileKey} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`,
  );
  let next = client * 7;
  return async () => expectStatus(await connection.send(heads[next++ % heads.length] ?? ""), 200);
};

export default getMetadata;
