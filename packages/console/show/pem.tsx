import Box from '@cloudscape-design/components/box';

/** A certificate of an agent: its text, or its path inside the CVM. */
export function Pem({ text }: { text: string | undefined }) {
  if (!text) return <>None</>;
  return text.includes('\n') ? <pre className="json">{text}</pre> : <Box variant="code">{text}</Box>;
}
