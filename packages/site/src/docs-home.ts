import { drawIcon } from "@upstow/kit/draw-icon";
import {
  activityIcon,
  bookOpenIcon,
  cloudUploadIcon,
  codeIcon,
  imageIcon,
  lockIcon,
  packageIcon,
  rocketIcon,
  routeIcon,
  serverIcon,
  shieldCheckIcon,
  terminalIcon,
  webhookIcon,
} from "@upstow/kit/icons";
import type { DocsLibrary } from "@upstow/mcp/docs";
import { renderNavigation } from "./docs-pages.ts";
import { escapeHtml } from "./escape.ts";
import { renderCode, renderTabSet } from "./markdown.ts";

interface Task {
  icon: string;
  title: string;
  about: string;
  pages: [path: string, text: string][];
}

const tasks: { title: string; tasks: Task[] }[] = [
  {
    title: "Build",
    tasks: [
      {
        icon: cloudUploadIcon,
        title: "Upload from a browser",
        about: "Components, a headless hook, or your own form.",
        pages: [
          ["guides/react", "React components"],
          ["guides/large-files", "Large files"],
          ["guides/uppy", "Uppy"],
          ["guides/http", "Plain HTTP"],
        ],
      },
      {
        icon: webhookIcon,
        title: "React to uploads",
        about: "Signed webhooks, retried until your server responds.",
        pages: [
          ["guides/webhooks", "Receive webhooks"],
          ["concepts/files", "File states"],
          ["concepts/file-routes", "File routes"],
        ],
      },
      {
        icon: imageIcon,
        title: "Serve images and files",
        about: "Resized on demand, cached, in the format each browser accepts.",
        pages: [
          ["guides/images", "Image variants"],
          ["concepts/delivery", "How files are served"],
          ["delivery", "CDN and proxies"],
        ],
      },
      {
        icon: lockIcon,
        title: "Keep files private",
        about: "Links that expire, grants for a whole folder, instant revocation.",
        pages: [
          ["guides/private-files", "Private files"],
          ["concepts/private-files", "Links and grants"],
          ["private-delivery", "Behind a CDN"],
        ],
      },
    ],
  },
  {
    title: "Operate",
    tasks: [
      {
        icon: rocketIcon,
        title: "Deploy",
        about: "From one process to many instances.",
        pages: [
          ["deploy", "Ways to run it"],
          ["configuration", "Configuration"],
          ["scale-out", "Scale out"],
        ],
      },
      {
        icon: serverIcon,
        title: "Choose databases and storage",
        about: "SQLite and disk, PostgreSQL and S3. Move between them later.",
        pages: [
          ["postgres", "PostgreSQL"],
          ["s3", "S3"],
          ["migrate/bucket-or-folder", "Import files"],
        ],
      },
      {
        icon: activityIcon,
        title: "Monitor it",
        about: "Metrics, traces, audit log, and how to handle alerts.",
        pages: [
          ["metrics", "Metrics and traces"],
          ["audit-log", "Audit log"],
          ["troubleshooting", "Troubleshooting"],
        ],
      },
      {
        icon: shieldCheckIcon,
        title: "Keep data safe",
        about: "Backups you can restore, and checks that prove it.",
        pages: [
          ["backup-and-restore", "Back up and restore"],
          ["verify", "Verify"],
          ["upgrade", "Upgrade"],
        ],
      },
    ],
  },
  {
    title: "Look up",
    tasks: [
      {
        icon: codeIcon,
        title: "API",
        about: "Every endpoint, with calls you can send from the page.",
        pages: [
          ["reference/api/uploads", "Uploads"],
          ["reference/api/files", "Files"],
          ["reference/errors", "Errors"],
          ["reference/limits", "Limits"],
        ],
      },
      {
        icon: packageIcon,
        title: "SDK",
        about: "Typed clients and route handlers.",
        pages: [
          ["reference/sdk/server-client", "Client"],
          ["reference/sdk/route-handlers", "Route handlers"],
          ["reference/sdk/webhooks", "Webhooks"],
        ],
      },
      {
        icon: terminalIcon,
        title: "Command line",
        about: "For your app and for the installation.",
        pages: [["reference/cli", "upstow"]],
      },
      {
        icon: routeIcon,
        title: "Move here",
        about: "Keep your files and their names.",
        pages: [
          ["migrate/uploadthing", "From UploadThing"],
          ["migrate/supabase-storage", "From Supabase Storage"],
        ],
      },
    ],
  },
];

const frameworks: [name: string, page: string][] = [
  ["Next.js", "guides/next"],
  ["SvelteKit", "guides/sveltekit"],
  ["Express", "guides/express"],
  ["Fastify", "guides/fastify"],
  ["Hono", "guides/hono"],
  ["Vite", "guides/vite"],
  ["Astro and React Router", "guides/astro-and-react-router"],
];

/** The first page of the documentation: what readers come to do. */
export function renderDocsHome(library: DocsLibrary, publicUrl: string): string {
  const groups = tasks.map(
    ({ title, tasks: cards }) =>
      `<h2>${title}</h2><ul class="tasks">${cards.map((task) => renderTask(task, library)).join("")}</ul>`,
  );
  const init = `UPSTOW_URL=${publicUrl} UPSTOW_API_KEY=svc_test_… \\\n  npx ${publicUrl}/packages/cli.tgz init`;
  const tabs = frameworks.map(([name, path]) => ({
    name,
    html: `${renderCode(init, "sh")}<p>Run it in your project. It detects ${name}, shows every change and asks first. <a href="/docs/${path}">${name} guide</a></p>`,
  }));
  return `<div class="docs docs-home">${renderNavigation("", library.navigation)}
<main id="content"><div class="hero-docs"><h1>Documentation</h1>
<p class="lead">Add uploads to an app, run the service, or look up an endpoint.</p>
<p class="actions"><a class="button primary" href="/docs/quick-start">${drawIcon(rocketIcon)}Quick start</a><a class="button" href="/docs/reference/api/files">${drawIcon(bookOpenIcon)}API reference</a></p></div>
<h2>Add uploads to your framework</h2>${renderTabSet("framework", "home", tabs)}
${groups.join("\n")}</main></div>`;
}

function renderTask({ icon, title, about, pages }: Task, library: DocsLibrary): string {
  const links = pages.map(([path, text]) => {
    if (library.find(path) === null) throw new Error(`the docs have no page ${path}`);
    return `<li><a href="/docs/${path}">${escapeHtml(text)}</a></li>`;
  });
  return `<li class="task">${drawIcon(icon, "icon task-icon")}<h3>${title}</h3><p>${about}</p><ul>${links.join("")}</ul></li>`;
}
