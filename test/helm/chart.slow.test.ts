import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { Ajv } from "ajv";
import { parse, parseAllDocuments } from "yaml";
import { chartPackages, findMissingPackages } from "../../scripts/debian-packages.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const folder = join(root, "deploy/helm/upstow");
const read = (path: string) => readFileSync(join(folder, path), "utf8");
const chart = parse(read("Chart.yaml"));
const defaults = parse(read("values.yaml"));
const isValid = new Ajv({ strict: false }).compile(JSON.parse(read("values.schema.json")));
const [missing] = findMissingPackages(chartPackages);
const skip = missing === undefined ? false : `${missing.package} is not installed`;

// biome-ignore lint/suspicious/noExplicitAny: objects of Kubernetes
type KubernetesObject = any;

function render(values: object, release = "upstow"): KubernetesObject[] {
  assert.ok(isValid(values), JSON.stringify(isValid.errors));
  const input = {
    Folder: folder,
    Chart: { Name: chart.name, Version: chart.version, AppVersion: chart.appVersion },
    Release: { Name: release, Namespace: "default" },
    Values: values,
  };
  const { stdout, stderr, status } = spawnSync("go", ["run", join(root, "test/helm/render.go")], {
    input: JSON.stringify(input),
    encoding: "utf8",
    env: {
      ...process.env,
      GO111MODULE: "off",
      GOPATH: "/usr/share/gocode",
      GOCACHE: join(tmpdir(), "upstow-go-cache"),
    },
  });
  assert.equal(status, 0, stderr);
  const texts: Record<string, string> = JSON.parse(stdout);
  return Object.entries(texts).flatMap(([name, text]) => (name === "NOTES.txt" ? [] : parseObjects(text)));
}

const parseObjects = (text: string): KubernetesObject[] =>
  parseAllDocuments(text).flatMap((document) => {
    assert.deepEqual(document.errors, []);
    const object = document.toJS();
    return object === null ? [] : [object];
  });

const byKind = (objects: KubernetesObject[]) =>
  Object.fromEntries(objects.map((object) => [object.kind, object]));

it("the chart has the version of what it runs", () => {
  const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  assert.equal(chart.apiVersion, "v2");
  assert.equal(chart.version, version);
  assert.equal(chart.appVersion, version);
  assert.ok(existsSync(join(folder, "templates/NOTES.txt")));
});

it("renders the objects of the plain manifests", { skip }, () => {
  const plain = ["upstow.yaml", "pod-monitor.yaml"].flatMap((file) =>
    parseObjects(readFileSync(join(root, "deploy/kubernetes", file), "utf8")),
  );
  const rendered = render({ ...defaults, podMonitor: { ...defaults.podMonitor, enabled: true } });
  assert.deepEqual(byKind(rendered), byKind(plain));
  assert.deepEqual(
    render(defaults)
      .map(({ kind }) => kind)
      .sort(),
    ["Deployment", "HorizontalPodAutoscaler", "NetworkPolicy", "PodDisruptionBudget", "Service"],
  );
});

it("does what its values say", { skip }, () => {
  const digest = `sha256:${"0a".repeat(32)}`;
  const rule = { to: [{ ipBlock: { cidr: "203.0.113.7/32" } }], ports: [{ protocol: "TCP", port: 9000 }] };
  const objects = byKind(
    render(
      {
        ...defaults,
        image: { ...defaults.image, digest, pullSecrets: ["pull"] },
        env: { UPSTOW_PUBLIC_URL: "https://files.example.com", UPSTOW_LOG_RETENTION_DAYS: "30" },
        ingress: { ...defaults.ingress, enabled: true, host: "files.example.com", tlsSecret: "files-tls" },
        networkPolicy: { ...defaults.networkPolicy, egress: [rule] },
      },
      "files",
    ),
  );
  const { Deployment, Service, Ingress, NetworkPolicy } = objects;
  const pod = Deployment.spec.template.spec;
  const [container] = pod.containers;
  assert.equal(container.image, `upstow@${digest}`);
  assert.deepEqual(pod.imagePullSecrets, [{ name: "pull" }]);
  assert.deepEqual(container.env.slice(2), [
    { name: "UPSTOW_LOG_RETENTION_DAYS", value: "30" },
    { name: "UPSTOW_PUBLIC_URL", value: "https://files.example.com" },
  ]);
  assert.deepEqual(Service.spec.selector, Deployment.spec.template.metadata.labels);
  assert.deepEqual(Ingress.spec.tls, [{ hosts: ["files.example.com"], secretName: "files-tls" }]);
  assert.equal(Ingress.spec.rules[0].http.paths[0].backend.service.name, Service.metadata.name);
  assert.deepEqual(Ingress.metadata.annotations, defaults.ingress.annotations);
  assert.deepEqual(NetworkPolicy.spec.egress.at(-1), rule);
  const disabled = { ...defaults, networkPolicy: { ...defaults.networkPolicy, enabled: false } };
  assert.equal(byKind(render(disabled)).NetworkPolicy, undefined);
});

for (const [name, values] of Object.entries({
  "an image tag that moves": { image: { ...defaults.image, tag: "latest" } },
  "an Ingress without a host": { ingress: { ...defaults.ingress, enabled: true } },
  "a misspelt value": { replica: { min: 1 } },
  "a number as a variable": { env: { UPSTOW_PORT: 4000 } },
}))
  it(`refuses ${name}`, () => assert.ok(!isValid({ ...defaults, ...values })));
