import type { CatalogueEntry } from "./entry.ts";
import { prop, sharedProps, simpleUsage, slots } from "./props.ts";

const children = prop("children", "ReactNode", "The button's label when idle.");

export const button: CatalogueEntry[] = [
  {
    name: "ButtonMorph",
    slug: "button-morph",
    category: "button",
    description:
      "One control for the whole upload: it opens the file picker, shows progress, cancels, retries, and confirms.",
    keywords: ["morph", "stateful", "animated", "pill", "states", "loading button"],
    props: [
      ...sharedProps(),
      children,
      prop("resetAfterMs", "number", "How long the check mark is shown.", { default: "2500" }),
      slots("root", "button", "error"),
    ],
    usage: simpleUsage("ButtonMorph"),
  },
  {
    name: "ButtonSplit",
    slug: "button-split",
    category: "button",
    description: "A button with a menu of other sources: a folder, the camera, the clipboard.",
    keywords: ["split", "menu", "dropdown", "folder", "camera", "clipboard"],
    props: [
      ...sharedProps(),
      children,
      prop(
        "menu",
        "{ more?: string; folder?: string; camera?: string; clipboard?: string }",
        "The menu's labels.",
      ),
      slots("root", "button", "menu", "item"),
    ],
    usage: simpleUsage("ButtonSplit"),
  },
  {
    name: "ButtonUndo",
    slug: "button-undo",
    category: "button",
    description: "Waits briefly before sending, so that a wrong file can be undone.",
    keywords: ["undo", "delay", "grace", "gmail", "countdown", "mistake"],
    props: [
      ...sharedProps("autoStart"),
      children,
      prop("delayMs", "number", "How long uploads can be undone.", { default: "5000" }),
      prop("undoText", "string", "The undo button's label.", { default: '"Undo"' }),
      prop("waitingText", "string", "Shown while waiting.", { default: '"Sending soon"' }),
      slots("root", "button", "undo"),
    ],
    usage: simpleUsage("ButtonUndo"),
  },
];
