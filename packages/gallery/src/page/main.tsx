import "@upstow/react/styles.css";
import "./gallery.css";
import { examples } from "virtual:examples";
import { UpstowProvider } from "@upstow/react";
import { createRoot } from "react-dom/client";
import { createSampleFiles } from "./sample-files.ts";
import { network, SimulatedRequest, simulatedFetch } from "./simulated-network.ts";

// Uploads are simulated: nothing leaves the page.
Object.assign(globalThis, { XMLHttpRequest: SimulatedRequest });

const demos = document.querySelectorAll<HTMLElement>("[data-demo]");

function show(demo: HTMLElement): void {
  const Example = examples[demo.dataset["demo"] ?? ""];
  if (Example === undefined) return;
  createRoot(demo).render(
    <UpstowProvider
      endpoint="simulated:"
      fetch={simulatedFetch as typeof fetch}
      resumeStore={false}
      retries={0}
    >
      <Example />
    </UpstowProvider>,
  );
}

const observer = new IntersectionObserver(
  (entries) => {
    for (const { isIntersecting, target } of entries) {
      if (!isIntersecting) continue;
      observer.unobserve(target);
      show(target as HTMLElement);
    }
  },
  { rootMargin: "300px" },
);
for (const demo of demos) observer.observe(demo);

/** Drops drawn files on a demo, as a hand would. */
async function dropSamples(demo: HTMLElement): Promise<void> {
  const data = new DataTransfer();
  for (const file of await createSampleFiles()) data.items.add(file);
  const target = demo.querySelector("[data-us-root]");
  target?.dispatchEvent(new DragEvent("drop", { bubbles: true, cancelable: true, dataTransfer: data }));
  demo.dataset["dropped"] = "";
}

for (const button of document.querySelectorAll<HTMLElement>("[data-samples]")) {
  button.addEventListener("click", () => {
    const demo = [...demos].find(({ dataset }) => dataset["demo"] === button.dataset["samples"]);
    if (demo !== undefined) void dropSamples(demo);
  });
}

const controls = document.querySelector<HTMLFormElement>("[data-controls]");
controls?.addEventListener("change", () => {
  const chosen = new FormData(controls);
  network.failsNext = chosen.has("fails");
  for (const demo of demos) {
    demo.dir = chosen.has("rtl") ? "rtl" : "ltr";
    demo.style.setProperty("--us-radius", `${chosen.get("radius")}px`);
    demo.toggleAttribute("data-accent", chosen.get("accent") !== "");
    demo.dataset["accent"] = String(chosen.get("accent"));
  }
});
