import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { build, type Plugin } from 'esbuild';
import { bundleOptions } from '../infra/bundles/bundle-options.ts';

/** The minimum that every function with a table loads. */
export const bareClient = `
  import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
  import { DynamoDBDocumentClient, GetCommand } from '@aws-sdk/lib-dynamodb';
  const open = () => DynamoDBDocumentClient.from(new DynamoDBClient({}));
  export const handler = (Key) => open().send(new GetCommand({ TableName: 'table', Key }));
`;

/** Bundles a program with the options of functions. Returns its size in bytes. */
export async function bundleProgram(contents: string, outfile: string): Promise<number> {
  const { outExtension: _, external, plugins, ...options } = bundleOptions;
  await build({
    ...options,
    external: external.filter((name) => name !== eventStreams),
    plugins: [withoutEventStreams, ...plugins],
    stdin: { contents, resolveDir: join(import.meta.dirname, '..') },
    outfile,
  });
  return statSync(outfile).size;
}

const eventStreams = '@smithy/core/event-streams';

/** The S3 client imports event streams statically, for a command that is not measured. The other clients never load them. */
const withoutEventStreams: Plugin = {
  name: 'without-event-streams',
  setup(build) {
    build.onResolve({ filter: new RegExp(`^${eventStreams}$`) }, ({ path }) => ({ path, namespace: eventStreams }));
    build.onLoad({ filter: /.*/, namespace: eventStreams }, () => ({
      contents:
        'export const eventStreamSerdeProvider = {}, resolveEventStreamSerdeConfig = (config) => config, EventStreamSerde = {};',
    }));
  },
};

/**
 * Imports a file in a new process. Returns milliseconds of CPU time in user mode, because wall time depends on what else the
 * machine does.
 */
function importInMilliseconds(file: string): number {
  const script = `const start = process.cpuUsage(); await import(${JSON.stringify(file)}); console.log(process.cpuUsage(start).user / 1000);`;
  return Number(execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' }));
}

export interface Comparison {
  /** Median of the file's own imports. */
  milliseconds: number;
  /** Median of the reference's imports. */
  referenceInMilliseconds: number;
  /** Median of the ratios between consecutive imports of the file and the reference. */
  ratio: number;
}

/** Imports files and a reference alternately, because the machine's speed changes over minutes. */
export function compareImports(files: string[], reference: string, turns: number): Comparison[] {
  const times = files.map(() => ({ own: [] as number[], reference: [] as number[] }));
  for (let turn = 0; turn < turns; turn++) {
    for (const [index, file] of files.entries()) {
      const measure = [
        () => times[index]?.reference.push(importInMilliseconds(reference)),
        () => times[index]?.own.push(importInMilliseconds(file)),
      ];
      for (const each of turn % 2 === 0 ? measure : measure.reverse()) each();
    }
  }
  return times.map(({ own, reference: references }) => ({
    milliseconds: median(own),
    referenceInMilliseconds: median(references),
    ratio: median(own.map((milliseconds, turn) => milliseconds / (references[turn] ?? Number.NaN))),
  }));
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
