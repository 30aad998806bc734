import { OperatorError } from "./command.ts";

/** Of one name, on all disks in use. */
const longestNameBytes = 255;
/** On Windows these are devices in every folder, with any extension. */
const deviceName = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\.|$)/i;

/** They make a name show as another one: "a\u202Etxt.exe" is read as "aexe.txt". */
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
  if (name === "") return "is that of a folder";
  if (name.startsWith(".")) return "begins with a dot";
  if (deviceName.test(name)) return "is that of a device on Windows";
  if (invisible.test(name)) return "has characters that cannot be seen";
  return Buffer.byteLength(name) > longestNameBytes ? `has more than ${longestNameBytes} bytes` : null;
}
