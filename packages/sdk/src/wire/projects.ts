import type { Access } from "./files.ts";
import type { TransformOptions } from "./transforms.ts";

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

/** The variants of public files that `/i/` serves without a signature. */
export interface ImageSettings {
  /** Widths, or heights of variants without a width. */
  imageWidths: number[];
  imageQualities: number[];
  /** Named variants, at `/i/<name>/<key>`. */
  imagePresets: Record<string, TransformOptions>;
}

interface ProjectSettings extends ImageSettings {
  /** Days that deleted files can be restored, up to 90; 0 removes them immediately. */
  trashDays: number;
}

export interface ProjectWithSettings extends Project, ProjectSettings {}

export interface UpdateProjectBody extends Partial<ProjectSettings> {
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
  /** Days after which new uploads are deleted, unless their request says otherwise; null keeps them. */
  expireAfterDays: number | null;
  /** Seconds after its completion within which an upload has to be claimed or is deleted; null needs no claim. */
  claimWithin: number | null;
  /** Whether facts of images include where they were taken. */
  keepLocation: boolean;
  /** What happens to files whose bytes differ from their declared type or the route's types. */
  checkContent: "off" | "warn" | "enforce";
  /** Which metadata is overwritten in JPEG, PNG and WebP files before they are confirmed. */
  stripMetadata: "off" | "gps" | "all";
  /** Whether files are scanned for viruses before anyone can read them. */
  scan: boolean;
  /** What happens to files too large for the scanner. */
  scanUnknown: "allow" | "refuse";
  /** Origins that a form's `success_redirect` may point to. */
  formOrigins: string[];
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
  /** Days after which new uploads are deleted, unless their request says otherwise. */
  expireAfterDays?: number | null;
  /** Seconds after its completion within which an upload has to be claimed or is deleted. */
  claimWithin?: number | null;
  /** Keep where a picture was taken in its facts. Default: false. */
  keepLocation?: boolean;
  /** Compares bytes with the declared type and the route's types: logs or rejects differences. Default: `off`. */
  checkContent?: "off" | "warn" | "enforce";
  /** Overwrites metadata in JPEG, PNG and WebP files: where they were taken, or all of it. Default: `off`. */
  stripMetadata?: "off" | "gps" | "all";
  /** Nobody can read a file until it was scanned for viruses; infected files are deleted. Default: false. */
  scan?: boolean;
  /** What happens to files too large for the scanner. Default: `refuse`. */
  scanUnknown?: "allow" | "refuse";
  /** Origins that a form's `success_redirect` may point to. */
  formOrigins?: string[];
}

export type UpdateRouterBody = Partial<CreateRouterBody>;
