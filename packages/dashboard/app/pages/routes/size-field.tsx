const units = { KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 };
export type SizeUnit = keyof typeof units;

/** A size as typed: empty for no route-specific limit. */
export interface SizeInput {
  amount: string;
  unit: SizeUnit;
}

export function toSizeInput(bytes: number | null): SizeInput {
  if (bytes === null) return { amount: "", unit: "MB" };
  const unit = bytes >= units.GB ? "GB" : bytes >= units.MB ? "MB" : "KB";
  return { amount: String(bytes / units[unit]), unit };
}

export function toBytes({ amount, unit }: SizeInput): number | null {
  return amount === "" ? null : Math.round(Number(amount) * units[unit]);
}

export function SizeField({ size, onChange }: { size: SizeInput; onChange: (size: SizeInput) => void }) {
  return (
    <div className="line">
      <label>
        Largest file
        <input
          type="number"
          // A byte of a kilobyte: 0 would let no file through.
          min={1 / 1024}
          step="any"
          value={size.amount}
          placeholder="Plan limit"
          onChange={(event) => onChange({ ...size, amount: event.target.value })}
        />
      </label>
      <label>
        Unit
        <select
          value={size.unit}
          onChange={(event) => onChange({ ...size, unit: event.target.value as SizeUnit })}
        >
          {Object.keys(units).map((unit) => (
            <option key={unit}>{unit}</option>
          ))}
        </select>
      </label>
    </div>
  );
}
