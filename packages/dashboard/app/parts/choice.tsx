import type { Router } from "@upstow/contract";
import { useId } from "react";
import { showHidden } from "./safe-text.tsx";

interface ChoiceProps {
  label: string;
  /** The label is read out only: the first option says enough. */
  isBare?: boolean;
  /** Label of the empty value, such as "Any status"; omitted if there is none. */
  any?: string;
  hint?: string;
  options: readonly (string | readonly [value: string, label: string])[];
  value: string;
  onChange: (value: string) => void;
}

/** One of a few. */
export function Choice({ label, isBare = false, any, hint, options, value, onChange }: ChoiceProps) {
  const id = useId();
  const hintId = useId();
  const select = (
    <select
      id={id}
      {...(isBare ? { "aria-label": label } : {})}
      {...(hint === undefined ? {} : { "aria-describedby": hintId })}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      {any !== undefined && <option value="">{any}</option>}
      {options.map((option) => {
        const [key, name] = typeof option === "string" ? [option, option] : option;
        return (
          <option key={key} value={key}>
            {showHidden(name)}
          </option>
        );
      })}
    </select>
  );
  if (isBare) return select;
  return (
    <label htmlFor={id}>
      {label}
      {select}
      {hint !== undefined && <small id={hintId}>{hint}</small>}
    </label>
  );
}

/** The route that a list is filtered by, also where it has been deleted since. */
export function RouteChoice({
  routes,
  ...props
}: { routes: Router[] } & Pick<ChoiceProps, "isBare" | "value" | "onChange">) {
  const slugs = new Set(routes.map(({ slug }) => slug));
  if (props.value !== "") slugs.add(props.value);
  return <Choice label="Route" any="All routes" options={[...slugs]} {...props} />;
}
