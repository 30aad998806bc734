// `vite build` bundles the pages into dist/. Every asset's name holds a hash of its content, so browsers may keep it
// for ever. `npm run dev` serves the pages as they are edited, in front of a service that runs already.
import { defineConfig } from "vite";

// An object on purpose: for a mere address Vite changes the Host header, and the service would see another's page.
const service = { target: process.env.UPSTOW_PUBLIC_URL ?? "http://localhost:4000" };

export default defineConfig(({ command }) => {
  // Whatever the shell says: Vite would bundle React's development build where NODE_ENV asks for it.
  if (command === "build") process.env.NODE_ENV = "production";
  return {
    base: "/dashboard/",
    build: {
      target: ["es2022", "chrome123", "firefox121", "safari17.5"],
      // All of these browsers preload modules by themselves.
      modulePreload: { polyfill: false },
      // The policy takes scripts and styles from files only.
      assetsInlineLimit: 0,
      // The service reads from it which scripts a page needs.
      manifest: "manifest.json",
    },
    server: { proxy: { "/dashboard/api": service, "/assets": service } },
  };
});
