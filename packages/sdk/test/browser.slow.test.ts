import { randomFillSync } from "node:crypto";
import { describe, it } from "node:test";
import { browserMissing } from "../../server/test/support/browser.ts";
import { resumeAfterClose } from "./support/browser-uploads.ts";
import { inBrowser } from "./support/in-browser.ts";
import { MB } from "./support/start-service.ts";

const large = randomFillSync(Buffer.alloc(200 * MB + 17));

describe("a large upload in Chromium", { skip: browserMissing }, () => {
  const suite = inBrowser({ "large.bin": large });

  it("resumes after its page was closed half-way, and sends only the parts that are missing", () =>
    resumeAfterClose(suite, large));
});
