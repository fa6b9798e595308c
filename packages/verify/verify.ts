#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { checkEvidence } from './check-evidence.ts';
import { exitCodeOf, formatFindings } from './finding.ts';
import { UnreadableError } from './evidence-files.ts';
import { checkEvidenceByTestRoots } from './test-roots.ts';

const usage = `Usage: computation-management-verify FILE --keys JWKS [--result FILE] [--events FILE]... [--token FILE]...

Checks the evidence of a run, without the service. Prints a line for each fact.

  FILE            what GET /{domainID}/computations/{id}/evidence?run={runID} returned
  --result FILE   what GET /{domainID}/computations/{id}/result?run={runID} returned. FILE may also be this itself
  --keys JWKS     what GET /.well-known/jwks.json returned
  --events FILE   what GET /{domainID}/computations/{id}/events returned, without filters, so that the events of the run are
                  checked too. Give it once for each page
  --token FILE    an attestation token of the statement, so that the verdict on the CVM is checked too. Give it once for each
  --certificate FILE  a certificate of AMD that a token lacks
  --root FILE     a certificate to trust in place of the roots of AMD and Intel, for tests only
  --help          print this

The exit code is 0 if everything holds, 1 if something does not, 2 if a file cannot be read, and 3 if nothing is false but something
that the computation demanded was not checked, for example because no token was given.`;

process.exitCode = await run();

async function run(): Promise<number> {
  try {
    const { values, positionals } = parseArgs({
      options: {
        keys: { type: 'string' },
        result: { type: 'string' },
        events: { type: 'string', multiple: true },
        token: { type: 'string', multiple: true },
        certificate: { type: 'string', multiple: true },
        root: { type: 'string', multiple: true },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    });
    if (values.help) {
      process.stdout.write(`${usage}\n`);
      return 0;
    }
    const [file, ...others] = positionals;
    if (file === undefined || values.keys === undefined || others.length > 0) {
      process.stderr.write(`${usage}\n`);
      return 2;
    }
    const events = values.events?.map(contentOf);
    const given = { evidence: contentOf(file), keys: contentOf(values.keys), ...(events ? { events } : {}) };
    const attested = { tokens: values.token?.map(bytesOf) ?? [], certificates: values.certificate?.map(bytesOf) ?? [] };
    const result = values.result === undefined ? {} : { result: contentOf(values.result) };
    const files = { ...given, ...result, ...attested };
    const findings = await (values.root ? checkEvidenceByTestRoots(files, values.root.map(bytesOf)) : checkEvidence(files));
    process.stdout.write(formatFindings(findings));
    return exitCodeOf(findings);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
}

function contentOf(file: string): string {
  return bytesOf(file).toString();
}

/** Returns the content of a file. @throws UnreadableError if the file cannot be read */
function bytesOf(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new UnreadableError(`Cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
