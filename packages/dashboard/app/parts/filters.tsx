import { SEARCH_TERM_MAX } from "@upstow/contract";
import { Icon } from "@upstow/kit/icon";
import { searchIcon } from "@upstow/kit/icons";
import type { ReactNode } from "react";

interface FiltersProps {
  /** Left out where nothing is filtered. */
  onClear?: (() => void) | undefined;
  /** Less common filters, behind a disclosure. */
  more?: { label: string; isOpen: boolean; fields: ReactNode };
  children: ReactNode;
}

/** A list's filters, in one line above it. */
export function Filters({ onClear, more, children }: FiltersProps) {
  return (
    <search className="filters">
      {children}
      {onClear !== undefined && (
        <button type="button" onClick={onClear}>
          Clear
        </button>
      )}
      {more !== undefined && (
        <details className="more-filters" open={more.isOpen || undefined}>
          <summary>{more.label}</summary>
          <div className="fields">{more.fields}</div>
        </details>
      )}
    </search>
  );
}

interface SearchBoxProps {
  label: string;
  placeholder?: string;
  value: string;
  onChange: (value: string) => void;
}

export function SearchBox({ label, placeholder = label, value, onChange }: SearchBoxProps) {
  return (
    <span className="search-box">
      <Icon of={searchIcon} />
      <input
        type="search"
        aria-label={label}
        placeholder={placeholder}
        maxLength={SEARCH_TERM_MAX}
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </span>
  );
}
