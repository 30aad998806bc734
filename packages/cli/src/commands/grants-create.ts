import type { Access } from "@upstow/sdk";
import type { Command } from "../command.ts";
import { connect, getConnection } from "../connection.ts";
import { readChoice, readCount, readMetadata } from "../option-values.ts";

export const grantsCreate: Command = {
  name: "grants create",
  summary: "Let someone upload without an API key",
  options: {
    route: { value: "SLUG", description: "the file route to upload to (default: default)" },
    "expires-in": { value: "SECONDS", description: "lifetime, at most 86400 (default: 3600)" },
    "max-files": { value: "NUMBER", description: "number of uploads, at most 1000 (default: 1)" },
    "max-file-size": { value: "BYTES", description: "largest file (default: the route's)" },
    type: {
      value: "TYPE",
      description: "accepted content type; may be repeated (default: the route's)",
      isRepeated: true,
    },
    metadata: { value: "JSON", description: "an object to store with every file" },
    access: { value: "ACCESS", description: "public or private (default: the route's)" },
    audience: { value: "NAME", description: "the audience of the files" },
  },
  notes: `Clients use the token as 'Authorization: Bearer upg_…' at /tus and /resumable. HTML forms post to the form URL, and
in a browser it opens a page to upload with.
A grant ends when its key is revoked.`,
  async run(call) {
    const { options } = call;
    const expiresIn = readCount("--expires-in", options.find("expires-in"));
    const maxFiles = readCount("--max-files", options.find("max-files"));
    const maxFileSize = readCount("--max-file-size", options.find("max-file-size"));
    const metadata = readMetadata(options);
    const access = options.find("access");
    const audience = options.find("audience");
    const allowedTypes = options.all("type");
    const { url } = getConnection(call);
    const upstow = await connect(call);
    const grant = await upstow.grants.create({
      routeSlug: options.find("route") ?? "default",
      ...(expiresIn === undefined ? {} : { expiresIn }),
      ...(maxFiles === undefined ? {} : { maxFiles }),
      ...(maxFileSize === undefined ? {} : { maxFileSize }),
      ...(allowedTypes.length === 0 ? {} : { allowedTypes }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(access === undefined
        ? {}
        : { access: readChoice<Access>("--access", access, ["public", "private"]) }),
      ...(audience === undefined ? {} : { audience }),
    });
    const urls = {
      tusUrl: `${url}/tus`,
      resumableUrl: `${url}/resumable`,
      formUrl: `${url}/form/${grant.token}`,
    };
    return {
      json: { grant: { ...grant, ...urls } },
      text: [
        `Token    ${grant.token}`,
        `Expires  ${grant.expiresAt}`,
        `tus      ${urls.tusUrl}`,
        `IETF     ${urls.resumableUrl}`,
        `Form     ${urls.formUrl}`,
      ].join("\n"),
    };
  },
};
