import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { CATEGORIES, catalogue } from "../src/catalogue/index.ts";

const folder = fileURLToPath(new URL("../", import.meta.url));
const index = readFileSync(join(folder, "src/index.ts"), "utf8");

describe("catalogue", () => {
  it("has an entry for every exported component, and no other", () => {
    const exported = [...index.matchAll(/(\w+), type \1Props \} from "\.\/components\/([\w-]+)\.tsx"/g)];
    const files = readdirSync(join(folder, "src/components")).map((name) => name.replace(/\.tsx$/, ""));
    assert.deepEqual(
      catalogue.map(({ name, slug }) => `${name} ${slug}`).sort(),
      exported.map(([, name, slug]) => `${name} ${slug}`).sort(),
    );
    assert.deepEqual(catalogue.map(({ slug }) => slug).sort(), files.sort());
    assert.ok(catalogue.length >= 24);
    for (const category of CATEGORIES) assert.ok(catalogue.some((entry) => entry.category === category));
  });

  it("has a style sheet for every component, in the one sheet for all", () => {
    const all = readFileSync(join(folder, "src/styles/index.css"), "utf8");
    for (const { slug } of catalogue) {
      assert.ok(existsSync(join(folder, `src/styles/${slug}.css`)), slug);
      assert.ok(all.includes(`@import "./${slug}.css";`), slug);
    }
  });

  it("has examples that compile, and props that are the components' own", async () => {
    // Compilers do not check what lies in node_modules.
    await mkdir(join(folder, "dist"), { recursive: true });
    const place = await mkdtemp(join(folder, "dist/catalogue-"));
    try {
      await Promise.all(catalogue.map(({ slug, usage }) => writeFile(join(place, `${slug}.tsx`), usage)));
      await writeFile(join(place, "props.ts"), propChecks());
      await writeFile(join(place, "router.ts"), routerTypes);
      await writeFile(join(place, "typed.tsx"), typedUses);
      const names = [...catalogue.map(({ slug }) => `${slug}.tsx`), "props.ts", "typed.tsx"];
      await compile(place, names);
      // By itself: what is registered counts for a whole program.
      await writeFile(join(place, "registered.tsx"), registeredUses);
      await compile(place, ["registered.tsx"]);
    } finally {
      await rm(place, { recursive: true });
    }
  });
});

async function compile(place: string, names: string[]): Promise<void> {
  const config = {
    extends: "../../tsconfig.json",
    files: [...names, "../../harness/virtual.d.ts"],
    include: [],
  };
  await writeFile(join(place, "tsconfig.json"), JSON.stringify(config));
  const tsc = fileURLToPath(new URL("../../../node_modules/.bin/tsc", import.meta.url));
  const { stdout, status } = spawnSync(tsc, ["-p", place, "--singleThreaded"], { encoding: "utf8" });
  assert.equal(stdout, "");
  assert.equal(status, 0);
}

/** Compiles only if each entry lists exactly what its component takes. */
function propChecks(): string {
  const lines = catalogue.map(({ name, props }) => {
    const names = props.map((prop) => JSON.stringify(prop.name)).join(" | ");
    const required = props.filter(({ isRequired }) => isRequired).map((prop) => JSON.stringify(prop.name));
    return `export const of${name}: Same<keyof lib.${name}Props, ${names}> = true;
export const neededBy${name}: Same<Needed<lib.${name}Props>, ${required.join(" | ") || "never"}> = true;`;
  });
  return `import type * as lib from "@upstow/react";
type Same<A, B> = [A] extends [B] ? ([B] extends [A] ? true : { missing: Exclude<A, B>; extra: Exclude<B, A> }) : { missing: Exclude<A, B>; extra: Exclude<B, A> };
type Needed<Props> = { [Name in keyof Props]-?: {} extends Pick<Props, Name> ? never : Name }[keyof Props];
${lines.join("\n")}
`;
}

const routerTypes = `import { createFileRouter, type FileRouter } from "@upstow/sdk/server";
const route = createFileRouter();
const schema = {
  "~standard": {
    version: 1 as const,
    vendor: "test",
    validate: (value: unknown) => ({ value: value as { album: number } }),
    types: undefined as { input: { album: number }; output: { album: number } } | undefined,
  },
};
const router = {
  avatar: route({ onUploadComplete: ({ file }) => ({ url: file.url, at: new Date() }) }),
  album: route({ input: schema, onUploadComplete: () => 1 }),
} satisfies FileRouter;
export type Router = typeof router;
`;

const typedUses = `import { generateReactHelpers, UploadDropzone } from "@upstow/react";
import type { Router } from "./router.ts";

const { useUpload, uploadFiles, typed } = generateReactHelpers<Router>();
const Dropzone = typed(UploadDropzone);
${usesOf("Dropzone")}
void uploadFiles("album", [], { input: { album: 1 } });
`;

/** A copy of a component's source has to compile in an application that has registered its router, too. */
const registeredUses = `import { AvatarUpload, UploadButton, UploadDropzone, useGivenUpload, useUpload, useUploader } from "@upstow/react";
import type { UploadDropzoneProps } from "@upstow/react";
import type { Router } from "./router.ts";

declare module "@upstow/react" {
  interface Register {
    router: Router;
  }
}
${usesOf("UploadDropzone")}
export function Copied({ title, hasList = true, ...props }: UploadDropzoneProps) {
  return <>{useGivenUpload(props, { maxFileCount: 1 }).hint}{title}{hasList}</>;
}

export function Others() {
  const upload = useUpload({ route: "album", input: { album: 1 } });
  const uploader = useUploader();
  // @ts-expect-error there is no such route
  uploader.add("nothing", []);
  return (
    <>
      <UploadButton upload={upload} hasDetails={false} />
      <AvatarUpload route="avatar" onUploaded={({ file }) => file.result.url.length} />
      {/* @ts-expect-error neither a route nor a list */}
      <UploadButton />
      {/* @ts-expect-error there is no such route */}
      <AvatarUpload route="nothing" />
      {/* @ts-expect-error it begins by itself */}
      <AvatarUpload route="avatar" autoStart />
    </>
  );
}
`;

function usesOf(dropzone: string): string {
  return `export function Uses() {
  const avatar = useUpload({ route: "avatar" });
  const at: string | undefined = avatar.items[0]?.uploaded?.result.at;
  // @ts-expect-error there is no such route
  useUpload({ route: "nothing" });
  // @ts-expect-error this route asks for an input
  useUpload({ route: "album" });
  // @ts-expect-error a day is no album
  useUpload({ route: "album", input: { day: 1 } });
  return (
    <>
      {at}
      <${dropzone} route="album" input={{ album: 1 }} onUploaded={({ file }) => file.result.toFixed()} title="Album" />
      {/* @ts-expect-error the result is a number */}
      <${dropzone} route="album" input={{ album: 1 }} onUploaded={({ file }) => file.result.url} />
      {/* @ts-expect-error this route asks for an input */}
      <${dropzone} route="album" />
      {/* @ts-expect-error there is no such route */}
      <${dropzone} route="nothing" />
    </>
  );
}`;
}
