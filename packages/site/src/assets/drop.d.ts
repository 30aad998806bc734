/** Such as "1 KB" and "1.5 GB", the same in pages and in their scripts. */
export function formatSize(bytes: number): string;
