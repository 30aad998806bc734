import type { CatalogueEntry } from "./entry.ts";
import { prop, sharedProps, simpleUsage, slots } from "./props.ts";

export const progress: CatalogueEntry[] = [
  {
    name: "ProgressBar",
    slug: "progress-bar",
    category: "progress",
    description: "One bar for all files, with bytes, speed, remaining time, and a pause button.",
    keywords: ["bar", "linear", "speed", "eta", "pause", "percent"],
    props: [...sharedProps(), slots("root", "bar", "numbers", "button")],
    usage: simpleUsage("ProgressBar"),
  },
  {
    name: "ProgressRadial",
    slug: "progress-radial",
    category: "progress",
    description: "A ring that fills; the button in its centre selects files and shows the progress.",
    keywords: ["ring", "circle", "circular", "radial", "donut"],
    props: [...sharedProps(), slots("root", "ring", "button", "details")],
    usage: simpleUsage("ProgressRadial"),
  },
  {
    name: "ProgressStacked",
    slug: "progress-stacked",
    category: "progress",
    description: "One bar with a segment per file, proportional to its size, each filling separately.",
    keywords: ["stacked", "segments", "proportional", "multiple", "legend"],
    props: [...sharedProps(), slots("root", "bar", "segment", "legend", "button")],
    usage: simpleUsage("ProgressStacked"),
  },
  {
    name: "ProgressLiquid",
    slug: "progress-liquid",
    category: "progress",
    description: "A tank that fills with waves; the number changes colour at the water line.",
    keywords: ["liquid", "water", "wave", "fill", "fluid"],
    props: [...sharedProps(), slots("root", "tank", "details")],
    usage: simpleUsage("ProgressLiquid"),
  },
  {
    name: "ProgressOrbit",
    slug: "progress-orbit",
    category: "progress",
    description: "Every file is a moon that orbits the planet once while it uploads.",
    keywords: ["orbit", "planet", "space", "satellite", "playful"],
    props: [
      ...sharedProps(),
      prop("maxOrbits", "number", "How many files have their own orbit.", { default: "5" }),
      slots("root", "space", "moon", "button", "details"),
    ],
    usage: simpleUsage("ProgressOrbit"),
  },
];
