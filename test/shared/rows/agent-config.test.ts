import * as v from 'valibot';
import { describe, expect, it } from 'vitest';
import {
  agentConfigAttributes,
  agentConfigInput,
  changedConfigFields,
  defaultAgentConfig,
  parseAgentConfig,
  withoutServerKey,
} from '../../../shared/rows/agent-config.ts';
import { keyCorpus } from '../../packages/formats/key-corpus.ts';
import { certificatePem } from '../../packages/formats/openssh-keys.ts';

const full = {
  log_level: 'debug' as const,
  cert_file: 'cert',
  server_ca_file: 'server',
  client_ca_file: 'client',
  attested_tls: true,
  server_key: { digest: 'digest', sealed: 'sealed' },
};

const certificate = certificatePem;
const withKey = [
  `${certificate}-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----\n`,
  `-----BEGIN RSA PRIVATE KEY-----\r\nMA==\r\n-----END RSA PRIVATE KEY-----\r\n${certificate}`,
  '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMA==\n',
  '-----BEGIN OPENSSH PRIVATE KEY-----\nMA==\n',
  '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nMA==\n',
  'PuTTY-User-Key-File-3: ssh-ed25519\n',
];

describe('agentConfigInput', () => {
  it('has an empty configuration as its default', () => {
    expect(v.parse(agentConfigInput, {})).toEqual({
      log_level: '',
      cert_file: '',
      server_ca_file: '',
      client_ca_file: '',
      attested_tls: false,
      server_key: '',
    });
  });

  it.each(['cert_file', 'server_ca_file', 'client_ca_file', 'server_key'])('takes 16 KiB of %s in UTF-8, not more', (field) => {
    const isTaken = (text: string) => v.safeParse(agentConfigInput, { [field]: text }).success;
    const texts = ['x'.repeat(16 * 1024), 'é'.repeat(8 * 1024), 'x'.repeat(16 * 1024 + 1), `${'é'.repeat(8 * 1024)}x`];
    expect(texts.map(isTaken)).toEqual([true, true, false, false]);
  });

  it.each(['cert_file', 'server_ca_file', 'client_ca_file'])('refuses a private key in %s, which every reader sees', (field) => {
    const refused = (text: string) =>
      v.safeParse(agentConfigInput, { [field]: text }).issues?.map((issue) => v.getDotPath(issue));
    expect(withKey.map(refused)).toEqual(withKey.map(() => [field]));
    expect(['/etc/PRIVATE KEY.pem', certificate, ''].map(refused)).toEqual([undefined, undefined, undefined]);
    expect(v.safeParse(agentConfigInput, { server_key: withKey[0] }).success).toBe(true);
  });

  it.each(['cert_file', 'server_ca_file', 'client_ca_file'])('names %s if anyone could sign with its certificate', (field) => {
    const { text = '' } = keyCorpus.find((each) => each.field === 'certificates' && each.refused === 'small order') ?? {};
    const [issue] = v.safeParse(agentConfigInput, { [field]: text }).issues ?? [];
    expect([issue && v.getDotPath(issue), issue?.message]).toEqual([field, expect.stringContaining('small order')]);
  });

  it('takes the log levels of the agent, and no others', () => {
    const levels = ['', 'debug', 'info', 'warn', 'error', 'trace'];
    const taken = levels.map((log_level) => v.safeParse(agentConfigInput, { log_level }).success);
    expect(taken).toEqual([true, true, true, true, true, false]);
  });
});

describe('parseAgentConfig', () => {
  it('reads stored values, and the default for missing ones', () => {
    const { server_key: _, ...agent_config } = full;
    expect(agentConfigAttributes(full)).toEqual({ agent_config, sealed_key: 'sealed', key_digest: 'digest' });
    expect(parseAgentConfig(agentConfigAttributes(full))).toEqual(full);
    expect(parseAgentConfig(agentConfigAttributes({ ...full, server_key: '' }))).toEqual({ ...full, server_key: '' });
    expect(parseAgentConfig(undefined)).toEqual(defaultAgentConfig);
  });
});

describe('withoutServerKey', () => {
  it('leaves out the private key alone', () => {
    const { server_key, ...rest } = full;
    expect(server_key).toBe(full.server_key);
    expect(withoutServerKey(full)).toEqual(rest);
  });
});

describe('changedConfigFields', () => {
  it('names the fields that differ', () => {
    expect(changedConfigFields(full, { ...full, cert_file: 'other', attested_tls: false })).toEqual([
      'cert_file',
      'attested_tls',
    ]);
    expect(changedConfigFields(defaultAgentConfig, defaultAgentConfig)).toEqual([]);
    expect(changedConfigFields(defaultAgentConfig, { ...defaultAgentConfig, server_key: full.server_key })).toEqual([
      'server_key',
    ]);
  });
});
