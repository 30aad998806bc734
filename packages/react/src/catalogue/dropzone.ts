import type { CatalogueEntry } from "./entry.ts";
import { prop, sharedProps, simpleUsage, slots } from "./props.ts";

export const dropzone: CatalogueEntry[] = [
  {
    name: "DropzoneMinimal",
    slug: "dropzone-minimal",
    category: "dropzone",
    description: "A single line that becomes a drop target when files are dragged over the page.",
    keywords: ["minimal", "inline", "subtle", "github", "compact"],
    props: [...sharedProps(), slots("root", "area", "button", "list", "item")],
    usage: simpleUsage("DropzoneMinimal"),
  },
  {
    name: "DropzoneGlass",
    slug: "dropzone-glass",
    category: "dropzone",
    description: "Frosted glass over a colourful background, or over the latest added image, blurred.",
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
    description: "Files as lines in a shell that accepts commands such as cancel 2; for developer tools.",
    keywords: ["terminal", "console", "cli", "retro", "hacker", "monospace", "commands"],
    props: [
      ...sharedProps(),
      prop("prompt", "string", "The text before the cursor.", { default: '"upload $"' }),
      slots("root", "line", "input"),
    ],
    usage: simpleUsage("DropzoneTerminal"),
  },
  {
    name: "DropzoneBento",
    slug: "dropzone-bento",
    category: "dropzone",
    description: "A grid of tiles: drop files, select by kind of file, and see total and files.",
    keywords: ["bento", "tiles", "grid", "dashboard", "apple", "kinds"],
    props: [
      ...sharedProps(),
      prop("kinds", "BentoKind[]", "One tile each; a tile accepts only its kind of file.", {
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
      "Makes the whole page a drop target: an overlay appears while files are dragged, and pasting works anywhere.",
    keywords: ["fullscreen", "page", "overlay", "anywhere", "window", "paste"],
    props: [
      ...sharedProps(),
      prop("children", "ReactNode", "The page or part of it."),
      slots("root", "overlay", "list", "item"),
    ],
    usage: simpleUsage("DropzonePage", "", "Drop files anywhere on this page."),
  },
];
