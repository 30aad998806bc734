/** Beside an email address that only the holder of an invitation's link claims as theirs. */
export function Unverified() {
  return (
    <span className="tag" title="It has not been confirmed that this address belongs to the account's owner.">
      unverified
    </span>
  );
}
