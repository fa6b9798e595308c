import { PropertyFilter } from '@cloudscape-design/components';

interface Props {
  label: string;
  /** The filters by the names of their parameters in the address, with the values to choose from. Any other value can be typed. */
  filters: readonly { name: string; label: string; options: readonly { value: string; label: string }[] }[];
  /** The value of each filter that has one. */
  values: Record<string, string | undefined>;
  /** Called with the value of each filter, undefined for none, and the name of the filter that the user set last. */
  onChange: (values: Record<string, string | undefined>, latest: string | undefined) => void;
}

/** Shows one box for all filters of a list, which completes what is typed, such as `Status = failed`. Of each filter, the last value counts. */
export function FilterBox({ label, filters, values, onChange }: Props) {
  const tokens = filters.flatMap(({ name }) => {
    const value = values[name];
    return value === undefined ? [] : [{ propertyKey: name, operator: '=', value }];
  });
  return (
    <PropertyFilter
      filteringAriaLabel={label}
      filteringPlaceholder={label}
      disableFreeTextFiltering
      hideOperations
      query={{ tokens, operation: 'and' }}
      filteringProperties={filters.map(({ name, label: text }) => ({
        key: name,
        propertyLabel: text,
        groupValuesLabel: text,
        operators: ['='],
      }))}
      filteringOptions={filters.flatMap(({ name, options }) => options.map((option) => ({ propertyKey: name, ...option })))}
      onChange={({ detail }) => {
        const given = detail.tokens.map(({ propertyKey = '', value }) => [propertyKey, String(value)] as const);
        const none = filters.map(({ name }) => [name, undefined] as const);
        onChange(Object.fromEntries([...none, ...given]), given.at(-1)?.[0]);
      }}
    />
  );
}
