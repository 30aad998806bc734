import type { CatalogueEntry } from "./entry.ts";
import { prop, sharedProps, simpleUsage, slots } from "./props.ts";

const children = prop("children", "ReactNode", "What the button says while nothing happens.");

export const button: CatalogueEntry[] = [
  {
    name: "ButtonMorph",
    slug: "button-morph",
    category: "button",
    description:
      "One control for everything: it chooses, fills up, cancels, retries, ticks, and is a button again.",
    keywords: ["morph", "stateful", "animated", "pill", "states", "loading button"],
    props: [
      ...sharedProps(),
      children,
      prop("resetAfterMs", "number", "How long it stays a tick.", { default: "2500" }),
      slots("root", "button", "error"),
    ],
    usage: simpleUsage("ButtonMorph"),
  },
  {
    name: "ButtonSplit",
    slug: "button-split",
    category: "button",
    description: "A button with a menu of other ways: a whole folder, the camera, the clipboard.",
    keywords: ["split", "menu", "dropdown", "folder", "camera", "clipboard"],
    props: [
      ...sharedProps(),
      children,
      prop(
        "menu",
        "{ more?: string; folder?: string; camera?: string; clipboard?: string }",
        "The words of the menu.",
      ),
      slots("root", "button", "menu", "item"),
    ],
    usage: simpleUsage("ButtonSplit"),
  },
  {
    name: "ButtonUndo",
    slug: "button-undo",
    category: "button",
    description: "Waits a moment before it sends anything, so that the wrong file can be taken back.",
    keywords: ["undo", "delay", "grace", "gmail", "countdown", "mistake"],
    props: [
      ...sharedProps("autoStart"),
      children,
      prop("delayMs", "number", "How long people may change their minds.", { default: "5000" }),
      prop("undoText", "string", "What the button says that takes it back.", { default: '"Undo"' }),
      prop("waitingText", "string", "Shown while it waits.", { default: '"Sending soon"' }),
      slots("root", "button", "undo"),
    ],
    usage: simpleUsage("ButtonUndo"),
  },
];
