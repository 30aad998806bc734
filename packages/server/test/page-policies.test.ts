import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { sendRaw } from "./support/raw-http.ts";
import { startApp, type TestApp } from "./support/start-app.ts";

describe("the policy of a page", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({
      env: { UPSTOW_TRUSTED_PROXIES: "127.0.0.1", UPSTOW_PUBLIC_URL: "https://files.example.com:8443" },
    });
  });
  after(() => app.close());

  async function scriptSources(path: string, host: string, lines: string[] = []): Promise<string> {
    const head = [`GET ${path} HTTP/1.1`, `Host: ${host}`, "X-Forwarded-Proto: https", ...lines];
    const { headers } = await sendRaw(app.url, `${head.join("\r\n")}\r\n\r\n`);
    const policy = (headers.get("content-security-policy") ?? "").split("; ");
    const rules = policy.filter((rule) => rule.startsWith("script-src"));
    assert.equal(rules.length, 1, policy.join("; "));
    return rules[0]?.replace("script-src ", "") ?? "";
  }

  it("admits scripts from its assets at the host the page was opened at, and at the public one", async () => {
    const assets = { "/": "/assets/", "/docs": "/assets/", "/dashboard": "/dashboard/assets/" };
    for (const [path, folder] of Object.entries(assets)) {
      assert.equal(await scriptSources(path, "files.example.com:8443"), `files.example.com:8443${folder}`);
      const bare = `files.example.com${folder} files.example.com:8443${folder}`;
      assert.equal(await scriptSources(path, "files.example.com"), bare, "a proxy left the port out");
      const forwarded = await scriptSources(path, "10.0.0.7:4000", ["X-Forwarded-Host: upstow.example.org"]);
      assert.equal(forwarded, `upstow.example.org${folder} files.example.com:8443${folder}`);
    }
  });

  it("never repeats what is no host", async () => {
    for (const host of [
      "*",
      "a;script-src *",
      "a 'unsafe-inline'",
      "a,b",
      "a/f/",
      "[::1]:4000",
      "",
      "https:",
    ])
      assert.equal(await scriptSources("/dashboard", host), "'self'", host);
  });
});
