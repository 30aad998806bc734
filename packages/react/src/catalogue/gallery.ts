import type { CatalogueEntry } from "./entry.ts";
import { prop, sharedProps, simpleUsage, slots, wholeUsage } from "./props.ts";

export const gallery: CatalogueEntry[] = [
  {
    name: "GalleryGrid",
    slug: "gallery-grid",
    category: "gallery",
    description: "Images that users reorder by dragging or with arrow keys; the first is the cover.",
    keywords: ["grid", "sortable", "reorder", "cover", "product photos", "album", "listing"],
    props: [
      ...sharedProps(),
      prop("onReorder", "(items: readonly UploadItem[]) => void", "Called on every reorder."),
      prop("words", "{ cover?: string; move?: (name: string) => string }", "Custom labels."),
      slots("root", "tile", "add"),
    ],
    usage: wholeUsage(
      ["GalleryGrid"],
      `  return (
    <GalleryGrid route="files" onReorder={(items) => console.log(items.map(({ file }) => file.name))} />
  );`,
    ),
  },
  {
    name: "GalleryTimeline",
    slug: "gallery-timeline",
    category: "gallery",
    description: "Files on a timeline by the day they were created, latest first.",
    keywords: ["timeline", "days", "dates", "history", "photos", "chronological"],
    props: [...sharedProps(), slots("root", "day", "entry", "button")],
    usage: simpleUsage("GalleryTimeline"),
  },
  {
    name: "GalleryKanban",
    slug: "gallery-kanban",
    category: "gallery",
    description:
      "A board of files: drag a card to In progress to start or retry it, back to Waiting to pause it.",
    keywords: ["kanban", "board", "columns", "trello", "workflow", "queue"],
    props: [
      ...sharedProps(),
      prop(
        "words",
        "{ waiting?: string; underWay?: string; done?: string; stopped?: string }",
        "The columns' titles.",
      ),
      slots("root", "column", "card", "button"),
    ],
    usage: simpleUsage("GalleryKanban"),
  },
  {
    name: "GalleryPolaroid",
    slug: "gallery-polaroid",
    category: "gallery",
    description: "Instant photos that develop while they upload, with a caption under each.",
    keywords: ["polaroid", "instant", "photo", "caption", "vintage", "develop", "wall"],
    props: [
      ...sharedProps(),
      prop("onCaption", "(item: UploadItem, caption: string) => void", "Called when a caption is written."),
      prop("words", "{ caption?: (name: string) => string }", "Custom labels."),
      slots("root", "card", "caption", "button"),
    ],
    usage: wholeUsage(
      ["GalleryPolaroid"],
      `  return (
    <GalleryPolaroid route="files" onCaption={(item, caption) => console.log(item.file.name, caption)} />
  );`,
    ),
  },
];
