import type { Access } from "./files.ts";
export interface ProjectListItem {
  _id: string;
  name: string;
  slug: string;
  userId: string;
  createdAt: string;
}

export interface Project extends ProjectListItem {
  updatedAt: string;
}

export interface CreateProjectBody {
  name: string;
  /** Types of keys to create with the project, each once. */
  createKeys?: KeyType[];
}

/** A key created together with its project. */
export interface ProjectKey {
  id: string;
  type: KeyType;
  /** Masked, such as `svc_live_Ab3d…`. */
  prefix: string;
  /** Shown only once; absent when a repeated call is replayed. */
  secret?: string;
}

export interface CreatedProject {
  project: Project;
  /** Present if `createKeys` was sent. */
  keys?: ProjectKey[];
}

export interface UpdateProjectBody {
  name?: string;
}

export type KeyType = "live" | "test";

export interface ApiKey {
  id: string;
  projectId: string;
  name: string;
  type: KeyType;
  /** Masked, such as `svc_live_Ab3d…`. */
  prefix: string;
  lastUsedAt: string | null;
  createdAt: string;
}

export interface CreateKeyBody {
  name?: string;
  type?: KeyType;
}

export interface CreatedKey {
  key: ApiKey;
  /** Shown only once; absent when a repeated call is replayed. */
  secret?: string;
}

export interface Router {
  id: string;
  projectId: string;
  slug: string;
  /** `type/subtype` or `type/*`; empty means every type. */
  allowedTypes: string[];
  /** Bytes. */
  maxFileSize: number | null;
  webhookUrl: string | null;
  environment: "all" | KeyType;
  /** Of files that are uploaded to it from now on. */
  access: Access;
  createdAt: string;
  updatedAt: string;
}

export interface CreateRouterBody {
  slug: string;
  allowedTypes?: string[];
  maxFileSize?: number | null;
  webhookUrl?: string | null;
  environment?: "all" | KeyType;
  /** `public` unless given. */
  access?: Access;
}

export type UpdateRouterBody = Partial<CreateRouterBody>;
