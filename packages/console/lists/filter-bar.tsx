import { Input, Select } from '@cloudscape-design/components';
import { type ReactNode, useEffect, useEffectEvent, useState } from 'react';

/** Filters beside each other, as far as the window is wide enough. */
export function FilterBar({ children }: { children: ReactNode }) {
  return <div className="filters">{children}</div>;
}

interface ChoiceProps {
  label: string;
  /** What the filter shows if nothing is chosen. */
  all: string;
  /** From the address. One that is not among the options filters nothing. */
  value: string | null;
  options: readonly { value: string; label: string }[];
  onChange: (value: string | undefined) => void;
}

export function ChoiceFilter({ label, all, value, options, onChange }: ChoiceProps) {
  const choices = [{ value: '', label: all }, ...options];
  return (
    <div className="filter">
      <Select
        ariaLabel={label}
        selectedOption={choices.find((choice) => choice.value === value) ?? { value: '', label: all }}
        options={choices}
        onChange={({ detail }) => onChange(detail.selectedOption.value || undefined)}
      />
    </div>
  );
}

interface TextProps {
  label: string;
  value: string | null;
  /** `replace` if the user goes on typing: all of it is one step for the browser's back. */
  onChange: (value: string | undefined, how: { replace: boolean }) => void;
}

const pauseInMilliseconds = 400;

/** A filter of text. It takes effect after a pause in typing. */
export function TextFilter({ label, value, onChange }: TextProps) {
  const [typed, setTyped] = useState(value ?? '');
  const [known, setKnown] = useState(value);
  /** The value that the user has typed since the field got the focus. */
  const [own, setOwn] = useState<string | null>();
  if (known !== value) {
    // The address has changed, such as by the browser's back.
    setKnown(value);
    setTyped(value ?? '');
  }
  const take = useEffectEvent(() => {
    const next = typed.trim() || undefined;
    onChange(next, { replace: own === value });
    setOwn(next ?? null);
  });
  useEffect(() => {
    if (typed === (value ?? '')) return undefined;
    const timer = setTimeout(() => take(), pauseInMilliseconds);
    return () => clearTimeout(timer);
  }, [typed, value]);
  return (
    <div className="filter">
      <Input
        type="search"
        ariaLabel={label}
        placeholder={label}
        value={typed}
        onChange={({ detail }) => setTyped(detail.value)}
        onFocus={() => setOwn(undefined)}
      />
    </div>
  );
}
