import { type ComponentType, useEffect, useRef } from "react";
import { Link, usePath } from "../../router.tsx";
import { useWorkspace } from "../../workspace.ts";
import { ApiKeys } from "./api-keys.tsx";
import { CdnDomain } from "./cdn-domain.tsx";
import { ProjectSettings } from "./project-settings.tsx";
import { SigningKeys } from "./signing-keys.tsx";
import { StorageSettings } from "./storage-settings.tsx";

const sections: [name: string, label: string, Section: ComponentType][] = [
  ["keys", "API keys", ApiKeys],
  ["project", "Project", ProjectSettings],
  ["storage", "Storage", StorageSettings],
  ["delivery", "CDN domain", CdnDomain],
  ["signing", "Webhook signing", SigningKeys],
];

/** URLs are…/settings/<section>. */
export default function Settings() {
  const { urlOf } = useWorkspace();
  const [, , , , name = "keys"] = usePath().split("/");
  const [, , Section] = sections.find(([section]) => section === name) ?? ["", "", NoSection];
  const tabs = useRef<HTMLElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another section is another current tab
  useEffect(() => {
    const current = tabs.current?.querySelector("[aria-current]");
    if (current) showWhole(current);
  }, [name]);
  return (
    <>
      <h1>Settings</h1>
      <nav className="tabs" aria-label="Settings" ref={tabs}>
        {sections.map(([section, label]) => (
          <Link
            key={section}
            to={urlOf(`settings/${section}`)}
            aria-current={section === name ? "page" : undefined}
            onFocus={({ currentTarget }) => showWhole(currentTarget)}
          >
            {label}
          </Link>
        ))}
      </nav>
      <Section />
    </>
  );
}

/** On a phone the tabs scroll sideways, and browsers leave one that has the focus half out of view. */
function showWhole(tab: Element): void {
  tab.scrollIntoView({ block: "nearest", inline: "nearest" });
}

function NoSection() {
  return <p>Page not found. Check the URL.</p>;
}
