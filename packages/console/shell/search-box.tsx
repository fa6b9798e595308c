import { Autosuggest, type AutosuggestProps } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { userText } from 'computation-management-words';
import { useState } from 'react';
import { useDomain } from '../access/index.ts';
import { problemText, useLoaded } from '../loading/index.ts';
import { addressOf, navigate } from '../routing/index.ts';

type Match = Schemas['Match'];

const kinds = { computation: 'Computations', asset: 'Assets', cvm: 'CVMs' } satisfies Record<Match['kind'], string>;
const longestQuery = 200;
const nothing: Schemas['Matches'] = { matches: [], truncated: false };
const moreText = 'There may be more. Type more of the name, or the whole identifier.';

/** Shows a field that finds computations, assets and CVMs of the domain, and goes to the chosen one. */
export default function SearchBox() {
  const { client, domain } = useDomain();
  const [typed, setTyped] = useState('');
  const [asked, setAsked] = useState('');
  const found = useLoaded(`${domain} ${asked}`, async (signal) =>
    asked === '' ? nothing : await client.find({ q: asked, limit: 20, signal }),
  );
  const isBehind = found.isLoading || queryOf(typed) !== asked;
  const go = ({ id, kind }: Pick<Match, 'id' | 'kind'>) => {
    setTyped('');
    navigate(addressOf(kind === 'cvm' ? { screen: 'cvm', domain, cvm: id } : { screen: kind, domain, id }));
  };
  return (
    <Autosuggest
      ariaLabel="Find computations, assets and CVMs"
      placeholder="Name, file, checksum or identifier"
      virtualScroll={false}
      filteringType="manual"
      value={typed}
      options={isBehind ? [] : optionsOf(found.value?.matches ?? [])}
      statusType={asked === '' ? 'finished' : found.problem !== undefined ? 'error' : isBehind ? 'loading' : 'finished'}
      loadingText="Searching"
      errorText={found.problem === undefined ? '' : problemText(found.problem).detail}
      recoveryText="Retry"
      empty="Type words of the name, or their beginnings."
      {...(found.value?.truncated === true
        ? { finishedText: moreText }
        : found.value?.matches.length === 0 && { finishedText: 'Nothing was found. Words match from their beginning.' })}
      hideEnteredTextOption
      onChange={({ detail: { value } }) => setTyped(value)}
      onLoadItems={({ detail: { filteringText, samePage } }) => (samePage ? found.reload() : setAsked(queryOf(filteringText)))}
      onSelect={({ detail: { selectedOption } }) => {
        // Enter without a choice leads to the best match, if the answer is there.
        const [kind, id] = selectedOption?.value?.split(' ') ?? [];
        const chosen = isBehind
          ? undefined
          : found.value?.matches.find((match) => !id || (match.kind === kind && match.id === id));
        if (chosen) go(chosen);
      }}
    />
  );
}

function queryOf(text: string): string {
  return Array.from(text.trim()).slice(0, longestQuery).join('');
}

/** Groups matches of the search by their kind, in the order of the best match of each kind. */
function optionsOf(matches: readonly Match[]): AutosuggestProps.Options {
  return [...Map.groupBy(matches, ({ kind }) => kind)].map(([kind, ofKind]) => ({
    label: kinds[kind],
    options: ofKind.map(({ id, name, owner, matched }) => ({
      value: `${kind} ${id}`,
      label: name,
      tags: [
        ...(owner === null ? [] : [`of ${userText(owner)}`]),
        ...(matched === 'name' ? [] : [matched === 'id' ? `Identifier ${id}` : 'By its checksum']),
      ],
      ...(kind !== 'cvm' && { labelTag: id.slice(-8) }),
    })),
  }));
}
