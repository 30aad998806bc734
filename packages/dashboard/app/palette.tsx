import { Icon } from "@upstow/kit/icon";
import {
  bookOpenIcon,
  fileIcon,
  keyRoundIcon,
  routeIcon,
  searchIcon,
  settingsIcon,
  splitIcon,
  uploadIcon,
  userIcon,
  userPlusIcon,
} from "@upstow/kit/icons";
import { type KeyboardEvent, useContext, useEffect, useId, useRef, useState } from "react";
import { addressOf } from "./address.ts";
import { useLoad } from "./load.ts";
import type { FoundFile } from "./pages/files/found-file.ts";
import { SafeText } from "./parts/safe-text.tsx";
import { useSettled } from "./parts/use-settled.ts";
import { goTo } from "./router.tsx";
import { pageLinks } from "./shell.tsx";
import { type ProjectItem, type Workspace, WorkspaceContext } from "./workspace.ts";

interface Command {
  id: string;
  group: string;
  label: string;
  icon: string;
  run: () => void;
}

const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

/** Opens with ⌘K or Ctrl+K, or by the button in the bar. */
export function Palette({ projects }: { projects: ProjectItem[] }) {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const listen = (event: globalThis.KeyboardEvent) => {
      if (event.key.toLowerCase() !== "k" || !(event.metaKey || event.ctrlKey)) return;
      event.preventDefault();
      // Another dialog keeps what is typed in it.
      if (document.querySelector("dialog[open]") === null) setOpen(true);
    };
    window.addEventListener("keydown", listen);
    return () => window.removeEventListener("keydown", listen);
  }, []);
  return (
    <>
      <button type="button" className="find" onClick={() => setOpen(true)}>
        <Icon of={searchIcon} />
        <span className="find-text">Search</span>
        <kbd className="kbd">{isMac ? "⌘" : "Ctrl"} K</kbd>
      </button>
      {isOpen && <PaletteDialog projects={projects} onClose={() => setOpen(false)} />}
    </>
  );
}

function PaletteDialog({ projects, onClose }: { projects: ProjectItem[]; onClose: () => void }) {
  const workspace = useContext(WorkspaceContext);
  const dialog = useRef<HTMLDialogElement>(null);
  const listId = useId();
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const settled = useSettled(text.trim(), 150);
  const files = useFoundFiles(workspace, settled);
  const docs = useFoundDocs(settled);
  const commands = [...matching(commandsOf(workspace, projects), text), ...files, ...docs];
  const current = Math.min(active, commands.length - 1);
  useEffect(() => {
    if (dialog.current?.open === false) dialog.current.showModal();
  }, []);
  const choose = (command: Command | undefined) => {
    if (command === undefined) return;
    dialog.current?.close();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") {
      event.preventDefault();
      choose(commands[current]);
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step === undefined || commands.length === 0) return;
    event.preventDefault();
    setActive((current + step + commands.length) % commands.length);
  };
  return (
    <dialog ref={dialog} className="palette" closedby="any" aria-label="Search" onClose={onClose}>
      <input
        type="search"
        role="combobox"
        aria-label="Search pages, files, docs and actions"
        placeholder="Search pages, files, docs and actions"
        aria-expanded="true"
        aria-controls={listId}
        aria-activedescendant={commands.length === 0 ? undefined : `${listId}-${current}`}
        maxLength={64}
        value={text}
        onKeyDown={onKeyDown}
        onChange={(event) => {
          setText(event.target.value);
          setActive(0);
        }}
      />
      <div role="listbox" id={listId} aria-label="Results" className="palette-list">
        {commands.map((command, i) => (
          <CommandRow
            key={command.id}
            id={`${listId}-${i}`}
            command={command}
            isFirst={commands[i - 1]?.group !== command.group}
            isActive={i === current}
            onPoint={() => setActive(i)}
            onChoose={() => choose(command)}
          />
        ))}
      </div>
      {commands.length === 0 && <p className="dim palette-empty">No results</p>}
    </dialog>
  );
}

interface CommandRowProps {
  id: string;
  command: Command;
  isFirst: boolean;
  isActive: boolean;
  onPoint: () => void;
  onChoose: () => void;
}

function CommandRow({ id, command, isFirst, isActive, onPoint, onChoose }: CommandRowProps) {
  const row = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (isActive) row.current?.scrollIntoView({ block: "nearest" });
  }, [isActive]);
  return (
    <>
      {isFirst && (
        <p className="palette-group" role="presentation">
          {command.group}
        </p>
      )}
      {/* biome-ignore lint/a11y/useFocusableInteractive: the focus stays in the field, which names the active option */}
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the field takes the keys */}
      <div
        ref={row}
        id={id}
        role="option"
        aria-selected={isActive}
        className="palette-row"
        onPointerMove={onPoint}
        onClick={onChoose}
      >
        <Icon of={command.icon} />
        <span className="cut">
          <SafeText text={command.label} />
        </span>
      </div>
    </>
  );
}

function commandsOf(workspace: Workspace | null, projects: ProjectItem[]): Command[] {
  const go = (group: string, label: string, icon: string, to: string): Command => ({
    id: `${group} ${to} ${label}`,
    group,
    label,
    icon,
    run: () => goTo(to),
  });
  const toAccountPage = (page: string) => workspace?.urlOf(page) ?? `/${page}`;
  const environment = workspace?.environment ?? "live";
  return [
    ...(workspace === null ? [] : inWorkspace(workspace, go)),
    go("Pages", "Account", userIcon, toAccountPage("account")),
    ...projects
      .filter(({ id }) => id !== workspace?.project.id)
      .map(({ id, name }) => go("Projects", name, splitIcon, addressOf(id, environment, "overview"))),
  ];
}

function inWorkspace(
  { urlOf, isOwner, mayChange, project, environment }: Workspace,
  go: (group: string, label: string, icon: string, to: string) => Command,
): Command[] {
  const pages = pageLinks.flat().filter(({ forOwners }) => isOwner || forOwners !== true);
  const other = environment === "live" ? "test" : "live";
  const actions = [
    go("Actions", "Upload files", uploadIcon, urlOf("files")),
    go("Actions", "Create an API key", keyRoundIcon, urlOf("settings/keys")),
    go("Actions", "Create a file route", routeIcon, urlOf("routes")),
    go("Actions", "Invite a member", userPlusIcon, urlOf("members")),
  ];
  return [
    ...pages.map(({ page, label, icon }) => go("Pages", label, icon, urlOf(page))),
    ...(mayChange ? actions : []),
    go("Actions", `Switch to ${other}`, splitIcon, addressOf(project.id, other, "overview")),
    go("Settings", "Storage", settingsIcon, urlOf("settings/storage")),
    go("Settings", "CDN domain", settingsIcon, urlOf("settings/delivery")),
    go("Settings", "Webhook signing", settingsIcon, urlOf("settings/signing")),
  ];
}

/** Every word somewhere in the label. */
function matching(commands: Command[], text: string): Command[] {
  const words = text.toLowerCase().split(/\s+/);
  return commands.filter(({ label }) => words.every((word) => label.toLowerCase().includes(word)));
}

function useFoundFiles(workspace: Workspace | null, text: string): Command[] {
  const query = new URLSearchParams({ limit: "6", name: text });
  const path = workspace === null || text.length < 2 ? null : `${workspace.api}/search?${query}`;
  const { data } = useLoad<{ files: FoundFile[] }>(path);
  if (workspace === null || path === null) return [];
  return (data?.files ?? []).map((file) => ({
    id: file.id,
    group: "Files",
    label: file.name,
    icon: fileIcon,
    run: () => goTo(workspace.urlOf(`files/${file.id}`)),
  }));
}

interface FoundDoc {
  path: string;
  title: string;
  heading: string;
  anchor: string;
}

/** Not part of the dashboard's API: the documentation has its own search. */
function useFoundDocs(text: string): Command[] {
  const [found, setFound] = useState<{ text: string; results: FoundDoc[] } | null>(null);
  useEffect(() => {
    if (text.length < 2) return;
    const stop = new AbortController();
    fetch(`/docs/search.json?${new URLSearchParams({ q: text })}`, { signal: stop.signal })
      .then((response) => response.json())
      .then(({ results }) => setFound({ text, results }))
      // Without a response, the results just contain no docs.
      .catch(() => {});
    return () => stop.abort();
  }, [text]);
  if (found === null || found.text !== text) return [];
  return found.results.slice(0, 5).map(({ path, title, heading, anchor }) => {
    const url = `/docs/${path}${anchor === "" ? "" : `#${anchor}`}`;
    return {
      id: url,
      group: "Documentation",
      label: heading === title ? title : `${title} › ${heading}`,
      icon: bookOpenIcon,
      run: () => location.assign(url),
    };
  });
}
