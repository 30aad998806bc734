const keysAtOnce = 100;

/** Calls take this many keys at once. */
export async function inBatches<Answer>(
  all: readonly string[],
  work: (batch: string[]) => Promise<Answer>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let at = 0; at < all.length; at += keysAtOnce)
    answers.push(await work(all.slice(at, at + keysAtOnce)));
  return answers;
}
