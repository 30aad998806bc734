import type { Scenario, Target } from "../harness/scenario.ts";
import { expectStatus } from "./expect-status.ts";
import { jsonPost } from "./json-post.ts";

interface KeyTarget extends Target {
  key: string;
}

const requestUpload: Scenario<KeyTarget> = ({ key }, connection, client) => {
  let count = 1_000_000 + client * 10_000;
  return async () => {
    const body = `{"fileName":"photo-${count++}.bin","fileSize":10240,"contentType":"application/octet-stream","routeSlug":"default"}`;
    expectStatus(await connection.send(jsonPost("/api/v1/upload/request", key, body)), 200);
  };
};

export default requestUpload;
