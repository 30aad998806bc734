// Builds the image as deploy/Dockerfile says and runs it as documented. Not part of `npm test`: it takes minutes, and
// needs root on Debian.
//   npm run test:container
import assert from "node:assert/strict";
import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, mkdir, mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { installDebianPackages } from "../scripts/debian-packages.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const run = promisify(execFile);
const why = "building and running the image";
const needed = [
  { package: "buildah", command: "buildah", why },
  { package: "mmdebstrap", command: "mmdebstrap", why },
  { package: "bubblewrap", command: "bwrap", why },
  { package: "iproute2", command: "ip", why },
];

interface ImageConfig {
  User: string;
  Env: string[];
  Cmd: string[];
  WorkingDir: string;
  Volumes: Record<string, object>;
  ExposedPorts: Record<string, object>;
  StopSignal: NodeJS.Signals;
  Healthcheck: { Test: string[] };
}

/** The network of the containers, as Docker makes one: the machine is its first address. */
const network = {
  name: `upstow-${process.pid}`,
  prefix: "172.30.77.0/24",
  machine: "172.30.77.1",
  container: "172.30.77.2",
};

describe("the container image", () => {
  let folder: string;
  let rootfs: string;
  let volume: string;
  let config: ImageConfig;
  const started = new Set<ChildProcess>();
  const buildah = async (...args: string[]) => {
    const where = [
      "--root",
      join(folder, "store"),
      "--runroot",
      join(folder, "run"),
      "--storage-driver",
      "vfs",
    ];
    const { stdout } = await run("buildah", [...where, ...args], { cwd: root, maxBuffer: 2 ** 28 });
    return stdout.trim();
  };

  before(async () => {
    await installDebianPackages(needed, (line: string) => process.stderr.write(`${line}\n`));
    folder = await mkdtemp(join(tmpdir(), "upstow-container-"));
    await makeBaseImage();
    await buildah(
      "bud",
      "--isolation",
      "chroot",
      "--format",
      "docker",
      "--pull-never",
      "-f",
      "deploy/Dockerfile",
      "-t",
      "localhost/upstow",
      ".",
    );
    rootfs = await buildah("mount", await buildah("from", "--pull-never", "localhost/upstow"));
    config = JSON.parse(await buildah("inspect", "--type", "image", "localhost/upstow")).Docker.config;
    volume = join(folder, "volume");
    // A new volume is a copy of what the image has there, owner and rights included.
    const { uid, gid, mode } = await stat(join(rootfs, "data"));
    await mkdir(volume, { mode });
    await chown(volume, uid, gid);
    // Docker writes this file into every container.
    await writeFile(join(rootfs, "etc/hosts"), "127.0.0.1 localhost\n");
    await connectNetwork();
  });
  after(async () => {
    for (const child of started) child.kill("SIGKILL");
    await run("ip", ["netns", "delete", network.name]).catch(() => {});
    await buildah("umount", "--all").catch(() => {});
    await rm(folder, { recursive: true, force: true });
  });

  /** No registry is asked: what the FROM line names is made of Debian's packages, this Node and this npm. */
  async function makeBaseImage(): Promise<void> {
    const dockerfile = await readFile(join(root, "deploy/Dockerfile"), "utf8");
    const [base = "", ...others] = new Set([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, name]) => name));
    assert.deepEqual(others, []);
    const [, version, release = ""] = /^node:([\d.]+)-(\w+)-slim$/.exec(base) ?? [];
    assert.equal(`v${version}`, process.version, "the image has the Node that everything is tested on");
    const tar = join(folder, "debian.tar");
    await run("mmdebstrap", ["--variant=minbase", "--quiet", release, tar]);
    const container = await buildah("from", "scratch");
    await buildah("add", "--quiet", container, tar, "/");
    await buildah("copy", "--quiet", container, process.execPath, "/usr/local/bin/node");
    const { stdout: npm } = await run("npm", ["root", "--global"]);
    await buildah("copy", "--quiet", container, join(npm.trim(), "npm"), "/usr/local/lib/node_modules/npm");
    const link = ["ln", "-s", "../lib/node_modules/npm/bin/npm-cli.js", "/usr/local/bin/npm"];
    await buildah("run", "--isolation", "chroot", container, "--", ...link);
    const authorities = process.env["NODE_EXTRA_CA_CERTS"];
    if (authorities !== undefined) {
      await buildah("copy", "--quiet", container, authorities, "/etc/machine-authorities.pem");
      await buildah("config", "--env", "NODE_EXTRA_CA_CERTS=/etc/machine-authorities.pem", container);
    }
    await buildah("commit", "--quiet", "--rm", container, `localhost/${base}`);
  }

  async function connectNetwork(): Promise<void> {
    const [outside, inside] = [`up${process.pid}`, "eth0"];
    const ip = (...args: string[]) => run("ip", args);
    await ip("netns", "add", network.name);
    await ip("link", "add", outside, "type", "veth", "peer", "name", inside, "netns", network.name);
    await ip("address", "add", `${network.machine}/24`, "dev", outside);
    await ip("link", "set", outside, "up");
    const within = (...args: string[]) => ip("-netns", network.name, ...args);
    await within("link", "set", "lo", "up");
    await within("address", "add", `${network.container}/24`, "dev", inside);
    await within("link", "set", inside, "up");
  }

  /** As `docker run --read-only --tmpfs /tmp --volume …:/data`: the image's user, no capability, its own network. */
  function start(env: Record<string, string>, command = config.Cmd): ChildProcess {
    const [uid = "", gid = ""] = config.User.split(":");
    const variables = [...config.Env.map((pair) => pair.split(/=(.*)/s)), ...Object.entries(env)];
    const user = ["--reuid", uid, "--regid", gid, "--clear-groups", "--bounding-set=-all", "--no-new-privs"];
    const mounts = ["--ro-bind", rootfs, "/", "--bind", volume, "/data", "--tmpfs", "/tmp"];
    const system = ["--proc", "/proc", "--dev", "/dev", "--unshare-pid", "--unshare-ipc", "--unshare-uts"];
    const rights = ["setuid", "setgid", "setpcap"].flatMap((name) => ["--cap-add", `cap_${name}`]);
    const given = variables.flatMap(([name = "", value = ""]) => ["--setenv", name, value]);
    const sandbox = [...mounts, ...system, ...rights, "--die-with-parent", "--clearenv", ...given];
    const place = ["--chdir", config.WorkingDir, "--", "setpriv", ...user, "--", ...command];
    const child = spawn("ip", ["netns", "exec", network.name, "bwrap", ...sandbox, ...place], {
      stdio: ["ignore", "pipe", "pipe"],
    });
    started.add(child.once("exit", () => started.delete(child)));
    return child;
  }

  async function execute(...command: string[]): Promise<{ code: number; shown: string }> {
    const child = start({}, command);
    const shown = Promise.all(
      [child.stdout, child.stderr].map((stream) => text(stream as NodeJS.ReadableStream)),
    );
    const [code] = await once(child, "exit");
    return { code, shown: (await shown).join("") };
  }

  async function findOnlyChild(pid: number): Promise<number> {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8");
    assert.match(children, /^\d+ $/);
    return Number(children);
  }

  /** Until it is healthy, as Docker finds out. */
  async function serve(env: Record<string, string> = {}) {
    const child = start(env);
    let log = "";
    for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (log += chunk));
    const [, ...health] = config.Healthcheck.Test;
    while ((await execute(...health)).code !== 0) {
      assert.equal(child.exitCode, null, log);
      await sleep(200);
    }
    return {
      log: () => log,
      async stop() {
        const init = await findOnlyChild(child.pid ?? 0);
        process.kill(await findOnlyChild(init), config.StopSignal);
        const [code] = await once(child, "exit");
        return code;
      },
    };
  }

  /** What a published port hands on: the connection comes from the machine's address, the Host is the caller's. */
  async function call(
    host: string,
    path: string,
    options: { method?: string; key?: string; type?: string; body?: string } = {},
  ) {
    const headers = {
      host,
      ...(options.key === undefined ? {} : { authorization: `Bearer ${options.key}` }),
      ...(options.body === undefined
        ? {}
        : { "content-type": options.type ?? "application/json", "content-length": options.body.length }),
    };
    const [port] = (Object.keys(config.ExposedPorts)[0] ?? "").split("/");
    const asked = request({ host: network.container, port, path, method: options.method ?? "GET", headers });
    asked.end(options.body);
    const [response] = await once(asked, "response");
    return { status: response.statusCode as number, body: await text(response) };
  }

  it("says whose user, volume, port, signal and health check it has", () => {
    assert.equal(config.User, "10001:10001");
    assert.deepEqual(Object.keys(config.Volumes), ["/data"]);
    assert.deepEqual(Object.keys(config.ExposedPorts), ["4000/tcp"]);
    assert.equal(config.StopSignal, "SIGTERM");
  });

  it("runs as a stranger on a read-only root, and says what to set before anybody can call it", async () => {
    const writing = await execute(
      "sh",
      "-c",
      "id -u; touch /app/x; touch /data/x && rm /data/x && echo volume",
    );
    assert.match(writing.shown, /^10001\nvolume\n.*Read-only file system/s);

    const service = await serve();
    assert.match(service.log(), /Upstow is ready at http:\/\/localhost:4000/);
    assert.match(service.log(), /"level":"warn".*UPSTOW_HTTP_FROM=172\.16\.0\.0\/12/);
    assert.doesNotMatch(service.log(), /svc_live_/);
    for (const host of ["localhost:4000", "upstow:4000"]) {
      const refused = await call(host, "/api/v1/projects");
      assert.equal(refused.status, 403);
      assert.match(JSON.parse(refused.body).error.suggestion, /UPSTOW_TRUSTED_PROXIES.*UPSTOW_HTTP_FROM/);
    }
    assert.equal(await service.stop(), 0);
  });

  it("takes uploads over a published port once the network is allowed, and keeps them in the volume", async () => {
    const env = { UPSTOW_HTTP_FROM: network.prefix };
    const kept = await readFile(join(volume, "first-start.txt"), "utf8");
    const [key = ""] = /svc_live_\w+/.exec(kept) ?? [];
    assert.equal((await stat(join(volume, "first-start.txt"))).mode & 0o777, 0o600);
    const service = await serve(env);
    const api = async (path: string, body: object) => {
      const answer = await call("localhost:4000", `/api/v1/${path}`, {
        method: "POST",
        key,
        body: JSON.stringify(body),
      });
      assert.equal(answer.status, 200, answer.body);
      return JSON.parse(answer.body);
    };
    const file = { fileName: "a.txt", fileSize: 5, contentType: "text/plain", routeSlug: "default" };
    const { fileId, uploadUrl, cdnUrl } = await api("upload/request", file);
    const { host, pathname } = new URL(uploadUrl);
    const put = await call(host, pathname, { method: "PUT", type: "text/plain", body: "hello" });
    assert.equal(put.status, 200, put.body);
    await api("upload/complete", { fileId });
    const readBack = () => call("upstow:4000", new URL(cdnUrl).pathname);
    assert.equal((await readBack()).body, "hello");
    const doctor = await execute("node", "packages/cli/src/main.ts", "doctor");
    assert.match(
      doctor.shown,
      /^✔ public URL +the installation in \/data responds at http:\/\/localhost:4000$/m,
    );
    assert.match(doctor.shown, /^✔ renderers +confined by .*namespaces \(bwrap\)/m);
    assert.match(doctor.shown, /No problems found\.\n$/);
    assert.equal(await service.stop(), 0);

    const again = await serve(env);
    assert.equal((await readBack()).body, "hello", "another container, the same volume");
    assert.equal(await again.stop(), 0);
  });
});
