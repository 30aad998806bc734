import { createElement, type ReactElement } from "react";

/** An icon of `icons.ts` for React. It is decorative: the adjacent text, or the button's label, has the meaning. */
export function Icon({ of, className = "icon" }: { of: string; className?: string }): ReactElement {
  return createElement("svg", {
    className,
    viewBox: "0 0 24 24",
    fill: "none",
    stroke: "currentColor",
    strokeWidth: 1.75,
    strokeLinecap: "round",
    strokeLinejoin: "round",
    "aria-hidden": true,
    dangerouslySetInnerHTML: { __html: of },
  });
}
