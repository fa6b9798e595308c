import FormField from '@cloudscape-design/components/form-field';
import Link from '@cloudscape-design/components/link';
import { useState } from 'react';
import { AssetSelect } from '../assets/asset-select.tsx';
import { permissions } from '../access/permissions.ts';
import { useAction } from '../loading/use-action.ts';
import { addressOf } from '../routing/places.ts';
import { ConfirmModal } from '../shell/confirm-modal.tsx';
import { useDomain, useFrame } from '../shell/console-context.ts';
import type { Overview } from './load-overview.ts';

interface Props {
  overview: Overview;
  onClose: () => void;
  onLinked: () => void;
}

/** Links one of the assets that the user may link. */
export function LinkAsset({ overview: { computation, inputs }, onClose, onLinked }: Props) {
  const { client, domain, me } = useDomain();
  const { notify } = useFrame();
  const [chosen, setChosen] = useState<{ id: string; file_name: string }>();
  const link = useAction(async () => {
    if (!chosen) return;
    await client.linkAsset({ id: chosen.id, computationID: computation.id });
    notify(`${chosen.file_name} is linked.`);
    onLinked();
  });
  const linked = new Set(inputs.map(({ id }) => id));
  return (
    <ConfirmModal
      title={`Link an asset to ${computation.name}`}
      confirm="Link"
      isRunning={link.isRunning}
      problem={link.problem}
      isDisabled={!chosen}
      onConfirm={() => void link.run()}
      onClose={onClose}
    >
      <FormField
        label="Asset"
        description="Lists the assets that you may link, newest first."
        constraintText={
          permissions.createAnyAsset(me) && (
            <>
              Or <Link href={addressOf({ screen: 'new-asset', domain }, { computation: computation.id })}>upload a new one</Link>.
            </>
          )
        }
      >
        <AssetSelect
          chosen={chosen}
          isOffered={(asset) => !linked.has(asset.id) && permissions.linkAsset(me, asset, computation)}
          onChoose={setChosen}
        />
      </FormField>
    </ConfirmModal>
  );
}
