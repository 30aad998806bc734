/** The machine lacks a program or a right that the scenario needs. */
export class NotPossible extends Error {}
