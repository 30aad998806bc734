import { renderToString } from "react-dom/server";
import { App } from "./app.tsx";

export function render(slug: string): string {
  return renderToString(<App slug={slug} />);
}
