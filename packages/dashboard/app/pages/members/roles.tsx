import type { ProjectItem } from "../../workspace.ts";

export type Role = ProjectItem["role"];

export const roleHints: Record<Role, string> = {
  owner: "everything, and who else is a member",
  developer: "files, routes, keys and webhooks",
  viewer: "sees it all, changes nothing",
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
        <option key={role}>{role}</option>
      ))}
    </select>
  );
}
