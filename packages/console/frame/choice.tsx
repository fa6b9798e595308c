import { FormField, type FormFieldProps, RadioGroup, Select } from '@cloudscape-design/components';

interface Props<Value extends string> extends Pick<FormFieldProps, 'description' | 'constraintText'> {
  label: string;
  /** The value that is chosen. Undefined: none of the options is. */
  value: Value | undefined;
  options: readonly { value: Value; label: string; description?: string }[];
  onChange: (value: Value) => void;
  /** True to show a list that opens instead of all options. */
  isList?: boolean;
  isDisabled?: boolean;
  errorText?: string | false | undefined;
}

/** Shows a field of a form that takes one of a few values. */
export function Choice<Value extends string>({ value, options, onChange, isList, isDisabled = false, ...field }: Props<Value>) {
  const choose = (chosen: string | undefined) => {
    const option = options.find((each) => each.value === chosen);
    if (option) onChange(option.value);
  };
  return (
    <FormField {...field}>
      {isList ? (
        <Select
          selectedOption={options.find((option) => option.value === value) ?? null}
          placeholder="Choose"
          options={options}
          onChange={({ detail }) => choose(detail.selectedOption.value)}
        />
      ) : (
        <RadioGroup
          value={value ?? null}
          items={options.map((option) => ({ ...option, disabled: isDisabled }))}
          onChange={({ detail }) => choose(detail.value)}
        />
      )}
    </FormField>
  );
}
