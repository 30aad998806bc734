import type { KeyboardEvent } from "react";

/** For an input that may be inside a form: Enter triggers its own action instead of submitting the form. */
export function onEnter(act: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    act();
  };
}
