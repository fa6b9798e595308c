import { Input, Select } from '@cloudscape-design/components';
import { useState } from 'react';

interface ChoiceProps {
  label: string;
  /** What the filter shows if nothing is chosen. */
  all: string;
  /** From the address. One that is not among the options filters nothing. */
  value: string | null;
  options: readonly { value: string; label: string }[];
  onChange: (value: string | undefined) => void;
}

const mostUnfiltered = 10;

export function ChoiceFilter({ label, all, value, options, onChange }: ChoiceProps) {
  const choices = [{ value: '', label: all }, ...options];
  return (
    <div className="filter">
      <Select
        ariaLabel={label}
        filteringType={choices.length > mostUnfiltered ? 'auto' : 'none'}
        filteringAriaLabel={`Find: ${label}`}
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
  onChange: (value: string | undefined) => void;
}

/** A filter of text. It takes effect at Enter, or when the focus leaves it. */
export function TextFilter({ label, value, onChange }: TextProps) {
  const [typed, setTyped] = useState(value ?? '');
  const [known, setKnown] = useState(value);
  if (known !== value) {
    // The address has changed, such as by the browser's back.
    setKnown(value);
    setTyped(value ?? '');
  }
  const take = () => {
    if (typed.trim() !== (value ?? '')) onChange(typed.trim() || undefined);
  };
  return (
    <div className="filter">
      <Input
        type="search"
        ariaLabel={label}
        placeholder={`${label}, then Enter`}
        value={typed}
        onChange={({ detail }) => setTyped(detail.value)}
        onKeyDown={({ detail }) => detail.key === 'Enter' && take()}
        onBlur={take}
      />
    </div>
  );
}
