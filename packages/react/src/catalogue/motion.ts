import type { CatalogueEntry } from "./entry.ts";
import { prop, sharedProps, simpleUsage, slots } from "./props.ts";

export const motion: CatalogueEntry[] = [
  {
    name: "MotionStack",
    slug: "motion-stack",
    category: "motion",
    description: "Files as a stack of cards: the one being uploaded is on top, and finished ones fly off.",
    keywords: ["cards", "pile", "stack", "deck", "tinder", "animated"],
    props: [...sharedProps(), slots("root", "card", "button")],
    usage: simpleUsage("MotionStack"),
  },
  {
    name: "MotionConveyor",
    slug: "motion-conveyor",
    category: "motion",
    description: "Files move along a conveyor belt from device to storage, according to their progress.",
    keywords: ["conveyor", "belt", "factory", "parcel", "travel", "animated"],
    props: [...sharedProps(), slots("root", "belt", "parcel", "button")],
    usage: simpleUsage("MotionConveyor"),
  },
  {
    name: "MotionMagnet",
    slug: "motion-magnet",
    category: "motion",
    description: "A drop target that tilts towards files dragged over it.",
    keywords: ["magnet", "pointer", "follow", "hover", "spring", "interactive"],
    props: [
      ...sharedProps(),
      prop("title", "ReactNode", "The line above the button."),
      slots("root", "area", "orb", "button", "list", "item"),
    ],
    usage: simpleUsage("MotionMagnet"),
  },
  {
    name: "MotionCelebrate",
    slug: "motion-celebrate",
    category: "motion",
    description:
      "Shows confetti when the last file is uploaded; only a message if reduced motion is preferred.",
    keywords: ["confetti", "celebrate", "success", "party", "delight"],
    props: [
      ...sharedProps(),
      prop("children", "ReactNode", "The button's label."),
      prop("doneText", "ReactNode", "Shown when all files are uploaded.", { default: '"All done!"' }),
      slots("root", "button", "done"),
    ],
    usage: simpleUsage("MotionCelebrate"),
  },
];
