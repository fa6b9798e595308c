import { describe, expect, it } from 'vitest';
import { formatManifest } from '../../client/cms/manifest.ts';
import { eventLine } from '../../client/cms/output/event-line.ts';
import { fileSize } from '../../client/cms/output/file-size.ts';
import { relativeTime } from '../../client/cms/output/relative-time.ts';
import { table, type Column } from '../../client/cms/output/table.ts';
import { printableLines } from '../../client/cms/output/text-width.ts';

interface Row {
  id: string;
  name: string;
}
const columns: Column<Row>[] = [
  { title: 'id', value: ({ id }) => id },
  { title: 'name', value: ({ name }) => name, cuts: true },
];

describe('a table', () => {
  it('fits the width of the terminal: it cuts the columns that may be cut', () => {
    const printed = table([{ id: '12345678', name: 'A name that is too long' }], columns, { columns: 20, colours: false });
    expect(printed).toBe('ID        NAME\n12345678  A name th…\n');
  });

  it('is whole where the output is not a terminal', () => {
    const printed = table([{ id: '1', name: 'A name that is too long' }], columns);
    expect(printed).toContain('A name that is too long');
  });

  it('never prints control characters, with which a name could rewrite the terminal', () => {
    expect(table([{ id: '1', name: 'a\u001b[2Jb\u202ec\rd' }], columns)).toBe('ID  NAME\n1   a [2Jb c d\n');
  });

  it('aligns wide characters', () => {
    const both: Column<Row>[] = [...columns].reverse();
    const lines = table(
      [
        { id: '1', name: '数据' },
        { id: '2', name: 'data' },
      ],
      both,
    ).split('\n');
    expect(lines.slice(0, 3)).toEqual(['NAME  ID', '数据  1', 'data  2']);
  });
});

describe('the text of a command', () => {
  it('keeps its lines and its colours, and no other control characters', () => {
    expect(printableLines('a\n\u001b[32mb\u001b[39m\u001b[2Jc\rd\u009b1m\n')).toBe('a\n\u001b[32mb\u001b[39m [2Jc d 1m\n');
  });
});

describe('a manifest', () => {
  it('is shown with the configuration that an approval covers', () => {
    const config = { attested_tls: true, cert_file: '/etc/agent.pem', server_ca_file: '-----BEGIN CERTIFICATE-----\nMA==\n' };
    const manifest = {
      id: 'c',
      name: 'n',
      description: '',
      algorithm: { hash: [], user_key: '' },
      datasets: [],
      result_consumers: [],
    };
    const shown = formatManifest(manifest, config);
    expect(shown).toMatch(
      /TLS +attested\nCertificate +\/etc\/agent.pem\nServer CA +given as text, SHA-256 [0-9a-f]{64}\nClient CA +none\n/,
    );
  });
});

describe('a line of the timeline', () => {
  const event = {
    event_type: 'failed',
    status: 'failure',
    originator: 'system',
    timestamp: '2026-01-01T00:00:02.500Z',
    details: Buffer.from('{"reason": "The CVM \\u001b[1mfailed."}').toString('base64'),
  } as Parameters<typeof eventLine>[0];

  it('has the seconds since the start, the mark of an end, and the reason', () => {
    const line = eventLine(event, Date.parse('2026-01-01T00:00:00Z'), { colours: false });
    expect(line).toBe('✗    +2.5 s  system              failed              failure  The CVM  [1mfailed.');
  });
});

describe('sizes and times', () => {
  it.each([
    [0, '0 B'],
    [999, '999 B'],
    [15_241, '15.2 kB'],
    [4_194_304, '4.19 MB'],
    [1_073_741_824, '1.07 GB'],
    [5e15, '5000 TB'],
  ])('%i bytes are %s', (bytes, text) => expect(fileSize(bytes)).toBe(text));

  it.each([
    [0, 'now'],
    [42, '42 seconds ago'],
    [60, '1 minute ago'],
    [7_300, '2 hours ago'],
    [86_400 * 3, '3 days ago'],
    [-7_300, 'in 2 hours'],
  ])('%i seconds back is %s', (seconds, text) => {
    expect(relativeTime('2026-01-01T00:00:00Z', Date.parse('2026-01-01T00:00:00Z') + seconds * 1_000)).toBe(text);
  });
});
