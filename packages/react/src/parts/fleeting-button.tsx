import type { ButtonHTMLAttributes } from "react";
import { findRoot, useHeirOfFocus } from "./use-heir-of-focus.ts";

/** A button that disappears after its action. The focus stays in the component. */
export function FleetingButton(props: ButtonHTMLAttributes<HTMLButtonElement>) {
  const button = useHeirOfFocus<HTMLButtonElement>(findRoot);
  return <button ref={button} type="button" {...props} />;
}
