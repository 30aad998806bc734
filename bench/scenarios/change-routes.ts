import { randomBytes } from "node:crypto";
import type { Answer } from "../harness/connection.ts";
import type { Scenario, Target } from "../harness/scenario.ts";
import { jsonPost } from "./json-post.ts";

interface ProjectTarget extends Target {
  key: string;
  projectId: string;
}

/** By turns creates a route and deletes it again, since a project holds 1,000. The bare server answers both alike. */
const changeRoutes: Scenario<ProjectTarget> = ({ key, projectId }, connection) => {
  const path = `/api/v1/projects/${projectId}/routers`;
  const prefix = randomBytes(6).toString("hex");
  let count = 0;
  let created: string | null = null;
  return async () => {
    if (created === null) {
      const body = `{"slug":"bench-${prefix}-${count++}","allowedTypes":["image/*","application/pdf"]}`;
      const answer = await connection.send(jsonPost(path, key, body));
      requireSuccess(answer);
      created = JSON.parse(String(answer.body)).router.id;
      return;
    }
    const head = `DELETE /api/v1/routers/${created} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${key}\r\n\r\n`;
    requireSuccess(await connection.send(head));
    created = null;
  };
};

function requireSuccess(answer: Answer): void {
  if (answer.status >= 300) throw new Error(`${answer.head}\n\n${answer.body}`);
}

export default changeRoutes;
