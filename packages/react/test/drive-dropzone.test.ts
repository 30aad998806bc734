import { everyComponentOf } from "./support/every-component.ts";

everyComponentOf("dropzone");
