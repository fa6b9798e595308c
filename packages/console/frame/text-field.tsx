import { FormField, Input, type InputProps, Textarea, type TextareaProps } from '@cloudscape-design/components';
import type { ComponentProps } from 'react';

type OfField = Pick<ComponentProps<typeof FormField>, 'description' | 'constraintText' | 'errorText' | 'warningText' | 'stretch'>;
type OfText = Pick<TextareaProps, 'placeholder' | 'disabled' | 'ariaRequired' | 'spellcheck' | 'autoComplete' | 'onKeyDown'>;

interface Props extends OfField, OfText, Pick<InputProps, 'inputMode'> {
  label: string;
  /** The text, and the function that is called with a changed text. */
  text: readonly [text: string, change: (text: string) => void];
  /** The number of lines that are shown of a longer text. Default: the text has one line. */
  rows?: number;
}

/** Shows a field of a form that takes text. */
export function TextField({ label, description, constraintText, errorText, warningText, stretch, text, rows, ...given }: Props) {
  const [value, change] = text;
  const props = { ...given, value, onChange: ({ detail }: { detail: { value: string } }) => change(detail.value) };
  return (
    <FormField {...{ label, description, constraintText, errorText, warningText }} stretch={stretch ?? false}>
      {rows === undefined ? <Input {...props} /> : <Textarea {...props} rows={rows} />}
    </FormField>
  );
}
