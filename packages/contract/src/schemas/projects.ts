import type { Static } from "typebox";
import { PROJECT_NAME_MAX, TRASH_MAX_DAYS } from "../limits.ts";
import Type from "../type.ts";
import { ENVIRONMENTS } from "../vocabulary.ts";
import { StringEnum, Timestamp } from "./shared.ts";
import { imageSettings } from "./transforms.ts";

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
const settings = {
  trashDays: Type.Integer({
    minimum: 0,
    maximum: TRASH_MAX_DAYS,
    description: "days that deleted files can be restored; 0 removes them immediately",
  }),
  ...imageSettings,
};
export const ProjectWithSettings = Type.Object({ ...Project.properties, ...settings });
export const UpdateProjectBody = Type.Partial(Type.Object({ name: projectName, ...settings }));

export type Project = Static<typeof Project>;
export type ProjectListItem = Static<typeof ProjectListItem>;
export type ProjectWithSettings = Static<typeof ProjectWithSettings>;
export type UpdateProjectBody = Static<typeof UpdateProjectBody>;
export type CreateProjectBody = Static<typeof CreateProjectBody>;
export type CreatedProject = Static<typeof CreatedProject>;
export type ProjectKey = Static<typeof ProjectKey>;
