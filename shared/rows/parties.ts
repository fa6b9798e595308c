import type { Party, StoredComputation } from './computation.ts';
import type { Definition } from './definition.ts';

interface Files {
  algorithm: { created_by: string } | undefined;
  datasets: { created_by: string }[];
}

/**
 * Returns the users who take part in a computation and those whom it names: the owner, then providers in the order of their links,
 * named providers, named consumers, and the users whose key made them consumers.
 */
export function partiesOf(
  { owner }: Pick<StoredComputation, 'owner'>,
  { algorithm, datasets, providers, consumers, acts }: Pick<Definition, 'providers' | 'consumers' | 'acts'> & Files,
): Party[] {
  const creators = [...(algorithm ? [algorithm] : []), ...datasets].map(({ created_by }) => created_by);
  const byKey = acts.filter(({ is_consumer }) => is_consumer).map(({ user_id }) => user_id);
  const parts = {
    owner: new Set([owner]),
    provider: new Set([...creators, ...providers]),
    consumer: new Set([owner, ...(consumers.length > 0 ? consumers : byKey)]),
  };
  const named = [...providers, ...consumers];
  const active = new Set([owner, ...acts.map(({ user_id }) => user_id)]);
  return [...new Set([owner, ...parts.provider, ...parts.consumer])].map((user) => ({
    user,
    parts: (['owner', 'provider', 'consumer'] as const).filter((part) => parts[part].has(user)),
    invited: named.includes(user) && !active.has(user),
  }));
}
