/** Marks a private file or route. */
export function Lock() {
  return (
    <svg className="lock" role="img" viewBox="0 0 16 16" fill="none" stroke="currentColor" strokeWidth="1.5">
      <title>Private</title>
      <rect x="3" y="7" width="10" height="7" rx="1.5" />
      <path d="M5.5 7V4.5a2.5 2.5 0 0 1 5 0V7" />
    </svg>
  );
}
