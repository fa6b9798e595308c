import type { Fact } from 'computation-management-words';
import { Lines } from './hash.tsx';
import { StatusIndicator } from './status.tsx';

/** Returns the facts of a configuration as items of key-value pairs. */
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
