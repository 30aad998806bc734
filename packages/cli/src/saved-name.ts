import { OperatorError } from "./command.ts";

/** The limit of every common file system. */
const longestNameBytes = 255;
/** Windows treats these as devices in every folder, with any extension. */
const deviceName = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

/** These make a name display as another one: "a\u202Etxt.exe" reads as "aexe.txt". */
const invisible = /[\p{Cc}\p{Bidi_Control}]/u;

/**
 * The name to save a file under. Whoever uploaded it chose the stored name, so it must not pick a file that a shell or
 * another program reads (.bashrc, .npmrc), nor one outside the folder.
 */
export function savedName(storedName: string): string {
  const name = storedName.replaceAll("\\", "/").split("/").at(-1) ?? "";
  const reason = whyNot(name);
  if (reason === null) return name;
  throw new OperatorError(
    "VALIDATION_ERROR",
    `The stored name ${reason}. Choose the file to write with --output.`,
  );
}

function whyNot(name: string): string | null {
  if (name === "") return "is a folder name";
  if (name.startsWith(".")) return "starts with a dot";
  if (deviceName.test(name)) return "is a device name on Windows";
  if (invisible.test(name)) return "contains invisible characters";
  return Buffer.byteLength(name) > longestNameBytes ? `is longer than ${longestNameBytes} bytes` : null;
}
