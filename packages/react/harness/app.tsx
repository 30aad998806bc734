import { examples } from "virtual:examples";
import { UpstowProvider } from "@upstow/react";
import { cases } from "./cases.tsx";

/** Examples, each as an application would have it. A failure is a failure at once: tests repeat by hand. */
export function App({ slugs }: { slugs: string[] }) {
  return slugs.map((slug) => {
    const Example = examples[slug] ?? cases[slug];
    if (Example === undefined) return <p key={slug}>There is no {slug}.</p>;
    return (
      <div key={slug} data-example={slug}>
        <UpstowProvider endpoint="/api/upload" retries={0} locale="en">
          <Example />
        </UpstowProvider>
      </div>
    );
  });
}
