/** One argument, whatever is in it: a shell reads nothing between single quotes but their end. */
export function shellQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
