import { accessSync, constants, existsSync, rmSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { lastLines, runCaptured, SetUpError } from "./run-captured.mjs";

/** Programs the tests run for real and npm cannot bring. */
export const testPackages = [
  { package: "redis-server", command: "redis-server", why: "rate limits shared by several servers" },
  {
    package: "chromium-headless-shell",
    command: "chromium-headless-shell",
    why: "what browsers make of pages and files",
  },
  {
    package: "swift-proxy",
    command: "swift-proxy-server",
    why: "storage in a bucket, on a server that checks signatures",
  },
  {
    package: "swift-account",
    command: "swift-account-server",
    why: "storage in a bucket, on a server that checks signatures",
  },
  {
    package: "swift-container",
    command: "swift-container-server",
    why: "storage in a bucket, on a server that checks signatures",
  },
  {
    package: "swift-object",
    command: "swift-object-server",
    why: "storage in a bucket, on a server that checks signatures",
  },
  { package: "pgbouncer", command: "pgbouncer", why: "PostgreSQL behind a pooler" },
  { package: "prometheus", command: "promtool", why: "alert rules as Prometheus reads them" },
  { package: "systemd", command: "systemd-notify", why: "readiness and watchdog of the systemd unit" },
  { package: "bubblewrap", command: "bwrap", why: "renderers that see nothing but the image" },
  { package: "libheif-examples", command: "heif-convert", why: "pictures of HEIC files" },
  { package: "poppler-utils", command: "pdftoppm", why: "pictures of PDF files" },
  { package: "ffmpeg", command: "ffmpeg", why: "posters of videos" },
  { package: "clamav-daemon", command: "clamd", why: "virus scans of uploads" },
  { package: "libimage-exiftool-perl", command: "exiftool", why: "a second opinion on metadata of pictures" },
  { package: "memcached", command: "memcached", why: "the sessions of that server" },
];

const secondOpinion = "a second opinion on storage in a bucket";

/** 250 MB, for `npm run test:s3` only. */
export const cephPackages = ["radosgw", "ceph-mon", "ceph-osd"].map((name) => ({
  package: name,
  command: name,
  why: secondOpinion,
}));

const goLibraries = "/usr/share/gocode/src";
const helmTemplates = "the Helm chart, rendered by Go's templates";

/** 330 MB, for `npm run test:all` only. */
export const chartPackages = [
  { package: "golang-go", command: "go", why: helmTemplates },
  {
    package: "golang-github-masterminds-sprig-dev",
    path: `${goLibraries}/github.com/Masterminds/sprig`,
    why: helmTemplates,
  },
  { package: "golang-gopkg-yaml.v3-dev", path: `${goLibraries}/gopkg.in/yaml.v3`, why: helmTemplates },
];

/** 10 MB, for `npm run test:all` only. */
export const tuspyPackages = [
  {
    package: "python3-tuspy",
    path: "/usr/lib/python3/dist-packages/tusclient",
    why: "uploads by a client that others wrote",
  },
];

/** @param {string} command */
export function findCommand(command) {
  // A user who is not root often lacks /usr/sbin, where Debian puts servers.
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/sbin", "/usr/bin"];
  for (const folder of folders) {
    const path = join(folder, command);
    try {
      accessSync(path, constants.X_OK);
      return path;
    } catch {}
  }
  return null;
}

/** A library has no command: it is known by its path. */
export function findMissingPackages(packages) {
  return packages.filter(({ command, path }) =>
    path === undefined ? findCommand(command) === null : !existsSync(path),
  );
}

export const isCi = process.env.CI === "true" || process.env.CI === "1";

function canInstall() {
  return process.getuid?.() === 0 && existsSync("/etc/debian_version") && findCommand("apt-get") !== null;
}

// Debian starts a service as soon as its package is there; the tests start their own on free ports. A policy that
// is already there stays. Ours must go again even after Ctrl-C: it would silence every later service start.
async function withoutServiceStarts(work) {
  const policy = "/usr/sbin/policy-rc.d";
  if (existsSync(policy)) return work();
  writeFileSync(policy, "#!/bin/sh\nexit 101\n", { mode: 0o755 });
  const signals = ["SIGINT", "SIGTERM", "SIGHUP"];
  const leave = () => {
    rmSync(policy, { force: true });
    process.exit(1);
  };
  for (const signal of signals) process.on(signal, leave);
  try {
    return await work();
  } finally {
    for (const signal of signals) process.off(signal, leave);
    rmSync(policy, { force: true });
  }
}

async function aptGet(args, say) {
  const env = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const { ok, output } = await runCaptured("apt-get", ["-o", "DPkg::Lock::Timeout=120", ...args], { env });
  if (!ok) say(`apt-get ${args.join(" ")} failed. Its last lines:\n${lastLines(output)}`);
  return ok;
}

async function install(names, say) {
  say(`installing Debian packages: ${names.join(", ")} …`);
  await withoutServiceStarts(async () => {
    // An update may fail for one dead mirror while the package lists at hand are good enough.
    await aptGet(["update"], say);
    await aptGet(["install", "-y", "--no-install-recommends", ...names], say);
  });
}

/**
 * Installs what is missing where that is possible. What stays missing is named; in CI it is an error, because
 * tests would be left out.
 * @param {typeof testPackages} packages
 * @param {(message: string) => void} say
 */
export async function installDebianPackages(packages, say) {
  const missing = findMissingPackages(packages);
  if (missing.length > 0 && canInstall()) {
    await install(
      missing.map((entry) => entry.package),
      say,
    );
  }
  const left = findMissingPackages(missing);
  if (left.length === 0) return;
  const message = [
    "Not installed on this machine, so the tests that need it are left out:",
    ...left.map((entry) => `    ${entry.package} (${entry.why})`),
    `  To run them too: sudo apt-get install --no-install-recommends ${left.map((entry) => entry.package).join(" ")}`,
  ].join("\n");
  if (isCi) throw new SetUpError(message);
  say(message);
}
