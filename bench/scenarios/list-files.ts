import type { Scenario, Target } from "../harness/scenario.ts";
import { expectStatus } from "./expect-status.ts";

interface PageTarget extends Target {
  key: string;
  query: string;
  /** Where another service than Upstow has its list. */
  path?: string;
}

const listFiles: Scenario<PageTarget> = ({ key, query, path = "/api/v1/files" }, connection) => {
  const head = `GET ${path}?${query} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  return async () => expectStatus(await connection.send(head), 200);
};

export default listFiles;
