import { endOfFile, endOfFiles } from "../../parts/after-deletion.ts";
import { Choice } from "../../parts/choice.tsx";
import { Field } from "../../parts/fields.tsx";
import { lastMoment, toMoment } from "../../parts/moment.ts";
import { useWorkspace } from "../../workspace.ts";

/** What was selected: "never", a number of seconds, or "at" with the moment as `<input type="datetime-local">` has it. */
export interface Expiry {
  after: string;
  at: string;
}

export const startingExpiry: Expiry = { after: "604800", at: "" };

const options = [
  ["never", "Never"],
  ["3600", "In 1 hour"],
  ["86400", "In 1 day"],
  ["604800", "In 7 days"],
  ["2592000", "In 30 days"],
  ["31536000", "In 365 days"],
  ["at", "On a date"],
] as const;

/** The fields of a file that change. */
export function toChange({ after, at }: Expiry): { expiresIn: number } | { expiresAt: string | null } {
  if (after === "never") return { expiresAt: null };
  if (after !== "at") return { expiresIn: Number(after) };
  return { expiresAt: toMoment(new Date(at)) };
}

interface ExpiryChoiceProps {
  isOfMany?: boolean;
  value: Expiry;
  onChange: (value: Expiry) => void;
}

export function ExpiryChoice({ isOfMany = false, value, onChange }: ExpiryChoiceProps) {
  const { project } = useWorkspace();
  const { after, at } = value;
  const end = isOfMany
    ? `the files stop working. Finished uploads ${endOfFiles(project.trashDays)}.`
    : `the file stops working and ${endOfFile(project.trashDays)}.`;
  return (
    <>
      <Choice
        label="Expires"
        hint={after === "never" ? "Removes the expiry." : `At that time, ${end}`}
        options={options}
        value={after}
        onChange={(next) => onChange({ after: next, at })}
      />
      {after === "at" && (
        <Field
          label="Date and time"
          type="datetime-local"
          max={lastMoment}
          value={at}
          onChange={(next) => onChange({ after, at: next })}
        />
      )}
    </>
  );
}
