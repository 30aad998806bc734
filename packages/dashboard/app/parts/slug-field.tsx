/** Before what cannot be undone. The slug and not the name: a name may hold characters that nobody can type. */
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
