const units = ["B", "KB", "MB", "GB", "TB"];

export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1024)));
  const amount = bytes / 1024 ** power;
  return `${amount >= 100 || power === 0 ? Math.round(amount) : amount.toFixed(1)} ${units[power]}`;
}

export function countFiles(count: number): string {
  return `${count} ${count === 1 ? "file" : "files"}`;
}

export function formatDuration(seconds: number): string {
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  const twoDigits = (amount: number) => String(amount).padStart(2, "0");
  return `${hours === 0 ? minutes : `${hours}:${twoDigits(minutes)}`}:${twoDigits(whole % 60)}`;
}

/** Names chosen by others and server responses must not control the terminal. */
export function clean(text: string): string {
  return text.replaceAll(/\s+/g, " ").replaceAll(/[\p{Cc}\p{Cf}]/gu, "\ufffd");
}

/** For text that is already laid out: characters that hide or reorder others, such as U+202E, are replaced. */
export function withoutMarks(text: string): string {
  return text.replaceAll(/\p{Cf}/gu, "\ufffd");
}

/** JSON that means the same, with those characters escaped. */
export function printableJson(value: unknown): string {
  return JSON.stringify(value).replaceAll(/\p{Cf}/gu, (mark) =>
    mark
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join(""),
  );
}

/** Pads columns to their widest cell, except the last. */
export function formatColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}
