// When a process dies, the files after the one at fault are not run.
const LARGEST_GROUP = 16;

const totalOf = (files, durationOf) => files.reduce((sum, file) => sum + durationOf(file), 0);

/**
 * Decides which test files run in one process: those that share are spread over groups that take about as long.
 * @param {string[]} files
 * @param {{ sharesProcess: (file: string) => boolean, durationOf: (file: string) => number, concurrency: number }} options
 * @returns {string[][]} the files of each process, the longest first, so that it is not left running alone at the end
 */
export function planProcesses(files, { sharesProcess, durationOf, concurrency }) {
  const byDuration = (a, b) => totalOf(b, durationOf) - totalOf(a, durationOf) || a[0].localeCompare(b[0]);
  const shared = files.filter(sharesProcess);
  const alone = files.filter((file) => !shared.includes(file)).map((file) => [file]);
  const groupCount = Math.min(shared.length, Math.max(concurrency, Math.ceil(shared.length / LARGEST_GROUP)));
  const groups = Array.from({ length: groupCount }, () => []);
  for (const [file] of shared.map((file) => [file]).sort(byDuration)) {
    const shortest = groups.reduce((a, b) => (totalOf(b, durationOf) < totalOf(a, durationOf) ? b : a));
    shortest.push(file);
  }
  return [...alone, ...groups].sort(byDuration);
}
