import { type ComponentProps, useId } from "react";

interface FieldProps extends Omit<ComponentProps<"input">, "onChange" | "value"> {
  label: string;
  hint?: string;
  value: string;
  onChange: (value: string) => void;
}

export function Field({ label, hint, onChange, ...input }: FieldProps) {
  const hintId = useId();
  return (
    <label>
      {label}
      <input
        required
        {...input}
        {...(hint === undefined ? {} : { "aria-describedby": hintId })}
        onChange={(event) => onChange(event.target.value)}
      />
      {hint !== undefined && <small id={hintId}>{hint}</small>}
    </label>
  );
}

type Known = Omit<FieldProps, "label" | "type" | "autoComplete"> & { label?: string };

export function EmailField(props: Known) {
  return <Field label="Email address" type="email" autoComplete="username" {...props} />;
}

export function PasswordField(props: Known) {
  return <Field label="Password" type="password" autoComplete="current-password" {...props} />;
}

/** Required again before any change to how a user signs in. */
export function CurrentPasswordField(props: Known) {
  return <PasswordField label="Current password" {...props} />;
}

export function NewPasswordField(props: Known) {
  return (
    <Field
      label="New password"
      type="password"
      autoComplete="new-password"
      minLength={10}
      hint="At least 10 characters. A few words are easier to remember than symbols."
      {...props}
    />
  );
}
