import type { Answer } from "../harness/connection.ts";

export function expectStatus(answer: Answer, status: number): void {
  if (answer.status !== status) throw new Error(`${answer.head}\n\n${answer.body}`);
}
