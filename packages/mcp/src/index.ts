export type { ApiDocument } from "./docs/reference/api-document.ts";
export { createHostedEndpoint, type HostedEndpoint } from "./hosted.ts";
export { openSources } from "./sources.ts";
export { hostedTools } from "./tools.ts";
