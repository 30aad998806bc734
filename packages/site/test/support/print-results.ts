import type { TestEvent } from "node:test/reporters";

/** A line for each test that is no suite: its name, and how it ended. */
export default async function* printResults(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (data.details.type === "suite") continue;
    const cell = data.skip !== undefined ? "absent" : type === "test:pass" ? "passed" : "failed";
    yield `${JSON.stringify({ name: data.name, cell })}\n`;
  }
}
