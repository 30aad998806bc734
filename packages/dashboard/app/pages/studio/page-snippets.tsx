import { type FileObject, IMAGE_QUALITIES } from "@upstow/contract";
import { imageProps } from "@upstow/sdk/images";
import { CodeBlock } from "../../parts/code-block.tsx";
import type { toBody } from "./knobs.ts";

type Options = Omit<ReturnType<typeof toBody>, "key" | "delivery">;

interface PageSnippetsProps {
  file: FileObject;
  body: ReturnType<typeof toBody>;
}

/** Code for a page, without API call or signature: a URL for each width that the project lists. */
export function PageSnippets({ file, body: { key: _, delivery: __, quality, ...rest } }: PageSnippetsProps) {
  const isListed = (IMAGE_QUALITIES as readonly number[]).includes(quality);
  const options: Options = { ...rest, quality: isListed ? quality : IMAGE_QUALITIES[0] };
  return (
    <section>
      <h2>HTML</h2>
      <CodeBlock label="Responsive HTML" code={toHtml(file, options)} />
      <CodeBlock label="React" code={toReact(options)} />
      <p className="dim">
        These URLs need no API call, and cost one unit per file per month.
        {!isListed &&
          ` They have quality ${options.quality}: ${quality} is not in the project's imageQualities.`}
      </p>
    </section>
  );
}

function toHtml(file: FileObject, options: Options): string {
  const { src, srcSet, sizes, width, height } = imageProps(file, options);
  const given = Object.entries({ src, srcset: srcSet, sizes, width, height, alt: "", loading: "lazy" });
  const attributes = given.flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}="${toAttribute(String(value))}"`],
  );
  return `<img ${attributes.join("\n     ").replaceAll("w, http", "w,\n             http")}>`;
}

const toAttribute = (text: string) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;");

function toReact(options: Options): string {
  const props = Object.entries(options).map(([name, value]) =>
    typeof value === "number" ? `${name}={${value}}` : `${name}="${value}"`,
  );
  return [
    'import { UpstowImage } from "@upstow/react";',
    "",
    `<UpstowImage file={file} alt="" ${props.join(" ")} />`,
  ].join("\n");
}
