import type { CatalogueEntry } from "./entry.ts";
import { prop, sharedProps, simpleUsage, slots } from "./props.ts";

export const motion: CatalogueEntry[] = [
  {
    name: "MotionStack",
    slug: "motion-stack",
    category: "motion",
    description: "Files as a pile of cards: the one at work lies on top, and finished ones fly off.",
    keywords: ["cards", "pile", "stack", "deck", "tinder", "animated"],
    props: [...sharedProps(), slots("root", "card", "button")],
    usage: simpleUsage("MotionStack"),
  },
  {
    name: "MotionConveyor",
    slug: "motion-conveyor",
    category: "motion",
    description: "Files ride a belt from the device to the store, each as far as it has come.",
    keywords: ["conveyor", "belt", "factory", "parcel", "travel", "animated"],
    props: [...sharedProps(), slots("root", "belt", "parcel", "button")],
    usage: simpleUsage("MotionConveyor"),
  },
  {
    name: "MotionMagnet",
    slug: "motion-magnet",
    category: "motion",
    description: "A target that leans towards what is dragged over it.",
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
    description: "Throws confetti when the last file is there; only says so where motion is unwelcome.",
    keywords: ["confetti", "celebrate", "success", "party", "delight"],
    props: [
      ...sharedProps(),
      prop("children", "ReactNode", "What the button says."),
      prop("doneText", "ReactNode", "Said when everything is there.", { default: '"All there!"' }),
      slots("root", "button", "done"),
    ],
    usage: simpleUsage("MotionCelebrate"),
  },
];
