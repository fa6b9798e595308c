import {
  FormField,
  type FormFieldProps,
  Input,
  type InputProps,
  Textarea,
  type TextareaProps,
} from '@cloudscape-design/components';

type OfField = 'description' | 'constraintText' | 'errorText' | 'warningText' | 'stretch';
type OfText = 'value' | 'placeholder' | 'disabled' | 'ariaRequired' | 'spellcheck' | 'autoComplete' | 'onKeyDown';

interface Props extends Pick<FormFieldProps, OfField>, Pick<TextareaProps, OfText>, Pick<InputProps, 'inputMode'> {
  label: string;
  /** The number of lines that are shown of a longer text. Default: the text has one line. */
  rows?: number;
  onChange: (text: string) => void;
}

/** Shows a field of a form that takes text. */
export function TextField({ label, description, constraintText, errorText, warningText, stretch, rows, ...props }: Props) {
  const { onChange, ...given } = props;
  const text = { ...given, onChange: ({ detail }: { detail: { value: string } }) => onChange(detail.value) };
  return (
    <FormField {...{ label, description, constraintText, errorText, warningText }} stretch={stretch ?? false}>
      {rows === undefined ? <Input {...text} /> : <Textarea {...text} rows={rows} />}
    </FormField>
  );
}
