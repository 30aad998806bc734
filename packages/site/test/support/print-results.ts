import type { TestEvent } from "node:test/reporters";

/** A line for each test: its name, and how it ended. A suite has one only if it was skipped, because its tests have none. */
export default async function* printResults(events: AsyncIterable<TestEvent>): AsyncGenerator<string> {
  for await (const { type, data } of events) {
    if (type !== "test:pass" && type !== "test:fail") continue;
    const isSkipped = data.skip !== undefined;
    if (data.details.type === "suite" && !isSkipped) continue;
    const cell = isSkipped ? "skipped" : type === "test:pass" ? "passed" : "failed";
    yield `${JSON.stringify({ name: data.name, cell })}\n`;
  }
}
