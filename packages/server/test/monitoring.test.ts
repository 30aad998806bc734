import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFile, rm } from "node:fs/promises";
import { describe, it } from "node:test";
import { promisify } from "node:util";
import { parse as parseYaml } from "yaml";
import { findCommand } from "../../../scripts/debian-packages.mjs";
import { callTo } from "../src/kernel/calls.ts";
import { anyDatabase, onAnyDatabase, startApp, type TestApp } from "./support/start-app.ts";
import { createUploadClient } from "./support/upload-client.ts";

const deploy = new URL("../../../deploy/", import.meta.url);
const rulesFile = new URL("prometheus/upstow.rules.yaml", deploy);
const promtool = findCommand("promtool");

async function scrape(app: TestApp): Promise<string> {
  const answer = await fetch(`${app.url}/metrics`);
  return answer.text();
}

function sampleOf(text: string, sample: string): number {
  const line = text.split("\n").find((each) => each.startsWith(`${sample} `));
  assert.ok(line !== undefined, `${sample} is missing`);
  return Number(line.slice(sample.length + 1));
}

interface Panel {
  title: string;
  targets?: { expr: string }[];
}

describe("the files for Prometheus and Grafana", () => {
  const namesIn = (text: string) => new Set(text.match(/\bupstow_\w+/g));

  it("name only metrics that the service has", async (t) => {
    const app = await startApp({ database: "postgres" });
    t.after(() => app.close());
    const exposed = await scrape(app);
    const records = new Set<string>();
    const { groups } = parseYaml(await readFile(rulesFile, "utf8"));
    for (const { record } of groups[0].rules) records.add(record);
    const dashboard = await readFile(new URL("grafana/upstow.json", deploy), "utf8");
    const names = namesIn((await readFile(rulesFile, "utf8")) + dashboard);
    assert.ok(names.size > 25);
    for (const name of names)
      assert.ok(exposed.includes(`# HELP ${name.replace(/_(?:bucket|count)$/, "")} `), name);
    for (const record of JSON.stringify(groups).match(/\bupstow:[\w:]+/g) ?? [])
      assert.ok(records.has(record), record);
    for (const { title, targets = [] } of JSON.parse(dashboard).panels as Panel[])
      for (const { expr } of targets) assert.doesNotMatch(expr, /\bjob=/, title);
  });

  it("are valid to Prometheus' own checker", {
    skip: promtool === null && "promtool is not installed on this machine",
  }, async () => {
    const run = promisify(execFile);
    await run(promtool ?? "", ["check", "rules", "--lint-fatal", rulesFile.pathname]);
  });
});

onAnyDatabase("metrics of what the process calls", (database) => {
  it("count calls, bytes and requests", async (t) => {
    const app = await startApp({ database });
    t.after(() => app.close());
    await createUploadClient(app, app.owner.live).upload();
    const text = await scrape(app);
    const operation = database === "sqlite" ? "commit" : "insert";
    const sample = `upstow_dependency_call_duration_seconds_count{dependency="database",operation="${operation}",outcome="ok"}`;
    assert.ok(sampleOf(text, sample) >= 1);
    assert.ok(sampleOf(text, "upstow_network_received_bytes_total") > 500);
    assert.ok(sampleOf(text, "upstow_network_sent_bytes_total") > 500);
    assert.equal(sampleOf(text, "upstow_http_requests_in_flight"), 1);
    assert.equal(sampleOf(text, "upstow_read_only"), 0);
    assert.equal(sampleOf(text, "upstow_storage_deletions_pending"), 0);
    assert.ok(sampleOf(text, "upstow_data_dir_free_bytes") < sampleOf(text, "upstow_data_dir_size_bytes"));
    assert.match(text, new RegExp(`^upstow_build_info\\{version="[\\d.]+",.*database="${database}"`, "m"));
    assert.equal(text.includes("upstow_db_pool_connections"), database === "postgres");
  });
});

it("metrics do not take a data directory that is not there for a full disk", async (t) => {
  const app = await startApp({ database: "postgres" });
  t.after(() => app.close());
  await rm(app.dataDir, { recursive: true });
  const text = await scrape(app);
  assert.match(text, /^# HELP upstow_data_dir_free_bytes /m);
  assert.doesNotMatch(text, /^upstow_data_dir_/m);
});

it("metrics tell failed calls from answered ones", async (t) => {
  const app = await startApp({ database: anyDatabase });
  t.after(() => app.close());
  const fail = () => Promise.reject(new Error("broken"));
  await callTo("redis", "try", fail).catch(() => {});
  await callTo("redis", "try", fail, () => true).catch(() => {});
  const count = (text: string, outcome: string) =>
    sampleOf(
      text,
      `upstow_dependency_call_duration_seconds_count{dependency="redis",operation="try",outcome="${outcome}"}`,
    );
  const text = await scrape(app);
  assert.deepEqual([count(text, "error"), count(text, "ok")], [1, 1]);
});
