import { FIT_MODES, VARIANT_DELIVERIES } from "@upstow/contract";
import { type Knobs, outputFormats } from "./knobs.ts";

interface KnobFormProps {
  knobs: Knobs;
  /** Variants of private files are never public. */
  isPrivate: boolean;
  onChange: (change: Partial<Knobs>) => void;
}

export function KnobForm({ knobs, isPrivate, onChange }: KnobFormProps) {
  const side = (name: "width" | "height", label: string) => (
    <label>
      {label}
      <input
        type="number"
        min={1}
        max={4096}
        placeholder="follows"
        value={knobs[name]}
        onChange={(event) => onChange({ [name]: event.target.value })}
      />
    </label>
  );
  return (
    <form className="knobs" aria-label="Knobs" onSubmit={(event) => event.preventDefault()}>
      {side("width", "Width")}
      {side("height", "Height")}
      <label>
        Fit
        <select value={knobs.fit} onChange={(event) => onChange({ fit: event.target.value as Knobs["fit"] })}>
          {FIT_MODES.map((fit) => (
            <option key={fit}>{fit}</option>
          ))}
        </select>
      </label>
      <label>
        Quality {knobs.quality}
        <input
          type="range"
          min={1}
          max={100}
          value={knobs.quality}
          onChange={(event) => onChange({ quality: Number(event.target.value) })}
        />
      </label>
      <label>
        Format
        <select
          value={knobs.format}
          onChange={(event) => onChange({ format: event.target.value as Knobs["format"] })}
        >
          {["auto", ...outputFormats].map((format) => (
            <option key={format}>{format}</option>
          ))}
        </select>
      </label>
      <label>
        Delivery
        <select
          value={knobs.delivery}
          onChange={(event) => onChange({ delivery: event.target.value as Knobs["delivery"] })}
        >
          {VARIANT_DELIVERIES.filter((delivery) => !isPrivate || delivery === "signed").map((delivery) => (
            <option key={delivery}>{delivery}</option>
          ))}
        </select>
      </label>
    </form>
  );
}
