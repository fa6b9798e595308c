import { CopyToClipboard } from '@cloudscape-design/components';
import { type Fact, hashGroups } from 'computation-management-words';
import { Fragment } from 'react';
import { StatusIndicator } from './status.tsx';

/**
 * Shows a hash or an identifier with a button that copies it.
 * @param what the words for the shown value, such as `hash of penguins.csv`
 * @param isWhole true to show the whole value instead of its beginning and its end
 */
export function Hash({ value, what, isWhole = false }: { value: string | null | undefined; what: string; isWhole?: boolean }) {
  if (!value) return <>-</>;
  const text = isWhole || value.length <= 20 ? value : `${value.slice(0, 8)}…${value.slice(-8)}`;
  return (
    <span className={isWhole ? 'hash' : 'hash hash-short'} title={value}>
      <Groups of={text} />{' '}
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

/** Shows a whole hash in groups of eight characters, and any other text as it is. */
export function Groups({ of }: { of: string }) {
  if (!/^[0-9a-f]{64,}$/.test(of)) return of;
  return (
    <span className="groups">
      {hashGroups(of).map((group, index) => (
        <Fragment key={index}>
          <span>{group}</span>
          <wbr />
        </Fragment>
      ))}
    </span>
  );
}

/** Shows lines of text whose words may be long, such as addresses. */
export function Lines({ of }: { of: readonly string[] }) {
  return of.map((line) => (
    <div key={line} className="long-words">
      <bdi>
        {line.split(/(?=\b[0-9a-f]{64,}$)/).map((part) => (
          <Groups key={part} of={part} />
        ))}
      </bdi>
    </div>
  ));
}

/** Returns the facts of a configuration as items of Cloudscape's key-value pairs. */
export function factItems(facts: readonly Fact[]) {
  return facts.map(({ label, lines, mark, pem }) => ({
    label,
    value:
      pem !== undefined ? (
        <pre className="json name">{pem}</pre>
      ) : mark ? (
        <StatusIndicator type={mark === 'risk' ? 'warning' : 'success'}>{lines.join(', ')}</StatusIndicator>
      ) : (
        <Lines of={lines} />
      ),
  }));
}
