import type { ProjectItem } from "../../workspace.ts";

export type Role = ProjectItem["role"];

export const roleHints: Record<Role, string> = {
  owner: "full access, including members",
  developer: "files, routes, keys and webhooks",
  viewer: "read-only",
};
export const roleLabels: Record<Role, string> = {
  owner: "Owner",
  developer: "Developer",
  viewer: "Viewer",
};
const roles: Role[] = ["owner", "developer", "viewer"];

export function RoleSelect(props: {
  id?: string;
  label?: string;
  value: Role;
  isDisabled?: boolean;
  onChange: (role: Role) => void;
}) {
  return (
    <select
      id={props.id}
      aria-label={props.label}
      disabled={props.isDisabled}
      value={props.value}
      onChange={(event) => props.onChange(roles.find((role) => role === event.target.value) ?? "viewer")}
    >
      {roles.map((role) => (
        <option key={role} value={role}>
          {roleLabels[role]}
        </option>
      ))}
    </select>
  );
}
