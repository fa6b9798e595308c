import type { StatusIndicatorProps } from '@cloudscape-design/components';
import type { ChangeCard, MarkedText } from 'computation-management-words';
import { StatusIndicator } from '../show/status.tsx';
import { Ago } from '../show/time.tsx';

const looks: Record<ChangeCard['effect'], { type: StatusIndicatorProps.Type; text: string }> = {
  weaker: { type: 'warning', text: 'Weaker' },
  stricter: { type: 'success', text: 'Stricter' },
  changed: { type: 'info', text: 'Changed' },
};

/** Shows a card for each change since an approval, the most harmful first: who changed what, what was approved, and what is there now. */
export function ChangeCards({ of }: { of: readonly ChangeCard[] }) {
  return (
    of.length > 0 && (
      <ul className="plain stack" aria-label="What has changed since your approval">
        {of.map(({ sentence, effect, approved, current, at, warning }) => (
          <li key={sentence} className={`change ${effect} long-words`}>
            <StatusIndicator type={looks[effect].type}>{looks[effect].text}</StatusIndicator>
            <div>
              <strong>{sentence}</strong>
              {at !== undefined && (
                <>
                  , <Ago at={at} />
                </>
              )}
            </div>
            {warning !== undefined && <StatusIndicator type="error">{warning}</StatusIndicator>}
            {(approved ?? current) && (
              <dl>
                <Side label="You approved" of={approved} />
                <Side label="Now" of={current} />
              </dl>
            )}
          </li>
        ))}
      </ul>
    )
  );
}

function Side({ label, of }: { label: string; of: MarkedText | null }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {of
          ? of.map(({ text, differs }, index) => (differs ? <mark key={index}>{text}</mark> : <span key={index}>{text}</span>))
          : 'Nothing'}
      </dd>
    </div>
  );
}
