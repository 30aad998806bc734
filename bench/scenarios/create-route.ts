import { randomBytes } from "node:crypto";
import type { Scenario, Target } from "../harness/scenario.ts";
import { expectStatus } from "./expect-status.ts";
import { jsonPost } from "./json-post.ts";

interface ProjectTarget extends Target {
  key: string;
  projectId: string;
}

const createRoute: Scenario<ProjectTarget> = ({ key, projectId }, connection) => {
  const prefix = randomBytes(6).toString("hex");
  let count = 0;
  return async () => {
    const body = `{"slug":"bench-${prefix}-${count++}","allowedTypes":["image/*","application/pdf"]}`;
    const request = jsonPost(`/api/v1/projects/${projectId}/routers`, key, body);
    expectStatus(await connection.send(request), 201);
  };
};

export default createRoute;
