const types =
  "jpg jpeg:image/jpeg png:image/png gif:image/gif webp:image/webp avif:image/avif svg:image/svg+xml " +
  "heic:image/heic pdf:application/pdf txt log:text/plain md:text/markdown csv:text/csv html htm:text/html " +
  "css:text/css js mjs:text/javascript json:application/json xml:application/xml zip:application/zip " +
  "gz:application/gzip tar:application/x-tar mp4:video/mp4 mov:video/quicktime webm:video/webm " +
  "mp3:audio/mpeg wav:audio/wav m4a:audio/mp4 ogg:audio/ogg woff2:font/woff2 wasm:application/wasm " +
  "docx:application/vnd.openxmlformats-officedocument.wordprocessingml.document " +
  "xlsx:application/vnd.openxmlformats-officedocument.spreadsheetml.sheet";

/** For files named by a path, which say nothing else of themselves. */
export function guessContentType(fileName: string): string {
  const extension = /\.(\w+)$/.exec(fileName)?.[1]?.toLowerCase();
  const [, found] = new RegExp(`(?:^| )${extension}(?: \\w+)*:(\\S+)`).exec(types) ?? [];
  return found ?? "application/octet-stream";
}
