import type { KeyboardEvent } from "react";

/** For a line that may stand in somebody's form: Enter does what the line is for, and does not send the form. */
export function onEnter(act: () => void): (event: KeyboardEvent) => void {
  return (event) => {
    if (event.key !== "Enter" || event.nativeEvent.isComposing) return;
    event.preventDefault();
    act();
  };
}
