import type { NextConfig } from "next";

// Without it Next looks for the root of a project above this folder, by lockfiles.
const config: NextConfig = { turbopack: { root: import.meta.dirname } };

export default config;
