// When a process dies, the files after the one at fault are not run.
const LARGEST_GROUP = 16;
// Long enough to be worth the second that a process takes to load the service, short enough to leave no processor idle
// at the end.
const LONGEST_GROUP_MS = 45_000;

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
  const longestMs = Math.min(LONGEST_GROUP_MS, totalOf(files, durationOf) / concurrency);
  const processes = [];
  let group = [];
  for (const file of files.toSorted()) {
    if (!sharesProcess(file)) {
      processes.push([file]);
      continue;
    }
    const isFull = group.length === LARGEST_GROUP || totalOf([...group, file], durationOf) > longestMs;
    if (group.length === 0 || isFull) {
      group = [];
      processes.push(group);
    }
    group.push(file);
  }
  return processes.sort((a, b) => totalOf(b, durationOf) - totalOf(a, durationOf));
}
