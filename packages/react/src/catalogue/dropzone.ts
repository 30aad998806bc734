import type { CatalogueEntry } from "./entry.ts";
import { prop, sharedProps, simpleUsage, slots } from "./props.ts";

export const dropzone: CatalogueEntry[] = [
  {
    name: "DropzoneMinimal",
    slug: "dropzone-minimal",
    category: "dropzone",
    description: "One quiet line that becomes a target as soon as someone drags files over the page.",
    keywords: ["minimal", "inline", "subtle", "github", "compact"],
    props: [...sharedProps(), slots("root", "area", "button", "list", "item")],
    usage: simpleUsage("DropzoneMinimal"),
  },
  {
    name: "DropzoneGlass",
    slug: "dropzone-glass",
    category: "dropzone",
    description: "Frosted glass over a colourful ground; behind it, out of focus, the picture added last.",
    keywords: ["glass", "glassmorphism", "blur", "frosted", "gradient", "ios"],
    props: [
      ...sharedProps(),
      prop("title", "ReactNode", "The line above the button."),
      slots("root", "panel", "title", "button", "list", "item"),
    ],
    usage: simpleUsage("DropzoneGlass"),
  },
  {
    name: "DropzoneTerminal",
    slug: "dropzone-terminal",
    category: "dropzone",
    description:
      "Files as lines of a shell that takes commands such as cancel 2; for tools made for developers.",
    keywords: ["terminal", "console", "cli", "retro", "hacker", "monospace", "commands"],
    props: [
      ...sharedProps(),
      prop("prompt", "string", "What stands before the cursor.", { default: '"upload $"' }),
      slots("root", "line", "input"),
    ],
    usage: simpleUsage("DropzoneTerminal"),
  },
  {
    name: "DropzoneBento",
    slug: "dropzone-bento",
    category: "dropzone",
    description: "A board of tiles: drop here, choose by kind of file, see the total, see the files.",
    keywords: ["bento", "tiles", "grid", "dashboard", "apple", "kinds"],
    props: [
      ...sharedProps(),
      prop("kinds", "BentoKind[]", "A tile for each; every tile asks for its kind of file only.", {
        default: "photos, videos, documents",
      }),
      slots("root", "main", "tile", "total", "list", "item"),
    ],
    usage: simpleUsage("DropzoneBento"),
  },
  {
    name: "DropzonePage",
    slug: "dropzone-page",
    category: "dropzone",
    description:
      "Makes the whole page a target: a curtain falls while files are dragged, and pasting works anywhere.",
    keywords: ["fullscreen", "page", "overlay", "anywhere", "window", "paste"],
    props: [
      ...sharedProps(),
      prop("children", "ReactNode", "The page, or a part of it."),
      slots("root", "overlay", "list", "item"),
    ],
    usage: simpleUsage("DropzonePage", "", "Drop files anywhere on this page."),
  },
];
