import type { Static } from "typebox";
import { PROJECT_NAME_MAX } from "../limits.ts";
import Type from "../type.ts";
import { Timestamp } from "./shared.ts";

const projectName = Type.String({ minLength: 1, maxLength: PROJECT_NAME_MAX });

export const ProjectListItem = Type.Object({
  _id: Type.String(),
  name: Type.String(),
  slug: Type.String(),
  userId: Type.String(),
  createdAt: Timestamp,
});
export const Project = Type.Object({ ...ProjectListItem.properties, updatedAt: Timestamp });

export const CreateProjectBody = Type.Object({ name: projectName });
export const UpdateProjectBody = Type.Object({ name: Type.Optional(projectName) });

export type Project = Static<typeof Project>;
export type ProjectListItem = Static<typeof ProjectListItem>;
