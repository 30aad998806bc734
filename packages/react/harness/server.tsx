import { renderToString } from "react-dom/server";
import { App } from "./app.tsx";

export function render(slugs: string[]): string {
  return renderToString(<App slugs={slugs} />);
}
