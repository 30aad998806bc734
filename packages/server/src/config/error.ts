/** A value that the operator has to correct; its message is the one line they see. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}
