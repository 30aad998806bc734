import { examples } from "virtual:examples";
import { UpstowProvider } from "@upstow/react";
import { cases } from "./cases.tsx";

/** One example, as an application would have it. A failure is a failure at once: tests repeat by hand. */
export function App({ slug }: { slug: string }) {
  const Example = examples[slug] ?? cases[slug];
  if (Example === undefined) return <p>There is no {slug}.</p>;
  return (
    <UpstowProvider endpoint="/api/upload" retries={0} locale="en">
      <Example />
    </UpstowProvider>
  );
}
