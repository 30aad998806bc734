import type { DocsLibrary } from "@upstow/mcp/docs";
import type { NavigationGroup } from "./docs-pages.ts";

/** The map of the documentation for language models. */
export function renderLlmsText(
  library: DocsLibrary,
  navigation: NavigationGroup[],
  publicUrl: string,
): string {
  const groups = navigation.map(({ title, pages }) => {
    const lines = pages
      .flatMap((path) => library.find(path) ?? [])
      .map((page) => `- [${page.title}](${publicUrl}/docs/${page.path}.md): ${page.summary}`);
    return `## ${title}\n\n${lines.join("\n")}`;
  });
  return `# Upstow\n\n> A file upload service: presigned uploads, resumable multipart, signed webhooks, image variants.\n\n${groups.join("\n\n")}\n\n## Machine-readable\n\n- [OpenAPI 3.1](${publicUrl}/api/v1/openapi.json)\n- [Tool protocol](${publicUrl}/api/v1/mcp)\n`;
}
