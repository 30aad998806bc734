import { type KeyboardEvent, useState } from "react";
import { SafeText, showHidden } from "../../parts/safe-text.tsx";

const groups: [label: string, types: string[]][] = [
  [
    "Images",
    ["image/*", "image/jpeg", "image/png", "image/webp", "image/gif", "image/avif", "image/svg+xml"],
  ],
  ["Video", ["video/*", "video/mp4", "video/webm", "video/quicktime"]],
  ["Audio", ["audio/*", "audio/mpeg", "audio/wav", "audio/ogg"]],
  ["Documents", ["application/pdf", "text/plain", "text/csv", "application/json", "application/zip"]],
];
const form = /^[\w!#$&^.+-]+\/(?:\*|[\w!#$&^.+-]+)$/;

interface TypePickerProps {
  types: string[];
  onChange: (types: string[]) => void;
}

/** Common types by a click, others by typing. An empty list accepts all types. */
export function TypePicker({ types, onChange }: TypePickerProps) {
  const [text, setText] = useState("");
  const [problem, setProblem] = useState("");
  const add = () => {
    const type = text.trim().toLowerCase();
    if (type === "") return;
    if (type !== "*/*" && !form.test(type)) return setProblem("Enter a type such as image/png or image/*.");
    setProblem("");
    setText("");
    if (!types.includes(type)) onChange([...types, type]);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    add();
  };
  return (
    <fieldset className="types">
      <legend>Allowed types</legend>
      <p className="line">
        {types.length === 0 && <span className="dim">All types</span>}
        {types.map((type) => (
          <button
            type="button"
            key={type}
            className="small chip"
            aria-label={`Remove ${showHidden(type)}`}
            onClick={() => onChange(types.filter((other) => other !== type))}
          >
            <SafeText text={type} /> ✕
          </button>
        ))}
      </p>
      {groups.map(([label, group]) => (
        <div key={label} className="type-group">
          <small>{label}</small>
          <p className="line">
            {group
              .filter((type) => !types.includes(type))
              .map((type) => (
                <button type="button" key={type} className="small" onClick={() => onChange([...types, type])}>
                  + {type}
                </button>
              ))}
          </p>
        </div>
      ))}
      <p className="line">
        <input
          aria-label="Another type"
          placeholder="type/subtype"
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <button type="button" onClick={add}>
          Add type
        </button>
      </p>
      {problem !== "" && <p role="alert">{problem}</p>}
    </fieldset>
  );
}
