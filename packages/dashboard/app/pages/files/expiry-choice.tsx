import { Choice } from "../../parts/choice.tsx";
import { Field } from "../../parts/fields.tsx";
import { lastMoment, toMoment } from "../../parts/moment.ts";

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

export function ExpiryChoice({ value, onChange }: { value: Expiry; onChange: (value: Expiry) => void }) {
  const { after, at } = value;
  return (
    <>
      <Choice
        label="Expires"
        hint={
          after === "never"
            ? "The file is kept until it is deleted."
            : "The file is deleted at that time and can't be restored."
        }
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
