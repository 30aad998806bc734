import type { CatalogueEntry } from "./entry.ts";
import { prop, slots, wholeUsage } from "./props.ts";

/** They show stored files and upload nothing. */
export const display: CatalogueEntry[] = [
  {
    name: "UpstowImage",
    slug: "upstow-image",
    category: "display",
    description:
      "A responsive image of a public file: a URL per width without API calls, no layout shift, and a placeholder until it has loaded.",
    keywords: [
      "img",
      "srcset",
      "responsive",
      "thumbhash",
      "placeholder",
      "blur",
      "lazy",
      "public",
      "variant",
    ],
    props: [
      prop("file", "{ url: string; image?: ImageFacts | null }", "A public file as the API returns it.", {
        isRequired: true,
      }),
      prop("alt", "string", "Describes the image; empty if it is decorative.", { isRequired: true }),
      prop("sizes", "string", "The displayed width, as in the `sizes` attribute.", {
        default: '"100vw", or `width`',
      }),
      prop("width", "number", "Pixels in the layout; the height follows."),
      prop("height", "number", "Pixels in the layout."),
      prop("fit", '"scale-down" | "contain" | "cover" | "crop" | "pad"', "With width and height.", {
        default: '"scale-down"',
      }),
      prop("gravity", "string", "What `cover` and `crop` keep: `focus`, `attention`, `n`, …"),
      prop("quality", "number", "One of the qualities listed in the project.", { default: "75" }),
      prop("format", '"auto" | "avif" | "webp" | "jpeg" | "png"', "Output format.", {
        default: '"auto"',
      }),
      prop("background", "string", "`rrggbb`: colour behind transparent and padded parts."),
      prop("blur", "number", "1 to 100 pixels."),
      prop("rotate", "90 | 180 | 270", "Degrees clockwise."),
      prop("preset", "string", "The name of a project preset, instead of other options."),
      prop("widths", "readonly number[]", "The widths listed in the project, if customised."),
      prop("loading", '"eager" | "lazy"', "`eager` for images visible on load.", { default: '"lazy"' }),
      prop("imageProps", "ImgHTMLAttributes", "Additional attributes of the `<img>`."),
      slots("image"),
    ],
    usage: wholeUsage(
      ["UpstowImage"],
      `  // As GET /files/:key answers it.
  const file = {
    url: "/files/beach.jpg",
    image: {
      width: 4032,
      height: 3024,
      orientation: 1,
      frames: 1,
      hasAlpha: false,
      dominantColor: "#7a8c5d",
      thumbhash: "1QcSHQRnh493V4dIh4eXh1h4kJUI",
    },
  };
  return <UpstowImage file={file} alt="The beach at dusk" sizes="(max-width: 40em) 100vw, 40em" />;`,
    ),
  },
  {
    name: "PrivateImage",
    slug: "private-image",
    category: "display",
    description:
      "An image for signed-in users: gets its link from your backend, and renews it when it expires.",
    keywords: ["private", "signed url", "protected", "link", "expires", "img", "authorize", "permission"],
    props: [
      prop("fileKey", "string", "The file's storage key, or its id.", { isRequired: true }),
      prop("alt", "string", "Describes the image; empty if it is decorative.", { isRequired: true }),
      prop("width", "number", "Pixels."),
      prop("height", "number", "Pixels."),
      prop(
        "image",
        "ImageFacts | null",
        "The image facts from the API: reserve its space and show its placeholder until it has loaded.",
      ),
      prop("loading", '"eager" | "lazy"', "`lazy` requests the URL only near the viewport.", {
        default: '"eager"',
      }),
      prop("endpoint", "string", "The URL of your read handler; default: the provider's `filesEndpoint`.", {
        default: '"/api/files"',
      }),
      prop(
        "headers",
        "Record<string, string> | (() => Record<string, string> | Promise<Record<string, string>>)",
        "Sent to your read handler; default: the provider's.",
      ),
      prop("fetch", "typeof fetch", "Your own `fetch` for these requests."),
      prop("fallback", "ReactNode", "Shown if the file is missing or the user can't read it."),
      prop("onError", "(error: Error) => void", "Called once if the image cannot be shown."),
      prop("imageProps", "ImgHTMLAttributes", "Additional attributes of the `<img>`."),
      prop("words", "{ failed?: string }", "Custom labels."),
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
