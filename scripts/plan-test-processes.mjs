// When a process dies, the files after the one at fault are not run.
const LARGEST_GROUP = 60;
// A process loads the service and first runs all its code slowly: two seconds of processor time, as often as there are
// processes.
const LONGEST_GROUP_MS = 300_000;
// The last processes are small ones, so that no processor is idle at the end.
const SHORTEST_GROUP_MS = 60_000;

const totalOf = (files, durationOf) => files.reduce((sum, file) => sum + durationOf(file), 0);

/**
 * Decides which test files run in one process: neighbours do, because they mostly load the same modules, and need a
 * browser or none.
 * @param {string[]} files
 * @param {{ sharesProcess: (file: string) => boolean, durationOf: (file: string) => number, concurrency: number }} options
 *   durations in milliseconds
 * @returns {string[][]} the files of each process, the longest first, so that it is not left running alone at the end
 */
export function planProcesses(files, { sharesProcess, durationOf, concurrency }) {
  const totalMs = totalOf(files, durationOf);
  const shareOf = (leftMs) =>
    Math.min(LONGEST_GROUP_MS, totalMs / concurrency, Math.max(SHORTEST_GROUP_MS, leftMs / concurrency));
  const processes = [];
  let group = [];
  let longestMs = 0;
  let leftMs = totalMs;
  for (const file of files.toSorted()) {
    if (!sharesProcess(file)) {
      processes.push([file]);
    } else {
      const isFull = group.length === LARGEST_GROUP || totalOf([...group, file], durationOf) > longestMs;
      if (group.length === 0 || isFull) {
        group = [];
        processes.push(group);
        longestMs = shareOf(leftMs);
      }
      group.push(file);
    }
    leftMs -= durationOf(file);
  }
  return processes.sort((a, b) => totalOf(b, durationOf) - totalOf(a, durationOf));
}
