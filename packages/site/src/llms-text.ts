import type { DocsLibrary } from "@upstow/mcp/docs";

/** The map of the documentation for language models. */
export function renderLlmsText(library: DocsLibrary, publicUrl: string): string {
  const groups = library.navigation.map(({ title, pages }) => {
    const lines = pages.map(
      (page) => `- [${page.title}](${publicUrl}/docs/${page.path}.md): ${page.summary}`,
    );
    return `## ${title}\n\n${lines.join("\n")}`;
  });
  return `# Upstow

> A file upload service: presigned uploads, resumable multipart, signed webhooks, image variants.

${groups.join("\n\n")}

## Machine-readable

- [OpenAPI 3.1](${publicUrl}/api/v1/openapi.json)
- [Tool protocol](${publicUrl}/api/v1/mcp)
`;
}
