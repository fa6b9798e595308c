import { Container, FileUpload, FormField, SpaceBetween } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useState } from 'react';
import { permissions, Refused, useDomain, useFrame } from '../access/index.ts';
import { fieldErrors, keysForBodies, useAction } from '../loading/index.ts';
import { aboveAsset, addressOf, useAddress, useGoOn, useUnsavedWork } from '../routing/index.ts';
import { Choice, FormFrame, GoTo, ScreenFrame } from '../frame/index.ts';
import { sizeText } from '../show/index.ts';
import { noSource, SourceFields, sourceFields, sourceOf } from './source-fields.tsx';
import { AssetFields, assetFields, type AssetFieldValues } from './asset-fields.tsx';
import { assetTypeOptions, fileFault, hasNoPlace, linkConflict } from './asset-texts.ts';
import { UploadProgress, useUpload } from './upload-progress.tsx';

type Fields = AssetFieldValues & Pick<Schemas['AssetInputFields'], 'asset_type'>;

/** The ways in which the agent of a CVM gets the file of a new asset. */
const ways = [
  { value: 'upload', label: 'I upload it here', description: 'The service stores it. The agent gets it from you at the run.' },
  {
    value: 'declare',
    label: 'I send it to the CVM myself',
    description: 'Only its hash, computed here, leaves this page. A run also needs a sample here, which may be any file.',
  },
  { value: 'fetch', label: 'The agent fetches it', description: 'From an address that everyone in the domain reads.' },
] as const;
type Way = (typeof ways)[number]['value'];

/**
 * Shows a form that creates an asset and uploads its content. With `?computation=` in the address, also links the asset to the computation.
 */
export function NewAssetScreen() {
  const { domain, me } = useDomain();
  return (
    <ScreenFrame title="Upload asset" above={aboveAsset(domain)}>
      {permissions.createAnyAsset(me) ? (
        <NewForm />
      ) : (
        <Refused what="upload assets" actions={['provide_algorithm', 'provide_dataset']} />
      )}
    </ScreenFrame>
  );
}

function NewForm() {
  const { client, domain, me } = useDomain();
  const { notify } = useFrame();
  const goOn = useGoOn();
  const computation = useAddress().query.get('computation');
  const types = assetTypeOptions.filter(({ value }) => permissions.createAsset(me, value));
  const [file, setFile] = useState<File>();
  const [created, setCreated] = useState<Schemas['Asset']>();
  const [firstFile, setFirstFile] = useState<File>();
  const [isLinked, setLinked] = useState(false);
  const [way, setWay] = useState<Way>('upload');
  const [fetched, setFetched] = useState(noSource);
  const [use, setUse] = useState<Fields['use']>();
  const [keyFor, setKeyFor] = useState(keysForBodies);
  const [typed, setFields] = useState<Omit<Fields, 'use'>>({
    file_name: '',
    description: '',
    asset_type: types[0]?.value ?? 'dataset',
    content_access: 'creator',
  });
  const fields: Fields = { ...typed, use: use ?? (typed.asset_type === 'dataset' ? 'approval' : 'open') };
  const upload = useUpload();
  const fault = way === 'upload' ? fileFault(file) : undefined;
  const isDirty = file !== undefined || fields.description !== '';
  useUnsavedWork(!isDirty ? undefined : upload.hasArrived ? 'open' : 'form');
  const change = ({ use: chosen, ...changed }: Partial<Fields>) => {
    if (chosen) setUse(chosen);
    setFields((before) => ({ ...before, ...changed }));
  };
  const isComplete =
    way === 'fetch' ? fetched.url !== '' && /^[0-9a-f]{64}$/i.test(fetched.checksum) : file !== undefined && fault === undefined;

  const save = useAction(async () => {
    // After a failure the asset may already exist: then only the remaining steps are carried out.
    const checksum = way === 'declare' && file ? await upload.hash(file) : undefined;
    if (way === 'declare' && checksum === undefined) return;
    const given =
      way === 'fetch' ? sourceOf(fetched, fields.asset_type) : { mime_type: file?.type ?? '', ...(checksum && { checksum }) };
    const body = { asset: { ...fields, ...given, user_key: '' } };
    const asset = created ?? (await client.createAsset({ body, idempotencyKey: keyFor(body) }));
    if (!created) setFirstFile(file);
    setCreated(asset);
    if (!isLinked && computation !== null) {
      await client.linkAsset({ id: asset.id, computationID: computation }).catch(async (problem: unknown) => {
        if (!hasNoPlace(problem)) throw problem;
        // Another name or type may fit: the user goes on with a new asset, whose key is new also if its fields stay the same.
        await client.deleteAsset({ id: asset.id });
        setCreated(undefined);
        setKeyFor(keysForBodies);
        throw problem;
      });
      setLinked(true);
    }
    if (way === 'upload' && file && !(await upload.send(asset.id, created ? undefined : asset.upload, file))) return;
    notify(`${asset.file_name} is ${way === 'upload' ? 'uploaded' : 'declared'}.`);
    goOn(
      computation === null
        ? addressOf({ screen: 'asset', domain, id: asset.id })
        : addressOf({ screen: 'computation', domain, id: computation }),
      { replace: true },
    );
  });
  const errors = fieldErrors(save.problem, [...assetFields, ...sourceFields]);
  const isCreated = created !== undefined;
  const again = upload.state === 'failed' || upload.state === 'cancelled' ? 'Upload again' : 'Upload';

  return (
    <FormFrame
      submit={way === 'upload' ? again : 'Declare'}
      action={save}
      isComplete={isComplete && fields.file_name !== ''}
      cancel={addressOf({ screen: 'assets', domain })}
      isSent={save.isRunning && upload.state === 'idle'}
      fields={errors.fields}
    >
      <Container>
        <SpaceBetween size="l">
          <Choice label="How the agent gets it" value={way} options={ways} isDisabled={isCreated} onChange={setWay} />
          {way === 'fetch' ? (
            <SourceFields
              type={fields.asset_type}
              source={fetched}
              change={(changed) => setFetched({ ...fetched, ...changed })}
              errors={errors}
            />
          ) : (
            <FormField
              label="File"
              description={
                way === 'upload' ? 'Up to 5 GiB. It goes straight to storage.' : 'It is hashed here, and sent nowhere.'
              }
            >
              <FileUpload
                value={file ? [file] : []}
                onChange={({ detail: { value } }) => {
                  setFile(value[0]);
                  if (!isCreated) change({ file_name: value[0]?.name ?? '' });
                }}
                fileErrors={[fault ?? null]}
                fileWarnings={[created && file && file !== firstFile ? sentAs(created) : null]}
                showFileSize
                showFileLastModified={false}
                i18nStrings={{ formatFileSize: sizeText }}
              />
            </FormField>
          )}
          <AssetFields
            fields={fields}
            change={change}
            errors={errors}
            nameFault={linkConflict(save.problem, 'file_name_taken')}
            isDisabled={isCreated}
            isMine
          >
            <Choice
              label="Type"
              value={fields.asset_type}
              options={types}
              isDisabled={isCreated}
              errorText={linkConflict(save.problem, 'second_algorithm')}
              onChange={(asset_type) => change({ asset_type })}
            />
          </AssetFields>
        </SpaceBetween>
      </Container>
      <UploadProgress
        upload={upload}
        asset={created && <GoTo place={{ screen: 'asset', id: created.id }}>{created.file_name}</GoTo>}
      />
    </FormFrame>
  );
}

function sentAs({ file_name, mime_type }: Schemas['Asset']): string {
  const type = mime_type === '' ? '' : `, of the type ${mime_type}`;
  return `It becomes the content of ${file_name}${type}, an asset that already exists.`;
}
