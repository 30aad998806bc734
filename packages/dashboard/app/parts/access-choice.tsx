import type { Access } from "@upstow/contract";
import { Choice } from "./choice.tsx";

export const accessMeaning: Record<Access, string> = {
  public: "Anyone who has the URL can read the file.",
  private: "The URL returns 404. Only links and grants open the file.",
};

interface AccessChoiceProps {
  value: Access;
  /** A note after the explanation of the selected access. */
  note?: string;
  onChange: (access: Access) => void;
}

export function AccessChoice({ value, note = "", onChange }: AccessChoiceProps) {
  return (
    <Choice
      label="Access"
      hint={`${accessMeaning[value]} ${note}`.trim()}
      options={[
        ["public", "Public"],
        ["private", "Private"],
      ]}
      value={value}
      onChange={(access) => onChange(access as Access)}
    />
  );
}
