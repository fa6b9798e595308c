import { Button, Container, FileUpload, Form, FormField, Link, RadioGroup, SpaceBetween } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useState } from 'react';
import { permissions } from '../access/permissions.ts';
import { Refused } from '../access/refused.tsx';
import { fieldErrors } from '../loading/problem-text.ts';
import { keysForBodies, useAction } from '../loading/use-action.ts';
import { ProblemAlert } from '../loading/problem-alert.tsx';
import { useAddress, useGoOn } from '../routing/navigation.ts';
import { aboveAsset, addressOf } from '../routing/places.ts';
import { alreadySent } from '../frame/confirm-modal.tsx';
import { useDomain, useFrame } from '../access/console-context.ts';
import { ScreenFrame } from '../frame/screen-frame.tsx';
import { useUnsavedWork } from '../routing/unsaved-work.ts';
import { AssetFields, assetFields, type AssetFieldValues } from './asset-fields.tsx';
import { assetTypeOptions, fileFault, fileUploadTexts, hasNoPlace, linkConflict } from './asset-texts.ts';
import { UploadProgress, useUpload } from './upload-progress.tsx';

type Fields = AssetFieldValues & Pick<Schemas['AssetRow'], 'asset_type'>;

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
  const [keyFor, setKeyFor] = useState(keysForBodies);
  const [fields, setFields] = useState<Fields>({
    file_name: '',
    description: '',
    asset_type: types[0]?.value ?? 'dataset',
    content_access: 'creator',
    use: 'open',
  });
  const upload = useUpload();
  const fault = fileFault(file);
  const isDirty = file !== undefined || fields.description !== '';
  useUnsavedWork(!isDirty ? undefined : upload.hasArrived ? 'open' : 'form');
  const change = (changed: Partial<Fields>) => setFields((before) => ({ ...before, ...changed }));

  const save = useAction(async () => {
    if (!file || fault !== undefined) return;
    // After a failure the asset may already exist: then only the remaining steps are carried out.
    const body = { asset: { ...fields, mime_type: file.type, user_key: '' } };
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
    if (!(await upload.send(asset.id, created ? undefined : asset.upload, file))) return;
    notify(`${asset.file_name} is uploaded.`);
    goOn(
      computation === null
        ? addressOf({ screen: 'asset', domain, id: asset.id })
        : addressOf({ screen: 'computation', domain, id: computation }),
      { replace: true },
    );
  });
  const errors = fieldErrors(save.problem, assetFields);
  const isBusy = save.isRunning;

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <Form
        actions={
          <SpaceBetween direction="horizontal" size="xs">
            <Button
              variant="link"
              formAction="none"
              href={addressOf({ screen: 'assets', domain })}
              disabled={isBusy && upload.state === 'idle'}
              disabledReason={alreadySent}
            >
              Cancel
            </Button>
            <Button
              variant="primary"
              formAction="submit"
              loading={isBusy}
              disabled={!file || fault !== undefined || fields.file_name === ''}
            >
              {upload.state === 'failed' || upload.state === 'cancelled' ? 'Upload again' : 'Upload'}
            </Button>
          </SpaceBetween>
        }
      >
        <SpaceBetween size="l">
          <Container>
            <SpaceBetween size="l">
              <FormField label="File" description="Up to 5 GiB. It goes straight to storage.">
                <FileUpload
                  value={file ? [file] : []}
                  onChange={({ detail: { value } }) => {
                    setFile(value[0]);
                    if (!created) change({ file_name: value[0]?.name ?? '' });
                  }}
                  fileErrors={[fault ?? null]}
                  fileWarnings={[created && file && file !== firstFile ? sentAs(created) : null]}
                  showFileSize
                  showFileLastModified={false}
                  i18nStrings={fileUploadTexts}
                />
              </FormField>
              <AssetFields
                fields={fields}
                change={change}
                errors={errors}
                nameFault={linkConflict(save.problem, 'file_name_taken')}
                isDisabled={created !== undefined}
                isMine
              >
                <FormField label="Type" errorText={linkConflict(save.problem, 'second_algorithm')}>
                  <RadioGroup
                    value={fields.asset_type}
                    items={types.map((type) => ({ ...type, disabled: created !== undefined }))}
                    onChange={({ detail }) =>
                      change({ asset_type: types.find(({ value }) => value === detail.value)?.value ?? fields.asset_type })
                    }
                  />
                </FormField>
              </AssetFields>
            </SpaceBetween>
          </Container>
          <UploadProgress
            upload={upload}
            asset={created && <Link href={addressOf({ screen: 'asset', domain, id: created.id })}>{created.file_name}</Link>}
          />
          <ProblemAlert problem={save.problem} fields={errors.fields} />
        </SpaceBetween>
      </Form>
    </form>
  );
}

function sentAs({ file_name, mime_type }: Schemas['Asset']): string {
  const type = mime_type === '' ? '' : `, of the type ${mime_type}`;
  return `It becomes the content of ${file_name}${type}, an asset that already exists.`;
}
