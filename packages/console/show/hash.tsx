import CopyToClipboard from '@cloudscape-design/components/copy-to-clipboard';

interface Props {
  value: string | null | undefined;
  /** What it is, such as `hash of penguins.csv`. */
  what: string;
  /** Shows all of it instead of its beginning and its end. */
  isWhole?: boolean;
}

/** A hash or an identifier, to be copied. */
export function Hash({ value, what, isWhole = false }: Props) {
  if (!value) return <>-</>;
  const text = isWhole || value.length <= 20 ? value : `${value.slice(0, 8)}…${value.slice(-8)}`;
  return (
    <span className={isWhole ? 'hash' : 'hash hash-short'} title={value}>
      {text}{' '}
      <CopyToClipboard
        variant="icon"
        textToCopy={value}
        copyButtonAriaLabel={`Copy the ${what}`}
        copySuccessText="Copied"
        copyErrorText="Not copied"
      />
    </span>
  );
}
