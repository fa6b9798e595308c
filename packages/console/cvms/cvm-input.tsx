import { Autosuggest } from '@cloudscape-design/components';
import { page } from 'computation-management-client';
import { problemText, useLoaded } from '../loading/index.ts';
import { useDomain } from '../access/index.ts';
import { presenceWords } from './presence.tsx';

/** Shows a field that names a CVM: one of the newest 100 registered CVMs, or any other by its identifier. */
export function CvmInput({ value, onChange }: { value: string; onChange: (cvm: string) => void }) {
  const { client, domain } = useDomain();
  const loaded = useLoaded(domain, (signal) => page(client, 'listCvms', { limit: 100, signal }));
  const options = (loaded.value?.items ?? []).map(({ id, description, presence }) => ({
    value: id,
    description,
    tags: presenceWords(presence),
    disabled: presence.state === 'disconnected' || presence.fit === 'spent',
  }));
  return (
    <Autosuggest
      value={value}
      options={options}
      onChange={({ detail }) => onChange(detail.value)}
      enteredTextLabel={(text) => `Use the CVM ${text}`}
      placeholder="Choose a registered CVM, or type an identifier"
      empty="No CVM is registered. Type the identifier of one."
      statusType={loaded.problem !== undefined ? 'error' : loaded.isLoading ? 'loading' : 'finished'}
      loadingText="Loading CVMs"
      errorText={loaded.problem === undefined ? '' : problemText(loaded.problem).detail}
      recoveryText="Retry"
      onLoadItems={({ detail }) => {
        if (detail.samePage) loaded.reload();
      }}
    />
  );
}
