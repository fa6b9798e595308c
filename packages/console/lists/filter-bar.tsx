import { Input, Select } from '@cloudscape-design/components';
import { useState } from 'react';
import type { LoadedPage } from './use-page.ts';

interface ChoiceProps {
  label: string;
  /** The text of the filter's option that filters nothing. */
  all: string;
  /** The page of the list, whose address has the value of the filter. A value that is not among the options filters nothing. */
  page: Filtered;
  /** The name of the filter's parameter in the address. */
  name: string;
  options: readonly { value: string; label: string }[];
}

type Filtered = Pick<LoadedPage<never>, 'query' | 'change'>;

const mostUnfiltered = 10;

/** Shows a filter of a list that offers the values to choose from. */
export function ChoiceFilter({ label, all, page, name, options }: ChoiceProps) {
  const choices = [{ value: '', label: all }, ...options];
  return (
    <div className="filter">
      <Select
        ariaLabel={label}
        filteringType={choices.length > mostUnfiltered ? 'auto' : 'none'}
        filteringAriaLabel={`Find: ${label}`}
        selectedOption={choices.find((choice) => choice.value === page.query.get(name)) ?? { value: '', label: all }}
        options={choices}
        onChange={({ detail }) => page.change({ [name]: detail.selectedOption.value || undefined })}
      />
    </div>
  );
}

/** Shows a text field that filters a list. The filter takes effect at Enter, or when the focus leaves the field. */
export function TextFilter({ label, page, name }: Pick<ChoiceProps, 'label' | 'page' | 'name'>) {
  const value = page.query.get(name);
  const [typed, setTyped] = useState(value ?? '');
  const [known, setKnown] = useState(value);
  if (known !== value) {
    // The address has changed, such as by the browser's back.
    setKnown(value);
    setTyped(value ?? '');
  }
  const take = () => {
    if (typed.trim() !== (value ?? '')) page.change({ [name]: typed.trim() || undefined });
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
