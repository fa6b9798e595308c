import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { deflateRawSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { privateKey, SuiteState } from './suite-state.ts';

let directory: string;
let state: SuiteState;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'suite-'));
  state = new SuiteState(directory);
  state.prepare();
});
afterEach(() => rmSync(directory, { recursive: true }));

const services = (name: string) => join(directory, 'services', '1', name);

function write(name: string, text: string): void {
  mkdirSync(dirname(services(name)), { recursive: true });
  writeFileSync(services(name), text);
}

function keepItem(item: object): void {
  mkdirSync(dirname(services('')), { recursive: true });
  mkdirSync(services(''), { recursive: true });
  const database = new DatabaseSync(services('dynamodb.sqlite'));
  database.exec('CREATE TABLE items (item_json TEXT)');
  database.prepare('INSERT INTO items VALUES (?)').run(JSON.stringify(item));
  database.close();
}

const body = JSON.stringify({ name: 'N', agent_config: { server_key: privateKey('third') } });

describe('the scan after the suite', () => {
  it('finds no private key in what a service may keep, and in what was sent', () => {
    write('functions.log', '{"level":"INFO"}\n');
    keepItem({ answer: { B: deflateRawSync('{"name":"N"}', { dictionary: Buffer.from(body) }).toString('base64') } });
    state.noteSent(body);
    expect(state.filesWithPrivateKeys()).toEqual([]);
  });

  it.each(['functions.log', 's3/content/1'])('finds one in %s, also in base64', (name) => {
    write(name, `{"text":"${privateKey()}"}`);
    write('other.log', Buffer.from(`12${privateKey()}`).toString('base64'));
    expect(state.filesWithPrivateKeys().toSorted()).toEqual([services(name), services('other.log')].toSorted());
  });

  it('finds one in an item that is longer than a page of the file', () => {
    keepItem({ text: { S: `${'x'.repeat(6_000)}${privateKey()}` } });
    expect(state.filesWithPrivateKeys()).toEqual([services('dynamodb.sqlite')]);
  });

  it('finds one in an answer that is deflated with the body that was sent', () => {
    state.noteSent(body);
    keepItem({ answer: { B: deflateRawSync(body, { dictionary: Buffer.from(body) }).toString('base64') } });
    expect(state.filesWithPrivateKeys()).toEqual([services('dynamodb.sqlite')]);
  });
});
