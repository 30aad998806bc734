import type { ButtonHTMLAttributes } from "react";
import { findRoot, useHeirOfFocus } from "./use-heir-of-focus.ts";

/** A button that is gone once it has done its work. The focus stays in the component. */
export function FleetingButton(props: ButtonHTMLAttributes<HTMLButtonElement>) {
  const button = useHeirOfFocus<HTMLButtonElement>(findRoot);
  return <button ref={button} type="button" {...props} />;
}
