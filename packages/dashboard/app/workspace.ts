import type { Environment } from "@upstow/contract";
import { createContext, useContext } from "react";
import { addressOf } from "./address.ts";

export interface ProjectItem {
  id: string;
  name: string;
  slug: string;
  role: "owner" | "developer" | "viewer";
  /** How long deleted files can be restored; 0 if they can't. */
  trashDays: number;
  createdAt: string;
}

export interface Workspace {
  project: ProjectItem;
  environment: Environment;
  /** The URL of one of its pages, in this environment. */
  urlOf: (page: string) => string;
  /** Base path of the API for this project and environment. */
  api: string;
  /** The same for the live environment, whose rights cover the project's shared things too. */
  liveApi: string;
  mayChange: boolean;
  /** Only the owner may rename and delete the project. */
  isOwner: boolean;
  /** Asks for the list of projects again. */
  reloadProjects: () => void;
}

export const WorkspaceContext = createContext<Workspace | null>(null);

export function useWorkspace(): Workspace {
  const workspace = useContext(WorkspaceContext);
  if (workspace === null) throw new Error("outside of a project");
  return workspace;
}

export function createWorkspace(
  project: ProjectItem,
  environment: Environment,
  reloadProjects: () => void,
): Workspace {
  return {
    project,
    environment,
    urlOf: (page) => addressOf(project.id, environment, page),
    api: `/in/${project.id}/${environment}`,
    liveApi: `/in/${project.id}/live`,
    mayChange: project.role !== "viewer",
    isOwner: project.role === "owner",
    reloadProjects,
  };
}
