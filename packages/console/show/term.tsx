import Link from '@cloudscape-design/components/link';
import { useId } from 'react';
import glossary from '../../../docs/glossary.md?raw';

/** Shows a button that explains a word of the glossary. */
export function Term({ of }: { of: 'attestation' | 'digest' | 'manifest' | 'stale' }) {
  const id = useId();
  const [, text = ''] = new RegExp(`^- \\*\\*${of}\\*\\*: (.*(?:\n  .*)*)`, 'm').exec(glossary) ?? [];
  return (
    <>
      <button type="button" className="term" popoverTarget={id} aria-label={`What does ${of} mean?`}>
        ?
      </button>
      <span id={id} popover="auto" className="term-text">
        <strong>{of}</strong>: {text}.{' '}
        <Link href="/help/glossary.html" target="_blank">
          More words
        </Link>
      </span>
    </>
  );
}
