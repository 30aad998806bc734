import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  addPackages,
  addProxy,
  addRoute,
  addScript,
  addVariables,
  allowPlainHttp,
  fillPlaceholder,
  ignoreFile,
  placeholderKey,
  wrapInProvider,
} from "./edit-files.ts";

describe("editing a project's files", () => {
  it("adds packages in order and keeps how the file is written", () => {
    const before = '{\n\t"name": "shop",\n\t"dependencies": {\n\t\t"next": "16"\n\t}\n}';
    const after = addPackages(before, { "@upstow/sdk": "^1.0.0" });
    assert.equal(
      after,
      '{\n\t"name": "shop",\n\t"dependencies": {\n\t\t"@upstow/sdk": "^1.0.0",\n\t\t"next": "16"\n\t}\n}',
    );
    assert.equal(addPackages(after, { "@upstow/sdk": "^2.0.0" }), after);
  });

  it("adds a script where its name is free", () => {
    const after = addScript('{\n  "name": "shop"\n}\n', "server", "node server.js");
    assert.equal(after, '{\n  "name": "shop",\n  "scripts": {\n    "server": "node server.js"\n  }\n}\n');
    assert.equal(addScript(after, "server", "other"), after);
  });

  it("sets variables that are not set, and no others", () => {
    assert.equal(addVariables("", { A: "1" }), "A=1\n");
    assert.equal(addVariables("export A = 5\nAB=2", { A: "1", B: "3" }), "export A = 5\nAB=2\nB=3\n");
  });

  it("puts a key and its service where the place was kept, and nowhere else", () => {
    const connection = { url: "https://files.example.com", apiKey: "svc_live_$1" };
    assert.equal(
      fillPlaceholder(
        "A=1\nUPSTOW_URL=http://localhost:4000\r\nexport UPSTOW_API_KEY='svc_test_…'\nB=2\n",
        connection,
      ),
      "A=1\nUPSTOW_URL=https://files.example.com\r\nexport UPSTOW_API_KEY=svc_live_$1\nB=2\n",
    );
    for (const text of ["", "UPSTOW_URL=http://x\n", "UPSTOW_API_KEY=svc_test_abc # svc_test_…\n"]) {
      assert.equal(fillPlaceholder(text, connection), text);
    }
    const kept = "UPSTOW_URL=http://x\nUPSTOW_API_KEY=svc_test_…\n";
    assert.equal(fillPlaceholder(kept, { ...connection, apiKey: placeholderKey }), kept);
  });

  it("keeps the key out of the repository", () => {
    assert.equal(ignoreFile("node_modules", ".env"), "node_modules\n.env\n");
    for (const line of [".env*", "/.env.local", "*.local", ".env*.local"]) {
      assert.equal(ignoreFile(`${line}\n`, ".env.local"), `${line}\n`);
    }
    assert.equal(ignoreFile(".env.local\n", ".env"), ".env.local\n.env\n");
  });

  it("tells Vite where uploads go, unless its configuration says more than it understands", () => {
    const config = "export default defineConfig({\n  plugins: [react()],\n})\n";
    const after = addProxy(config, "/api", "http://localhost:3000") ?? "";
    assert.match(
      after,
      /defineConfig\(\{\n {2}server: \{ proxy: \{ "\/api": "http:\/\/localhost:3000" \} \},\n {2}plugins/,
    );
    assert.equal(addProxy(after, "/api", "http://localhost:3000"), after);
    assert.equal(
      addProxy("export default defineConfig({\n  server: { port: 1 },\n})", "/api", "http://x"),
      null,
    );
    assert.equal(addProxy("export default defineConfig(() => ({}))", "/api", "http://x"), null);
  });

  it("lets Yarn fetch from a host without HTTPS, once, unless its list is on one line", () => {
    const added = allowPlainHttp("nodeLinker: node-modules", "localhost") ?? "";
    assert.equal(added, 'nodeLinker: node-modules\nunsafeHttpWhitelist:\n  - "localhost"\n');
    assert.equal(allowPlainHttp(added, "localhost"), added);
    assert.match(allowPlainHttp(added, "127.0.0.1") ?? "", /:\n {2}- "127\.0\.0\.1"\n {2}- "localhost"\n$/);
    assert.equal(allowPlainHttp('unsafeHttpWhitelist: ["a"]\n', "localhost"), null);
  });

  it("adds a path to React Router's list, unless it is no list or files are found by their names", () => {
    const add = (text: string) => addRoute(text, "api/upload", "routes/api.upload.ts");
    const routes = (names: string, list: string) =>
      `import { ${names} } from "@react-router/dev/routes";\n\nexport default ${list} satisfies RouteConfig;\n`;
    const before = routes("type RouteConfig, index", '[index("routes/home.tsx")]');
    const after = routes(
      "route, type RouteConfig, index",
      '[route("api/upload", "routes/api.upload.ts"), index("routes/home.tsx")]',
    );
    assert.equal(add(before), after);
    assert.equal(add(after), after);
    assert.equal(
      add(routes("route", '[\n  route("a", "b.tsx"),\n]')),
      routes("route", '[\n  route("api/upload", "routes/api.upload.ts"),\n  route("a", "b.tsx"),\n]'),
    );
    const byName = 'import { flatRoutes } from "@react-router/fs-routes";\nexport default flatRoutes();\n';
    assert.equal(add(byName), byName);
    assert.equal(add(routes("route", "list")), null);
  });

  it("wraps an application where it is clear which it is", () => {
    const main = (inner: string) => `import App from './App.tsx'\n\ncreateRoot(root).render(${inner})\n`;
    const wrapped = main("<UploadProvider><App /></UploadProvider>");
    assert.equal(
      wrapInProvider(main("<App />"), "<App />"),
      wrapped.replace("\n\n", '\nimport { UploadProvider } from "./upload-provider";\n\n'),
    );
    assert.equal(wrapInProvider(main("<><App /><App /></>"), "<App />"), null);
    assert.match(
      wrapInProvider("export default () => <Outlet />;\n", "<Outlet />") ?? "",
      /=> <UploadProvider><Outlet \/><\/UploadProvider>;/,
    );
  });

  it("wraps a layout's children where it is clear which they are", () => {
    const layout = (inner: string) =>
      `import "./globals.css";\nimport type { A } from "b";\n\nexport default function L({ children }: { children: A }) {\n  return <body>${inner}</body>;\n}\n`;
    assert.equal(
      wrapInProvider(layout("\n    {children}\n  "), "{children}"),
      layout("\n    <UploadProvider>{children}</UploadProvider>\n  ").replace(
        '"b";\n',
        '"b";\nimport { UploadProvider } from "./upload-provider";\n',
      ),
    );
    assert.match(
      wrapInProvider(layout("{children}"), "{children}") ?? "",
      /<body><UploadProvider>\{children\}</,
    );
    assert.equal(wrapInProvider(layout("{children}{children}"), "{children}"), null);
    assert.equal(wrapInProvider(layout("<p>{children}</p><p>{children}</p>"), "{children}"), null);
    assert.equal(wrapInProvider(layout("<b />"), "{children}"), null);
  });
});
