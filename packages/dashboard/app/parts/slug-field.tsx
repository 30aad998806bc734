/** Confirms an action that can't be undone. Uses the slug, because a name may contain characters that can't be typed. */
export function SlugField(props: { slug: string; value: string; onChange: (typed: string) => void }) {
  return (
    <label>
      <span>
        Type <code>{props.slug}</code> to confirm
      </span>
      <input
        autoComplete="off"
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      />
    </label>
  );
}
