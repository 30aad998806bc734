import type { Static } from "typebox";
import { PROJECT_NAME_MAX } from "../limits.ts";
import Type from "../type.ts";
import { ENVIRONMENTS } from "../vocabulary.ts";
import { StringEnum, Timestamp } from "./shared.ts";

const projectName = Type.String({ minLength: 1, maxLength: PROJECT_NAME_MAX });

export const ProjectListItem = Type.Object({
  _id: Type.String(),
  name: Type.String(),
  slug: Type.String(),
  userId: Type.String(),
  createdAt: Timestamp,
});
export const Project = Type.Object({ ...ProjectListItem.properties, updatedAt: Timestamp });

export const CreateProjectBody = Type.Object({
  name: projectName,
  createKeys: Type.Optional(
    Type.Array(StringEnum(ENVIRONMENTS), {
      uniqueItems: true,
      maxItems: ENVIRONMENTS.length,
      description: "types of keys to create with the project",
    }),
  ),
});

/** A key created together with its project. */
export const ProjectKey = Type.Object({
  id: Type.String(),
  type: StringEnum(ENVIRONMENTS),
  prefix: Type.String({ description: "masked, e.g. svc_live_Ab3d…" }),
  secret: Type.Optional(Type.String({ description: "shown once; omitted when a repeated call is replayed" })),
});

export const CreatedProject = Type.Object({
  project: Project,
  keys: Type.Optional(Type.Array(ProjectKey, { description: "present if createKeys was sent" })),
});
export const UpdateProjectBody = Type.Object({ name: Type.Optional(projectName) });

export type Project = Static<typeof Project>;
export type ProjectListItem = Static<typeof ProjectListItem>;
export type CreateProjectBody = Static<typeof CreateProjectBody>;
export type CreatedProject = Static<typeof CreatedProject>;
export type ProjectKey = Static<typeof ProjectKey>;
