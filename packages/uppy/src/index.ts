export { Upstow, Upstow as default, type UpstowOptions } from "./plugin.ts";
