/** Where `vite build` leaves the pages: index.html and, under assets/, files whose names change with their content. */
export const dashboardFolder: URL = new URL("../dist/", import.meta.url);

export * from "./first-calls.ts";
