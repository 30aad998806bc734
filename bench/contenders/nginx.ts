import { mkdir, mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { findCommand, installDebianPackages } from "../../scripts/debian-packages.mjs";
import { pickFreePort } from "../../test/support/free-port.ts";
import { startProgram, waitUntilListening } from "../harness/program.ts";

export interface Nginx {
  port: number;
  pid: number;
  /** What lies here is served at /. */
  filesDir: string;
  stop(): Promise<void>;
}

const nginxPackage = { package: "nginx", command: "nginx", why: "files beside a plain web server" };

/** An Upstow that leaves it to nginx to send the bytes. */
export interface Origin {
  port: number;
  objectsDir: string;
}

/** What an Upstow behind this nginx is started with. */
export const sendfileSettings = {
  UPSTOW_SENDFILE: "X-Accel-Redirect:/internal/objects/",
  UPSTOW_TRUSTED_PROXIES: "127.0.0.1/32",
};

/** nginx with its own configuration, apart from one that the machine may run; null where it cannot be had. */
export async function findNginx(folder: string, origin: Origin | null = null): Promise<Nginx | null> {
  await installDebianPackages([nginxPackage], (message) => process.stderr.write(`${message}\n`));
  const command = findCommand("nginx");
  if (command === null) return null;
  const dir = await mkdtemp(join(folder, "nginx-"));
  const filesDir = join(dir, "files");
  const port = await pickFreePort();
  await mkdir(filesDir);
  await writeFile(join(dir, "nginx.conf"), configuration(dir, filesDir, port, origin));
  const program = startProgram({
    command,
    args: ["-p", dir, "-c", join(dir, "nginx.conf"), "-e", join(dir, "error.log")],
    outputFile: join(dir, "output.log"),
  });
  await waitUntilListening(program, port);
  return { port, pid: program.pid, filesDir, stop: program.stop };
}

function proxyLocations({ objectsDir }: Origin): string {
  return `
        location /f/ {
          proxy_pass http://origin;
          proxy_http_version 1.1;
          proxy_set_header Connection "";
          proxy_set_header Host 127.0.0.1;
          proxy_set_header X-Forwarded-Proto https;
          proxy_set_header X-Forwarded-For $remote_addr;
        }
        location /internal/objects/ { internal; alias ${objectsDir}/; }`;
}

function configuration(dir: string, filesDir: string, port: number, origin: Origin | null): string {
  const upstream =
    origin === null ? "" : `upstream origin { server 127.0.0.1:${origin.port}; keepalive 64; }`;
  // The folder is ours alone; without this line the worker would be another user where we are root.
  const user = process.getuid?.() === 0 ? "user root;" : "";
  return `
    daemon off;
    ${user}
    worker_processes 1;
    pid ${dir}/nginx.pid;
    error_log ${dir}/error.log;
    events {}
    http {
      access_log off;
      sendfile on;
      tcp_nopush on;
      keepalive_requests 1000000000;
      client_max_body_size 0;
      client_body_buffer_size 1m;
      client_body_temp_path ${dir}/body;
      proxy_temp_path ${dir}/proxy;
      fastcgi_temp_path ${dir}/fastcgi;
      uwsgi_temp_path ${dir}/uwsgi;
      scgi_temp_path ${dir}/scgi;
      ${upstream}
      server {
        listen 127.0.0.1:${port};
        root ${filesDir};
        location / { dav_methods PUT; }
        ${origin === null ? "" : proxyLocations(origin)}
      }
    }`;
}
