import { generateKeyPairSync, sign } from 'node:crypto';
import {
  addSignatures,
  checkpointIn,
  checkpointText,
  formatProof,
  MalformedError,
  openNote,
  parseCheckpoint,
  parseNote,
  parseProof,
  parseVkey,
  signNote,
  vkeyOf,
} from 'computation-management-transparency-log';
import { describe, expect, it } from 'vitest';

/** A signer of a new key. */
function newSigner(name: string, type?: 'cosignature') {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const vkey = vkeyOf(name, publicKey.export({ format: 'der', type: 'spki' }).subarray(-32), type);
  return { vkey, sign: (message: Uint8Array) => sign(null, message, privateKey) };
}

/** The example of C2SP signed-note. */
const foo = 'example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k';
const example =
  'This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n';

const checkpoint = { origin: 'log.example/1', size: 7, root: new Uint8Array(32).fill(5) };
const text = checkpointText(checkpoint);
const [log, witness] = [newSigner('log.example/1'), newSigner('witness.example', 'cosignature')];

describe('a signed note', () => {
  it('of the specification is opened by its key, and by no other', async () => {
    expect(await openNote(example, [foo])).toEqual({
      text: 'This is an example message.\n',
      signatures: [{ vkey: foo, name: 'example.com/foo' }],
    });
    await expect(openNote(example, [log.vkey])).rejects.toThrow(MalformedError);
    await expect(openNote(example.replace('example m', 'Example m'), [foo])).rejects.toThrow(/does not fit/);
  });

  it('has the signatures of a log and of a witness, whose time is signed too', async () => {
    const signed = await signNote(text, log);
    const line = (await signNote(text, witness, 1_700_000_000)).slice(text.length + 1);
    const both = addSignatures(addSignatures(signed, line), line);
    expect(parseNote(both).signatures).toHaveLength(2);
    expect(await openNote(both, [log.vkey, witness.vkey])).toEqual({
      text,
      signatures: [
        { vkey: log.vkey, name: 'log.example/1' },
        { vkey: witness.vkey, name: 'witness.example', time: 1_700_000_000 },
      ],
    });
    const [, other = ''] = (await signNote(text, witness, 1_700_000_001)).split('\n\n');
    const stamp = (of: string) => Buffer.from(of.trim().split(' ')[2] ?? '', 'base64');
    const forged = Buffer.concat([stamp(other).subarray(0, 12), stamp(line).subarray(12)]).toString('base64');
    await expect(openNote(`${text}\n— witness.example ${forged}\n`, [witness.vkey])).rejects.toThrow(/does not fit/);
  });

  it('with a wrong signature in the name of a known key is refused, also beside a right one of another', async () => {
    const signed = await signNote(text, log);
    const line = (await signNote(text.replace('7', '8'), witness, 1)).split('\n\n')[1] ?? '';
    await expect(openNote(addSignatures(signed, line), [log.vkey, witness.vkey])).rejects.toThrow(/of witness\.example/);
    expect((await openNote(addSignatures(signed, line), [log.vkey])).signatures).toHaveLength(1);
  });

  it('of another form is refused', async () => {
    const signed = await signNote(text, log);
    for (const other of [
      '',
      text,
      `${text}\n`,
      signed.trimEnd(),
      `${signed}\n`,
      signed.replace('—', '-'),
      `a\u0001${signed}`,
      `${signed}x`,
    ]) {
      expect(() => parseNote(other)).toThrow(MalformedError);
    }
    expect(() => parseNote(signed + signed.slice(text.length + 1).repeat(64))).toThrow(/up to 64 lines/);
    await expect(signNote('without a newline', log)).rejects.toThrow(MalformedError);
    expect(() => addSignatures(signed, example)).toThrow(/another text/);
  });
});

describe('a vkey', () => {
  it('has name, identifier and key, which belong together', () => {
    expect(parseVkey(foo)).toMatchObject({ name: 'example.com/foo', id: '530d903a', type: 'ed25519' });
    expect(parseVkey(witness.vkey)).toMatchObject({ name: 'witness.example', type: 'cosignature' });
    for (const other of ['', 'x', foo.replace('5', '6'), foo.replace('foo', 'bar'), `${foo}AA`, foo.replace('+Aek', '+Bek')]) {
      expect(() => parseVkey(other)).toThrow(MalformedError);
    }
    for (const name of ['', 'a b', 'a+b', 'a\u00a0b', 'a\nb'])
      expect(() => vkeyOf(name, new Uint8Array(32))).toThrow(MalformedError);
  });
});

describe('a checkpoint', () => {
  it('is read as it is written, and nothing else is', async () => {
    expect(parseCheckpoint(text)).toEqual(checkpoint);
    expect(checkpointIn(await signNote(text, log))).toEqual(checkpoint);
    for (const other of [
      '',
      `${text}more\n`,
      text.replace('7', '07'),
      text.replace('7', '-1'),
      text.trimEnd(),
      text.replace('B', ''),
      `\n${text}`,
    ]) {
      expect(() => parseCheckpoint(other)).toThrow(MalformedError);
    }
    expect(() => parseCheckpoint(text.replace('7', '9007199254740993'))).toThrow(MalformedError);
  });

  it('stands in a proof with index and hashes', async () => {
    const hashes = [1, 2].map((byte) => new Uint8Array(32).fill(byte));
    const proof = { index: 3, hashes, checkpoint: await signNote(text, log) };
    const written = formatProof(proof);
    expect(written).toMatch(/^c2sp\.org\/tlog-proof@v1\nindex 3\nAQEB\S+\nAgIC\S+\n\nlog\.example\/1\n7\n/);
    expect(parseProof(written)).toEqual(proof);
    expect(parseProof(formatProof({ ...proof, hashes: [] })).hashes).toEqual([]);
    const [head, ...rest] = written.split('\n');
    for (const other of [
      '',
      written.replace('@v1', '@v2'),
      written.replace('index 3', 'index 03'),
      written.replace('AQEB', 'AQE'),
      [head, 'extra AAAA', ...rest].join('\n'),
      written.slice(0, written.indexOf('\n\n') + 2) + text,
      formatProof({ ...proof, hashes: Array.from({ length: 54 }, () => new Uint8Array(32)) }),
    ]) {
      expect(() => parseProof(other)).toThrow(MalformedError);
    }
  });
});
