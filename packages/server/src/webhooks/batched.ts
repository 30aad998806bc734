const largestBatch = 64;

interface Waiting<In, Out> {
  input: In;
  resolve: (output: Out) => void;
  reject: (reason: unknown) => void;
}

/**
 * Lets calls share one piece of work: whatever arrives while a batch runs forms the next one. Alone, a call hardly
 * waits; under load, one commit serves many.
 */
export function createBatched<In, Out>(work: (inputs: In[]) => Promise<Out[]>): (input: In) => Promise<Out> {
  let waiting: Waiting<In, Out>[] = [];
  let isRunning = false;

  async function run(): Promise<void> {
    isRunning = true;
    // Calls of the same turn of the event loop belong together.
    await new Promise((resolve) => setImmediate(resolve));
    while (waiting.length > 0) {
      const batch = waiting.slice(0, largestBatch);
      waiting = waiting.slice(largestBatch);
      try {
        const outputs = await work(batch.map(({ input }) => input));
        batch.forEach(({ resolve }, i) => {
          resolve(outputs[i] as Out);
        });
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    isRunning = false;
  }

  return (input) =>
    new Promise<Out>((resolve, reject) => {
      waiting.push({ input, resolve, reject });
      if (!isRunning) run();
    });
}
