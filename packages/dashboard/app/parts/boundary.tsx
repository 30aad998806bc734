import { Component, type ReactNode } from "react";

interface BoundaryProps {
  /** Shown in the place of what broke. */
  fallback: ReactNode;
  children: ReactNode;
}

/** Without one, a script that does not come, or one thing that breaks, would leave an empty window. */
export class Boundary extends Component<BoundaryProps, { isBroken: boolean }> {
  static getDerivedStateFromError() {
    return { isBroken: true };
  }

  override state = { isBroken: false };

  override render() {
    return this.state.isBroken ? this.props.fallback : this.props.children;
  }
}

/** Loaded as a whole: browsers do not ask again for a script that failed, and a new version has scripts of new names. */
export function Broken() {
  return (
    <>
      <h1>This page could not be shown</h1>
      <div className="notice bad" role="alert">
        <p>The server cannot be reached, or has a newer version of this page.</p>
        <button type="button" onClick={() => location.reload()}>
          Reload
        </button>
      </div>
    </>
  );
}
