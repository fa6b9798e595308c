import { Button } from '@cloudscape-design/components';
import { page } from 'computation-management-client';
import { userText } from 'computation-management-words';
import { useState } from 'react';
import { useDomain } from '../access/index.ts';
import { TextField } from '../frame/index.ts';
import { useLoaded } from '../loading/index.ts';
import { namesIn } from '../show/index.ts';
import { type Seen, userNotes } from './form-notes.ts';

/** Reads the users who own the newest 100 computations of the domain, or created its newest 100 assets. */
export function useSeen(): Seen | undefined {
  const { client, domain, me } = useDomain();
  return useLoaded(domain, async (signal) => {
    const [computations, assets] = await Promise.all([
      page(client, 'listComputations', { limit: 100, signal }),
      page(client, 'listAssets', { limit: 100, signal }),
    ]);
    const owners = computations.items.map(({ owner }) => owner);
    const users = [...new Set([me.user, ...owners, ...assets.items.map(({ created_by }) => created_by)])];
    return { users, isWhole: computations.total <= 100 && assets.total <= 100 };
  }).value;
}

const mostOffered = 6;

interface Props {
  label: string;
  description: string;
  users: readonly string[];
  seen: Seen | undefined;
  error: string | undefined;
  onChange: (users: string[]) => void;
}

/** Shows a field for users, which offers those who were seen in the domain, and marks those who may be a mistake. */
export function UserField({ label, description, users, seen, error, onChange }: Props) {
  const [value, setValue] = useState(users.join('\n'));
  const names = namesIn(value);
  const typed = value.split(/[,\n]/).at(-1)?.trim() ?? '';
  const isTyping = typed !== '' && !seen?.users.includes(typed);
  const offered = (seen?.users ?? [])
    .filter((user) => !names.includes(user) && (!isTyping || user.startsWith(typed)))
    .slice(0, mostOffered);
  const type = (text: string) => {
    setValue(text);
    onChange(namesIn(text));
  };
  const add = (user: string) => type([...(isTyping ? names.slice(0, -1) : names), user].join('\n'));
  return (
    <TextField
      label={label}
      description={description}
      errorText={error}
      warningText={userNotes(names, seen).join(' ')}
      constraintText={
        offered.length > 0 && (
          <span className="row">
            Add:
            {offered.map((user) => (
              <Button key={user} variant="inline-link" formAction="none" onClick={() => add(user)}>
                {userText(user)}
              </Button>
            ))}
          </span>
        )
      }
      rows={3}
      text={[value, type]}
    />
  );
}
