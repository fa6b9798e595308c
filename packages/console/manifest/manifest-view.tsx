import Alert from '@cloudscape-design/components/alert';
import Button from '@cloudscape-design/components/button';
import Container from '@cloudscape-design/components/container';
import ExpandableSection from '@cloudscape-design/components/expandable-section';
import Header from '@cloudscape-design/components/header';
import KeyValuePairs from '@cloudscape-design/components/key-value-pairs';
import SpaceBetween from '@cloudscape-design/components/space-between';
import Table from '@cloudscape-design/components/table';
import { type Client, type KeyOwners, type Schemas, ServiceProblem, wholeAnswer } from 'computation-management-client';
import { fetchLines } from 'computation-management-formats/source';
import { useDomain } from '../access/console-context.ts';
import { type Column, definitionsOf, useNarrow } from '../lists/columns.tsx';
import { LoadedView } from '../loading/problem-alert.tsx';
import { missingSentences } from '../loading/problem-text.ts';
import { useLoaded } from '../loading/use-loaded.ts';
import { fingerprintOf } from '../show/fingerprint.ts';
import { Hash, hashHex, Lines } from '../show/hash.tsx';
import { Texts } from '../show/visible-texts.tsx';
import { saveFile } from '../show/save-file.ts';

interface TabProps {
  id: string;
  /** The digest of the present manifest: another one loads it again. */
  digest?: string | undefined;
  /** The run whose manifest to show. Default: that of a run started now. */
  run?: string;
}

/** The manifest of a run, or what a run would still need. */
export function ManifestTab({ id, digest, run }: TabProps) {
  const { client } = useDomain();
  const loaded = useLoaded(`${id} ${run ?? ''} ${digest ?? ''}`, (signal) => loadManifest(client, { id, run, signal }));
  const { problem, value } = loaded;
  if (problem instanceof ServiceProblem && problem.missing_items) {
    return (
      <Alert type="info" header="There is no manifest yet">
        A manifest exists when nothing of it is missing. Still missing:
        <ul>
          {missingSentences(problem.missing_items).map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      </Alert>
    );
  }
  return (
    <Container
      header={
        <Header
          variant="h2"
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
          Manifest
        </Header>
      }
    >
      <LoadedView loaded={loaded} what="the manifest">
        {(found) => <ManifestView {...found} />}
      </LoadedView>
    </Container>
  );
}

interface LoadedManifest {
  manifest: Schemas['Manifest'];
  digest: string | undefined;
  configurationDigest: string | undefined;
}

/** Reads the manifest of a run started now, or the one that `run` was started with. */
export async function loadManifest(
  client: Client,
  { id, run, signal }: { id: string; run?: string | undefined; signal: AbortSignal },
): Promise<LoadedManifest> {
  const { data, digest, configurationDigest } = wholeAnswer(await client.call('getManifest', { id, run, signal }));
  return { manifest: data, digest, configurationDigest };
}

/** A public key, and who has it: undefined if that was not read. */
function Key({ value, owners, what }: { value: string; owners: (string | undefined)[] | undefined; what: string }) {
  const named = owners?.filter((owner) => owner !== undefined);
  return (
    <>
      <Hash value={fingerprintOf(value)} what={what} isWhole />
      {named && <div>Of {named.length > 0 ? <Texts of={named} /> : 'nobody whom the service names'}</div>}
    </>
  );
}

interface File {
  file: string;
  hash: string;
  key: string;
  owners: (string | undefined)[] | undefined;
  /** How the agent gets and uses it, if no party sends it. */
  lines: string[];
}

const columnsOfFiles: Column<File>[] = [
  {
    id: 'file',
    header: 'File',
    isRowHeader: true,
    cell: ({ file, lines }) =>
      lines.length === 0 ? (
        file
      ) : (
        <>
          {file}
          <Lines of={lines} />
        </>
      ),
  },
  {
    id: 'hash',
    header: 'SHA3-256',
    isSecondary: true,
    cell: ({ hash, file }) => <Hash value={hash} what={`hash of ${file}`} />,
  },
  {
    id: 'key',
    header: 'Key of its provider',
    isSecondary: true,
    cell: ({ key, file, owners }) => <Key value={key} owners={owners} what={`key for ${file}`} />,
  },
];

const columnsOfConsumers: Column<{ user_key: string; index: number; owners: string[] | undefined }>[] = [
  { id: 'index', header: 'Consumer', isRowHeader: true, cell: ({ index }) => (index === 1 ? '1 (the owner)' : index) },
  {
    id: 'key',
    header: 'Public key',
    isSecondary: true,
    cell: ({ user_key, index, owners }) => <Key value={user_key} owners={owners} what={`key ${index}`} />,
  },
];

interface ViewProps {
  manifest: Schemas['Manifest'];
  digest: string | undefined;
  owners?: KeyOwners;
}

/** A manifest: what the CVM is allowed to run, on what, and who gets the results. */
export function ManifestView({ manifest, digest, owners }: ViewProps) {
  const isNarrow = useNarrow();
  const { id, name, description, algorithm, datasets, result_consumers } = manifest;
  const inputs = [
    {
      file: 'Algorithm',
      hash: hashHex(algorithm.hash),
      key: algorithm.user_key,
      owners: owners && [owners.creatorOf()],
      lines: fetchLines(algorithm),
    },
    ...datasets.map((dataset) => ({
      file: dataset.filename,
      hash: hashHex(dataset.hash),
      key: dataset.user_key,
      owners: owners && [owners.creatorOf(dataset.filename)],
      lines: fetchLines(dataset),
    })),
  ];
  return (
    <SpaceBetween size="l">
      <KeyValuePairs
        columns={1}
        items={[
          { label: 'Digest (SHA3-256 of the canonical JSON)', value: <Hash value={digest} what="digest" isWhole /> },
          {
            label: 'Computation',
            value: (
              <>
                <bdi>{name}</bdi> ({id})
              </>
            ),
          },
          { label: 'Description', value: description || '-' },
        ]}
      />
      <Table
        variant="embedded"
        header={
          <Header variant="h3" counter={`(${inputs.length})`}>
            Files
          </Header>
        }
        ariaLabels={{ tableLabel: 'Files of the manifest' }}
        items={inputs}
        trackBy="file"
        wrapLines
        columnDefinitions={definitionsOf(columnsOfFiles, isNarrow)}
      />
      <Table
        variant="embedded"
        header={
          <Header variant="h3" counter={`(${result_consumers.length})`}>
            Keys that may have the results
          </Header>
        }
        ariaLabels={{ tableLabel: 'Keys that may have the results' }}
        items={result_consumers.map(({ user_key }, index) => ({
          user_key,
          index: index + 1,
          owners: owners?.usersWith(fingerprintOf(user_key)),
        }))}
        trackBy="index"
        wrapLines
        columnDefinitions={definitionsOf(columnsOfConsumers, isNarrow)}
      />
      <ExpandableSection headerText="JSON">
        <pre className="json" tabIndex={0} aria-label="The manifest in JSON">
          {JSON.stringify(manifest, (_, value: unknown) => (isBytes(value) ? hashHex(value) : value), 2)}
        </pre>
      </ExpandableSection>
    </SpaceBetween>
  );
}

/** Hashes are arrays of numbers. They are shown in hexadecimal, as everywhere else. */
function isBytes(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((entry) => typeof entry === 'number');
}
