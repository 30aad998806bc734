import type { CatalogueEntry } from "./entry.ts";
import { prop, sharedProps, simpleUsage, slots } from "./props.ts";

export const progress: CatalogueEntry[] = [
  {
    name: "ProgressBar",
    slug: "progress-bar",
    category: "progress",
    description: "One bar for everything, with bytes, speed and the time that is left, and a pause for all.",
    keywords: ["bar", "linear", "speed", "eta", "pause", "percent"],
    props: [...sharedProps(), slots("root", "bar", "numbers", "button")],
    usage: simpleUsage("ProgressBar"),
  },
  {
    name: "ProgressRadial",
    slug: "progress-radial",
    category: "progress",
    description: "A ring that closes; the button in its middle chooses files and says how far they are.",
    keywords: ["ring", "circle", "circular", "radial", "donut"],
    props: [...sharedProps(), slots("root", "ring", "button", "details")],
    usage: simpleUsage("ProgressRadial"),
  },
  {
    name: "ProgressStacked",
    slug: "progress-stacked",
    category: "progress",
    description: "One bar in which every file has a share as large as its size, each filling by itself.",
    keywords: ["stacked", "segments", "proportional", "multiple", "legend"],
    props: [...sharedProps(), slots("root", "bar", "segment", "legend", "button")],
    usage: simpleUsage("ProgressStacked"),
  },
  {
    name: "ProgressLiquid",
    slug: "progress-liquid",
    category: "progress",
    description: "A tank that fills with waves; the number changes colour exactly at the water line.",
    keywords: ["liquid", "water", "wave", "fill", "fluid"],
    props: [...sharedProps(), slots("root", "tank", "details")],
    usage: simpleUsage("ProgressLiquid"),
  },
  {
    name: "ProgressOrbit",
    slug: "progress-orbit",
    category: "progress",
    description: "Every file is a moon that goes once around the planet while it uploads.",
    keywords: ["orbit", "planet", "space", "satellite", "playful"],
    props: [
      ...sharedProps(),
      prop("maxOrbits", "number", "How many files have their own orbit.", { default: "5" }),
      slots("root", "space", "moon", "button", "details"),
    ],
    usage: simpleUsage("ProgressOrbit"),
  },
];
