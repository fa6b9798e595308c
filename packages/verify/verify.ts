import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { checkEvidence, UnreadableError } from './check-evidence.ts';
import { type Finding, formatFindings } from './finding.ts';

const usage = `Usage: computation-management-verify FILE --keys JWKS [--events FILE]...

Checks the evidence of a run, without the service. Prints a line for each fact.

  FILE            what GET /{domainID}/computations/{id}/evidence?run={runID} returned
  --keys JWKS     what GET /.well-known/jwks.json returned
  --events FILE   what GET /{domainID}/computations/{id}/events returned, without filters, so that the events of the run are
                  checked too. Give it once for each page
  --help          print this

The exit code is 0 if everything holds, 1 if something does not, and 2 if a file cannot be read.`;

process.exitCode = run();

function run(): number {
  try {
    const { values, positionals } = parseArgs({
      options: {
        keys: { type: 'string' },
        events: { type: 'string', multiple: true },
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
    return report(checkEvidence({ evidence: contentOf(file), keys: contentOf(values.keys), ...(events ? { events } : {}) }));
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    return 2;
  }
}

function report(findings: Finding[]): number {
  process.stdout.write(formatFindings(findings));
  return findings.some(({ verdict }) => verdict === 'does not hold') ? 1 : 0;
}

/** @throws UnreadableError */
function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new UnreadableError(`Cannot read ${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}
