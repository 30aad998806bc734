import type { Access } from "@upstow/sdk";
import { type Command, UsageError } from "../command.ts";
import { connect } from "../connection.ts";
import { clean, countFiles } from "../format.ts";
import { inBatches } from "../in-batches.ts";
import { readChoice, readCount } from "../option-values.ts";

const keys = { name: "keys", description: "storage keys or ids of files", isRepeated: true };

export const filesLink: Command = {
  name: "files link",
  summary: "Create temporary links to files, including private ones",
  positionals: [keys],
  options: {
    "expires-in": {
      value: "SECONDS",
      description: "lifetime, at most 604800 (default: 3600)",
    },
    download: { description: "make browsers download the file" },
    "max-uses": {
      value: "NUMBER",
      description: "number of uses per link (default: unlimited)",
    },
  },
  async run(call) {
    const expiresIn = readCount("--expires-in", call.options.find("expires-in"));
    const maxUses = readCount("--max-uses", call.options.find("max-uses"));
    const upstow = await connect(call);
    const result = await inBatches(call.positionals, (batch) =>
      upstow.links.create({
        keys: batch,
        ...(expiresIn === undefined ? {} : { expiresIn }),
        ...(maxUses === undefined ? {} : { maxUses }),
        ...(call.options.has("download") ? { download: true } : {}),
      }),
    );
    const links = result.flatMap((answer) => answer.links);
    const failures = result.flatMap((answer) => answer.failures);
    for (const { key, message } of failures) call.note(`✖ ${clean(key)}  ${message}`);
    return {
      json: { links, failures },
      text: links.map(({ url }) => url).join("\n"),
      ok: failures.length === 0,
    };
  },
};

export const filesRevoke: Command = {
  name: "files revoke",
  summary: "Revoke links immediately: of files, of an audience, or all",
  positionals: [{ ...keys, isOptional: true }],
  options: {
    audience: { value: "NAME", description: "revoke all links and grants of this audience" },
    all: { description: "revoke all links and grants of the key's environment" },
  },
  async run(call) {
    const audience = call.options.find("audience");
    const isAll = call.options.has("all");
    const ways = [call.positionals.length > 0, audience !== undefined, isAll].filter(Boolean).length;
    if (ways !== 1) throw new UsageError("Pass keys or ids of files, --audience or --all.");
    const upstow = await connect(call);
    if (audience !== undefined) {
      const json = await upstow.links.revoke({ audience });
      return { json, text: `Revoked all links and grants of the audience ${clean(audience)}.` };
    }
    if (isAll)
      return { json: await upstow.links.revoke({ all: true }), text: "Revoked all links and grants." };
    const result = await inBatches(call.positionals, (batch) => upstow.links.revoke({ keys: batch }));
    const revoked = result.reduce((sum, answer) => sum + answer.revoked, 0);
    const failures = result.flatMap((answer) => answer.failures);
    for (const { key, message } of failures) call.note(`✖ ${clean(key)}  ${message}`);
    return {
      json: { revoked, failures },
      text: `Revoked the links of ${countFiles(revoked)}.`,
      ok: failures.length === 0,
    };
  },
};

export const filesAccess: Command = {
  name: "files access",
  summary: "Make files public or private",
  positionals: [{ name: "access", description: "public or private" }, keys],
  options: {},
  async run(call) {
    const [wanted = "", ...named] = call.positionals;
    const access = readChoice<Access>("access", wanted, ["public", "private"]);
    if (named.length === 0) throw new UsageError("Pass keys or ids of files.");
    const upstow = await connect(call);
    const files = [];
    for (const key of named) files.push(await upstow.files.update(key, { access }));
    return { json: { files }, text: files.map(({ key }) => `${clean(key)} is ${access}.`).join("\n") };
  },
};
