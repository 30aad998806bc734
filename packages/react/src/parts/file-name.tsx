/** Cuts a long name in the middle, because its ending is what people look for. */
export function FileName({ name, className = "us-name" }: { name: string; className?: string }) {
  const cut = Math.max(0, name.length - 9);
  return (
    <bdi className={className} title={name}>
      <span className="us-name-head">{name.slice(0, cut)}</span>
      <span>{name.slice(cut)}</span>
    </bdi>
  );
}
