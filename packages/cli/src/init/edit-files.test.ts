import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { addPackages, addVariables, ignoreFile, wrapChildren } from "./edit-files.ts";

describe("editing a project's files", () => {
  it("adds packages in order and keeps how the file is written", () => {
    const before = '{\n\t"name": "shop",\n\t"dependencies": {\n\t\t"next": "16"\n\t}\n}';
    const after = addPackages(before, ["@upstow/sdk"], "^1.0.0");
    assert.equal(
      after,
      '{\n\t"name": "shop",\n\t"dependencies": {\n\t\t"@upstow/sdk": "^1.0.0",\n\t\t"next": "16"\n\t}\n}',
    );
    assert.equal(addPackages(after, ["@upstow/sdk"], "^2.0.0"), after);
  });

  it("sets variables that are not set, and no others", () => {
    assert.equal(addVariables("", { A: "1" }), "A=1\n");
    assert.equal(addVariables("export A = 5\nAB=2", { A: "1", B: "3" }), "export A = 5\nAB=2\nB=3\n");
  });

  it("keeps the key out of the repository", () => {
    assert.equal(ignoreFile("node_modules", ".env"), "node_modules\n.env\n");
    for (const line of [".env*", "/.env.local", "*.local", ".env*.local"]) {
      assert.equal(ignoreFile(`${line}\n`, ".env.local"), `${line}\n`);
    }
    assert.equal(ignoreFile(".env.local\n", ".env"), ".env.local\n.env\n");
  });

  it("wraps a layout's children where it is clear which they are", () => {
    const layout = (inner: string) =>
      `import "./globals.css";\nimport type { A } from "b";\n\nexport default function L({ children }: { children: A }) {\n  return <body>${inner}</body>;\n}\n`;
    assert.equal(
      wrapChildren(layout("\n    {children}\n  ")),
      layout("\n    <UploadProvider>{children}</UploadProvider>\n  ").replace(
        '"b";\n',
        '"b";\nimport { UploadProvider } from "./upload-provider";\n',
      ),
    );
    assert.match(wrapChildren(layout("{children}")) ?? "", /<body><UploadProvider>\{children\}</);
    assert.equal(wrapChildren(layout("{children}{children}")), null);
    assert.equal(wrapChildren(layout("<p>{children}</p><p>{children}</p>")), null);
    assert.equal(wrapChildren(layout("<b />")), null);
  });
});
