/**
 * Importing names from "node:http" makes Node evaluate all its exports, one of which loads a whole WebSocket client:
 * 10% of the startup time. Loaded this way, it is not.
 */
export const http = process.getBuiltinModule("node:http");
