import { useId } from "react";

/** The units of a quantity, from the smallest to the largest. */
export type Units = readonly (readonly [name: string, size: number])[];

export const sizeUnits: Units = [
  ["bytes", 1],
  ["KB", 1024],
  ["MB", 1024 ** 2],
  ["GB", 1024 ** 3],
];
export const timeUnits: Units = [
  ["seconds", 1],
  ["minutes", 60],
  ["hours", 3_600],
  ["days", 86_400],
];

/** A quantity as typed: empty for none. */
export interface Amount {
  text: string;
  unit: string;
}

const sizeOf = (units: Units, name: string) => units.find(([unit]) => unit === name)?.[1] ?? 1;

/** In the largest unit that shows it exactly, with two decimals at most. */
export function toAmount(value: number | null, units: Units, unitOfNone: string): Amount {
  if (value === null) return { text: "", unit: unitOfNone };
  const isExact = (size: number) => value >= size && Number.isInteger((value * 100) / size);
  const [unit, size] = units.findLast(([, size]) => isExact(size)) ?? units[0] ?? ["", 1];
  return { text: String(value / size), unit };
}

export function fromAmount({ text, unit }: Amount, units: Units): number | null {
  return text === "" ? null : Math.round(Number(text) * sizeOf(units, unit));
}

interface AmountFieldProps {
  label: string;
  unitLabel: string;
  units: Units;
  /** In the smallest thing that is counted, such as bytes. */
  max?: number;
  placeholder: string;
  hint?: string;
  value: Amount;
  onChange: (value: Amount) => void;
}

export function AmountField({ label, unitLabel, units, max, placeholder, hint, ...props }: AmountFieldProps) {
  const { value, onChange } = props;
  const hintId = useId();
  const size = sizeOf(units, value.unit);
  return (
    <div className="amount">
      <label>
        {label}
        <input
          type="number"
          // One byte or second: 0 would let nothing through.
          min={1 / size}
          max={max === undefined ? undefined : max / size}
          step="any"
          value={value.text}
          placeholder={placeholder}
          {...(hint === undefined ? {} : { "aria-describedby": hintId })}
          onChange={(event) => onChange({ ...value, text: event.target.value })}
        />
      </label>
      <label>
        {unitLabel}
        <select value={value.unit} onChange={(event) => onChange({ ...value, unit: event.target.value })}>
          {units.map(([unit]) => (
            <option key={unit}>{unit}</option>
          ))}
        </select>
      </label>
      {hint !== undefined && <small id={hintId}>{hint}</small>}
    </div>
  );
}
