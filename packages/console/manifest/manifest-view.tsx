import { Alert, Button, ExpandableSection, KeyValuePairs } from '@cloudscape-design/components';
import { type Schemas, ServiceProblem, wholeAnswer } from 'computation-management-client';
import { toHex } from 'computation-management-formats/bytes';
import { describeManifest, type DescribedManifest, describeMissing, type Receiver } from 'computation-management-words';
import { useDomain } from '../access/index.ts';
import { assetTypeText } from '../assets/asset-texts.ts';
import { type Column, FactTable } from '../lists/index.ts';
import { type Input, LoadedView, useLoaded } from '../loading/index.ts';
import { Hash, Lines, Name, Names, Quote, saveFile, sizeText, Term, User } from '../show/index.ts';
import { Panel } from '../frame/index.ts';

interface TabProps {
  id: string;
  /** The digest of the computation's current manifest. When the digest changes, the manifest is loaded again. */
  digest?: string | undefined;
  /** The run whose manifest is shown. Default: the manifest of a run that would start now. */
  run?: string;
  /** The linked assets of the computation, which are those of the current manifest. Undefined for the manifest of a run. */
  inputs?: readonly Input[];
}

/** Shows the manifest of a run, or what is still missing for a manifest. */
export function ManifestTab({ id, digest, run, inputs }: TabProps) {
  const { client } = useDomain();
  const loaded = useLoaded(`${id} ${run ?? ''} ${digest ?? ''}`, async (signal) => {
    const { data: manifest, digest } = wholeAnswer(await client.call('getManifest', { id, run, signal }));
    return { manifest, digest };
  });
  const { problem, value } = loaded;
  if (problem instanceof ServiceProblem && problem.missing_items) {
    return (
      <Alert type="info" header="There is no manifest yet">
        <StillMissing of={problem.missing_items} />
      </Alert>
    );
  }
  return (
    <Panel
      title="Manifest"
      info={<Term of="manifest" />}
      description={
        run === undefined
          ? 'What a run started now would be allowed to use, and who would get its results.'
          : 'What the CVM of this run is allowed to use, and who gets the results.'
      }
      actions={
        value && (
          <Button onClick={() => saveFile(`manifest-${run ?? id}.json`, JSON.stringify(value.manifest))}>
            Download manifest
          </Button>
        )
      }
    >
      <LoadedView loaded={loaded} what="the manifest">
        {(found) => (
          <ManifestView {...found} {...describeManifest(found.manifest, { assets: inputs })} isKnown={inputs !== undefined} />
        )}
      </LoadedView>
    </Panel>
  );
}

/** Says why a computation has no manifest yet: what is missing. */
export function StillMissing({ of }: { of: Schemas['MissingItems'] }) {
  const sentences = describeMissing(of).map(({ sentence }) => sentence);
  return `A manifest exists when nothing of it is missing. Still missing: ${sentences.join('. ')}.`;
}

/** Returns the columns of the table with a manifest's files. */
function fileColumns(knowsParties: boolean): Column<File>[] {
  const size: Column<File> = {
    header: 'Size and type',
    minWidth: 120,
    cell: ({ asset }) =>
      asset === undefined ? (
        '-'
      ) : (
        <>
          {sizeText(asset.size ?? null)} {asset.mime_type && <Name of={asset.mime_type} />}
        </>
      ),
  };
  return [
    { header: 'Type', minWidth: 110, isRowHeader: true, cell: ({ type }) => assetTypeText(type) },
    {
      header: 'File',
      minWidth: 170,
      cell: ({ name, lines }) => (
        <>
          {name === undefined ? 'Not named' : <Name of={name} />}
          <Lines of={lines} />
        </>
      ),
    },
    ...(knowsParties ? [size] : []),
    {
      header: knowsParties ? 'Party and its key' : 'Key of its party',
      minWidth: 190,
      cell: ({ asset, fingerprint, type, name = '' }) => (
        <>
          {knowsParties && <Parties of={creatorsOf(asset)} />}
          <div>
            <Hash value={fingerprint} what={`key for the ${type} ${name}`} isWhole />
          </div>
        </>
      ),
    },
    {
      header: 'SHA3-256',
      minWidth: 250,
      cell: ({ hash, type, name = '' }) => <Hash value={hash} what={`hash of the ${type} ${name}`} isWhole />,
    },
  ];
}

/** Shows the users who bring a file of a manifest, or receive its results. */
export function Parties({ of }: { of: readonly string[] }) {
  return of.length === 0 ? 'Nobody whom the service names' : <Names of={of} as={User} />;
}

/** Returns the user who created an asset, if the service names one. */
export function creatorsOf(asset: Input | undefined): string[] {
  return asset?.created_by === undefined ? [] : [asset.created_by];
}

const receiverColumns: Column<Receiver>[] = [
  {
    header: 'Receiver',
    isRowHeader: true,
    cell: ({ index, users }) => (users === undefined ? `Key ${index + 1}` : <Parties of={users} />),
  },
  {
    header: 'Public key',
    cell: ({ fingerprint, index, lines }) => (
      <>
        <Hash value={fingerprint} what={`key ${index + 1}`} isWhole />
        <Lines of={lines} />
      </>
    ),
  },
];

type File = DescribedManifest<Input>['files'][number];

type ViewProps = DescribedManifest<Input> & { manifest: Schemas['Manifest']; digest: string | undefined; isKnown: boolean };

/**
 * Shows a manifest: what the CVM is allowed to run, on what, and who gets the results.
 * @param isKnown true if the linked assets are known, and with them the parties who bring the files
 */
export function ManifestView(props: ViewProps) {
  const { manifest, digest, files, receivers, others, isKnown } = props;
  const { id, name, description } = manifest;
  return (
    <>
      <KeyValuePairs
        columns={1}
        items={[
          {
            label: 'Digest (SHA3-256 of the canonical JSON)',
            info: <Term of="digest" />,
            value: <Hash value={digest} what="digest" isWhole />,
          },
          {
            label: 'Computation',
            value: (
              <>
                <Name of={name} /> ({id})
              </>
            ),
          },
          { label: 'Description', value: description ? <Quote of={description} /> : '-' },
          ...(others.length > 0 ? [{ label: 'Also', value: <Lines of={others} /> }] : []),
        ]}
      />
      <FactTable
        isEmbedded
        title="Files of the manifest"
        counter={`(${files.length})`}
        items={files}
        rowKey={({ index }) => String(index)}
        columns={fileColumns(isKnown)}
      />
      <FactTable
        isEmbedded
        title="Who gets the results from the CVM"
        counter={`(${receivers.length})`}
        items={receivers}
        rowKey={({ index }) => String(index)}
        columns={receiverColumns}
      />
      <ExpandableSection headerText="JSON">
        <pre className="json" tabIndex={0} aria-label="The manifest in JSON">
          {JSON.stringify(manifest, (_, value: unknown) => (isBytes(value) ? toHex(value) : value), 2)}
        </pre>
      </ExpandableSection>
    </>
  );
}

/** Returns whether a value in a manifest is a hash: an array of numbers, which is shown in hexadecimal. */
function isBytes(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === 'number');
}
