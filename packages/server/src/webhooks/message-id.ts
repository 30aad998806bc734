/** What receivers know a message by, in every attempt and redelivery. */
export function messageIdOf(id: string): string {
  return `msg_${id}`;
}
