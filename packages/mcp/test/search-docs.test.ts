import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { startApp, type TestApp } from "../../server/test/support/start-app.ts";
import { createDocsLibrary } from "../src/docs/docs-library.ts";
import { createDocsSearch } from "../src/docs/search-docs.ts";

/** What people ask, and the pages of which one has to be among the first three. */
const questions: [string, ...string[]][] = [
  ["how do I verify a webhook in Hono?", "guides/webhooks"],
  ["upload a file with curl", "guides/http"],
  ["set up uploads in Next.js app router", "guides/next", "quick-start"],
  ["how to check who may upload in Express?", "guides/express"],
  ["fastify upload route", "guides/fastify"],
  ["sveltekit file upload example", "guides/sveltekit"],
  ["resume an upload after the page was reloaded", "guides/large-files"],
  ["why do I get TIER_LIMIT_EXCEEDED", "reference/errors", "concepts/quotas"],
  ["what is the difference between live and test keys", "concepts/environments"],
  ["max file size on the free plan", "concepts/quotas"],
  ["how to store files in Cloudflare R2", "s3"],
  ["run several instances with postgres", "postgres", "deploy"],
  ["restore from a backup", "backup-and-restore"],
  ["put nginx or cloudflare in front of it", "delivery"],
  ["prometheus alert rules", "metrics"],
  ["migrate from UploadThing", "migrate/uploadthing"],
  ["move our files away from supabase", "migrate/supabase-storage"],
  ["make a thumbnail in webp", "guides/images"],
  [
    "dropzone component props",
    "reference/components/dropzone",
    "guides/react",
    "reference/components/classic",
  ],
  ["which environment variable sets the port?", "configuration"],
  ["what happens to a file that was never completed", "concepts/files", "guides/large-files"],
  ["rotate the signing keys", "reference/api/webhooks", "guides/webhooks"],
  ["connect claude or cursor to the docs", "guides/agents"],
  ["is it safe if somebody uploads html or svg", "concepts/delivery", "concepts/security"],
  ["only signed-in users may see a file", "guides/private-files", "concepts/private-files"],
  ["make a file private", "concepts/private-files", "guides/private-files"],
  ["signed url that expires", "concepts/private-files", "guides/private-files"],
  ["show a private image in react", "guides/private-files", "reference/components/display"],
  ["revoke all links of an audience", "concepts/private-files", "reference/api/private-files"],
  ["retrys of a failing webook", "guides/webhooks"],
];

describe("search_docs", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ database: "sqlite" });
  });
  after(() => app.close());

  for (const [question, ...pages] of questions) {
    it(`answers "${question}" in the first three results`, async () => {
      const message = {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "search_docs", arguments: { query: question, limit: 3 } },
      };
      const response = await fetch(`${app.url}/api/v1/mcp`, {
        method: "POST",
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
        body: JSON.stringify(message),
      });
      const [, body = ""] = /^(?:data: )?(\{.*)$/m.exec(await response.text()) ?? [];
      const { results } = JSON.parse(body).result.structuredContent;
      for (const { excerpt } of results)
        assert.doesNotMatch(excerpt, /```|`|\]\(|\|---|<!--|^# |(?:^|\s)- [A-Z]/, excerpt);
      const found = results.map(({ path }: { path: string }) => path);
      assert.ok(
        pages.some((page) => found.includes(page)),
        `${pages.join(" or ")} is not in ${found.join(", ")}`,
      );
    });
  }

  it("shows one row of a table, its cells apart, and no header", async () => {
    const library = createDocsLibrary(
      [
        {
          path: "limits",
          title: "Limits",
          summary: "",
          markdown:
            "# Limits\n\nBefore.\n\n| What | Limit |\n|---|---|\n| Anchors | 2 |\n| Oars, `a\\|b` | 9 |\n\nAfter.",
        },
      ],
      [],
    );
    const search = createDocsSearch(library);
    assert.equal((await search("oars", 1))[0]?.excerpt, "Oars, a|b · 9");
    assert.equal((await search("limits", 1))[0]?.excerpt, "Before.");
  });
});
