import ExpandableSection from '@cloudscape-design/components/expandable-section';
import Header from '@cloudscape-design/components/header';
import KeyValuePairs from '@cloudscape-design/components/key-value-pairs';
import SpaceBetween from '@cloudscape-design/components/space-between';
import Table from '@cloudscape-design/components/table';
import type { Schemas } from 'computation-management-client';
import { type Column, definitionsOf } from '../lists/columns.tsx';
import { useNarrow } from '../lists/use-narrow.ts';
import { Hash } from '../show/hash.tsx';
import { hashHex } from './hash-hex.ts';

const columnsOfFiles: Column<{ file: string; hash: string; key: string }>[] = [
  { id: 'file', header: 'File', isRowHeader: true, cell: ({ file }) => file },
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
    cell: ({ key, file }) => <Hash value={key} what={`key for ${file}`} />,
  },
];

const columnsOfConsumers: Column<{ user_key: string; index: number }>[] = [
  { id: 'index', header: 'Consumer', isRowHeader: true, cell: ({ index }) => (index === 1 ? '1 (the owner)' : index) },
  {
    id: 'key',
    header: 'Public key',
    isSecondary: true,
    cell: ({ user_key, index }) => <Hash value={user_key} what={`key ${index}`} />,
  },
];

interface Props {
  manifest: Schemas['Manifest'];
  digest: string | undefined;
}

/** A manifest: what the CVM is allowed to run, on what, and who gets the results. */
export function ManifestView({ manifest, digest }: Props) {
  const isNarrow = useNarrow();
  const { algorithm, datasets, result_consumers } = manifest;
  const inputs = [
    { file: 'Algorithm', hash: hashHex(algorithm.hash), key: algorithm.user_key },
    ...datasets.map(({ filename, hash, user_key }) => ({ file: filename, hash: hashHex(hash), key: user_key })),
  ];
  return (
    <SpaceBetween size="l">
      <KeyValuePairs
        columns={1}
        items={[{ label: 'Digest (SHA3-256 of the canonical JSON)', value: <Hash value={digest} what="digest" isWhole /> }]}
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
        items={result_consumers.map(({ user_key }, index) => ({ user_key, index: index + 1 }))}
        trackBy="user_key"
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
