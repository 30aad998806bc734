import { FIT_MODES, GRAVITIES, VARIANT_DELIVERIES } from "@upstow/contract";
import { type Knobs, outputFormats, turns } from "./knobs.ts";

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
        placeholder="Automatic"
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
        Gravity
        <select
          value={knobs.gravity}
          onChange={(event) => onChange({ gravity: event.target.value as Knobs["gravity"] })}
        >
          <option value="">centre</option>
          {GRAVITIES.map((gravity) => (
            <option key={gravity}>{gravity}</option>
          ))}
        </select>
      </label>
      <label>
        Background
        <input
          placeholder="ffcc00"
          maxLength={6}
          spellCheck={false}
          value={knobs.background}
          onChange={(event) => onChange({ background: event.target.value })}
        />
      </label>
      <label>
        Blur
        <input
          type="number"
          min={1}
          max={100}
          placeholder="None"
          value={knobs.blur}
          onChange={(event) => onChange({ blur: event.target.value })}
        />
      </label>
      <label>
        Rotate
        <select
          value={knobs.rotate}
          onChange={(event) => onChange({ rotate: event.target.value as Knobs["rotate"] })}
        >
          <option value="">None</option>
          {turns.map((degrees) => (
            <option key={degrees} value={degrees}>
              {degrees}°
            </option>
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
