import { DropzoneTerminal, SourceTabs } from "@upstow/react";
import type { ComponentType } from "react";

/** Uses that have to be tested and that no example of the catalogue shows. */
export const cases: Record<string, ComponentType> = {
  "inside-form": () => (
    <form action="/apply">
      <SourceTabs route="files" sources={["link"]} />
      <DropzoneTerminal route="files" />
    </form>
  ),
};
