import type { CatalogueEntry } from "./entry.ts";
import { prop, slots, wholeUsage } from "./props.ts";

/** They show stored files and upload nothing. */
export const display: CatalogueEntry[] = [
  {
    name: "PrivateImage",
    slug: "private-image",
    category: "display",
    description:
      "An image for signed-in users: gets its link from your backend, and a new one if that has expired.",
    keywords: ["private", "signed url", "protected", "link", "expires", "img", "authorize", "permission"],
    props: [
      prop("fileKey", "string", "The file's storage key, or its id.", { isRequired: true }),
      prop("alt", "string", "Describes the image; empty if it is decorative.", { isRequired: true }),
      prop("width", "number", "Pixels."),
      prop("height", "number", "Pixels."),
      prop("loading", '"eager" | "lazy"', "`lazy` requests the URL only near the viewport.", {
        default: '"eager"',
      }),
      prop(
        "endpoint",
        "string",
        "The URL of your read handler; the provider's `filesEndpoint` unless given.",
        {
          default: '"/api/files"',
        },
      ),
      prop(
        "headers",
        "Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>)",
        "Sent to your read handler; the provider's unless given.",
      ),
      prop("fetch", "typeof fetch", "Your own `fetch` for these requests."),
      prop("fallback", "ReactNode", "Shown if the file is missing or the user can't read it."),
      prop("onError", "(error: Error) => void", "Called once if the image cannot be shown."),
      prop("imageProps", "ImgHTMLAttributes", "Further attributes of the `<img>`."),
      prop("words", "{ failed?: string }", "Your own words."),
      slots("image", "fallback"),
    ],
    usage: wholeUsage(
      ["PrivateImage"],
      `  return (
    <PrivateImage fileKey="01k5q8p7x2d4s6h8j0r1e3a5q7" alt="The beach at dusk" width={450} height={300} />
  );`,
    ),
  },
];
