import type { NextConfig } from "next";

const config: NextConfig = {
  images: { loader: "custom", loaderFile: "./image-loader.ts" },
  // Without it Next looks for the root of a project above this folder, by lockfiles.
  turbopack: { root: import.meta.dirname },
};

export default config;
