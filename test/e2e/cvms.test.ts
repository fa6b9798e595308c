import { describe, expect, it } from 'vitest';
import { fingerprintOfCertificate } from 'computation-management-formats/certificates';
import { cvmBody } from '../../shared/openapi/examples.ts';
import { newCvmBody } from '../support/cvm-certificate.ts';
import { itAs, newCvm, useSession } from '../support/session.ts';

const session = useSession();
const read = (cvmID: string) => session.done('cvms/get-cvm', { path: { cvmID } });
const poll = (cvmID: string) => session.done('cvms/list-commands', { path: { cvmID }, as: 'cvm' });
const put = (cvmID: string, body: unknown, headers: Record<string, string> = {}) =>
  session.call('cvms/register-cvm', { path: { cvmID }, body, headers });
const runOn = async (cvm: string) => {
  const id = await session.readyComputation();
  return { id, ...(await session.call('runs/start-run', { path: { id }, query: { cvm } })) };
};

/** Certificates of one key of P-256, in base64. */
const keyInThreeEncodings = {
  uncompressed:
    'MIIBajCCAQ+gAwIBAgIUOan93BCwQ3Tgnp5X2nqJGroVM4swCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBYTAgFw0yNjExMjkyMzUyMjlaGA8yMTI2MTEwNTIzNTIyOVowDDEKMAgGA1UEAwwBYTBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABCR8//F2sSII8b4J0pLgbt1LqnX6tlz5K+tp50e4iN7/H3Egisdczuj5VOcCRBmypeVAwme6IZbUfYQHxjyse7GjTTBLMB0GA1UdDgQWBBR2vXsUNhnIpwpImZqbIyt1J+Wq6zAfBgNVHSMEGDAWgBR2vXsUNhnIpwpImZqbIyt1J+Wq6zAJBgNVHRMEAjAAMAoGCCqGSM49BAMCA0kAMEYCIQD4ZyNkVFontvX646yD9JeajAuW2X1tLMIl1QygdU/PmgIhAJ4cRLCnmykU0cwyG00kzMivgXDOGlQniFNwBXKUQFQV',
  compressed:
    'MIIBRzCB76ADAgECAhQhKYKMIkAFC0fl5xkX5+cKHqYMNDAKBggqhkjOPQQDAjAMMQowCAYDVQQDDAFhMCAXDTI2MTEyOTIzNTIyOVoYDzIxMjYxMTA1MjM1MjI5WjAMMQowCAYDVQQDDAFhMDkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDIgADJHz/8XaxIgjxvgnSkuBu3Uuqdfq2XPkr62nnR7iI3v+jTTBLMB0GA1UdDgQWBBSreGw1wdPlZ1aBir7PZguqho/R+jAfBgNVHSMEGDAWgBSreGw1wdPlZ1aBir7PZguqho/R+jAJBgNVHRMEAjAAMAoGCCqGSM49BAMCA0cAMEQCIF49wpADqd4hQqHIraOwOf3zq9O2h32Ai5/AmJs1FsEwAiBm+lIf6U4ICy9hyKa4+6/4IOQE68kSppSUXVHOjue0Ug==',
  explicit:
    'MIICXTCCAgOgAwIBAgIUc0rIwPe0VCM6BUCv5djDUtRweaowCgYIKoZIzj0EAwIwDDEKMAgGA1UEAwwBYTAgFw0yNjExMjkyMzUyMjlaGA8yMTI2MTEwNTIzNTIyOVowDDEKMAgGA1UEAwwBYTCCAUswggEDBgcqhkjOPQIBMIH3AgEBMCwGByqGSM49AQECIQD/////AAAAAQAAAAAAAAAAAAAAAP///////////////zBbBCD/////AAAAAQAAAAAAAAAAAAAAAP///////////////AQgWsY12Ko6k+ez671VdpiGvGUdBrDMU7D2O848PifSYEsDFQDEnTYIhucEk2pmeOETnSa3gZ9+kARBBGsX0fLhLEJH+Lzm5WOkQPJ3A32BLeszoPShOUXYmMKWT+NC4v4af5uO5+tKfA+eFivOM1drMV7Oy7ZAaDe/UfUCIQD/////AAAAAP//////////vOb6racXnoTzucrC/GMlUQIBAQNCAAQkfP/xdrEiCPG+CdKS4G7dS6p1+rZc+SvraedHuIje/x9xIIrHXM7o+VTnAkQZsqXlQMJnuiGW1H2EB8Y8rHuxo00wSzAdBgNVHQ4EFgQUdr17FDYZyKcKSJmamyMrdSflquswHwYDVR0jBBgwFoAUdr17FDYZyKcKSJmamyMrdSflquswCQYDVR0TBAIwADAKBggqhkjOPQQDAgNIADBFAiEAr4RdixYRu4Mo+9FNCcMEkEvSGzVgncQO5H3M0W0yzDACIEu1oh4arbGqpg//S2Wnjwes641FwMTVN0LDYInguyXZ',
};

describe('the registration of a CVM', () => {
  it('answers 201 when it is new, else 200, and returns it', async () => {
    const cvm = newCvm();
    const given = await newCvmBody();
    const certificate_fingerprint = fingerprintOfCertificate(given.certificate);
    const first = await put(cvm, given);
    expect(first).toMatchObject({
      status: 201,
      body: {
        id: cvm,
        ...given,
        certificate_fingerprint,
        presence: { state: 'disconnected', last_seen_at: null, agent_state: null, fit: 'unknown' },
      },
    });
    const second = await put(cvm, { description: 'Rack 5' });
    expect(second).toMatchObject({ status: 200, body: { description: 'Rack 5' } });
    expect(await read(cvm)).toEqual(second.body);
  });

  it('keeps the certificate without a new one, and removes it for null', async () => {
    const cvm = newCvm();
    const { certificate_fingerprint, certificate } = (await put(cvm, await newCvmBody())).body as Record<string, unknown>;
    expect((await put(cvm, { description: '' })).body).toMatchObject({ certificate_fingerprint, certificate });
    const removed = { certificate_fingerprint: null, certificate: null };
    expect((await put(cvm, { description: '', certificate: null })).body).toMatchObject(removed);
  });

  it('keeps the URL of the agent without one, and removes it for null', async () => {
    const cvm = newCvm();
    const agent_url = '[2001:db8::1]:7002';
    expect((await put(cvm, { description: '', agent_url })).body).toMatchObject({ agent_url, attestation: null });
    expect((await put(cvm, { description: 'a' })).body).toMatchObject({ agent_url });
    expect((await put(cvm, { description: 'a', agent_url: null })).body).toMatchObject({ agent_url: null });
    expect(await put(cvm, { description: 'a', agent_url: 'cvm-1:0' })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ pointer: '/agent_url' }] },
    });
  });

  it('accepts its own response as the body of a PUT', async () => {
    const cvm = newCvm();
    const { body } = await put(cvm, await newCvmBody());
    expect((await put(cvm, body)).body).toEqual(body);
  });

  it.each([
    ['a private key', '-----BEGIN PRIVATE KEY-----\nMC4CAQ==\n-----END PRIVATE KEY-----', /private key/],
    ['text', 'certificate', /X\.509/],
    ['an empty text', '', /1 to 16384 characters/],
    ['a number', 5, /string/],
  ])('refuses %s as certificate and names the field', async (_what, certificate, detail) => {
    const cvm = newCvm();
    expect(await put(cvm, { description: '', certificate })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ pointer: '/certificate', detail: expect.stringMatching(detail) }] },
    });
    expect((await session.refused('cvms/get-cvm', { path: { cvmID: cvm } })).code).toBe('not_found');
  });

  it('refuses the public key of another CVM of the domain, until that one has another certificate or is removed', async () => {
    const [first, second, third] = [newCvm(), newCvm(), newCvm()];
    const [given, other] = [await newCvmBody(), await newCvmBody()];
    const taken = { status: 409, body: { code: 'conflict', reason: 'public_key_taken' } };
    expect((await put(first, given)).status).toBe(201);
    const sameKey = { ...given, certificate: `${given.certificate}\n` };
    expect(await put(second, sameKey)).toMatchObject(taken);
    expect((await put(second, { description: '' })).status).toBe(201);
    expect(await put(second, sameKey)).toMatchObject(taken);
    const stale = { path: { cvmID: second }, headers: { 'if-match': '"stale"' } };
    expect(await session.call('cvms/register-cvm', { ...stale, body: sameKey })).toMatchObject(taken);
    expect((await session.call('cvms/register-cvm', { ...stale, body: other })).status).toBe(412);
    expect((await put(first, sameKey)).status).toBe(200);
    expect((await put(first, other)).status).toBe(200);
    expect((await put(second, sameKey)).status).toBe(200);
    await session.done('cvms/delete-cvm', { path: { cvmID: second } });
    expect((await put(third, given)).status).toBe(201);
  });

  it('refuses the public key of another CVM in another encoding: a compressed point, or a curve by its parameters', async () => {
    const [first, second] = [newCvm(), newCvm()];
    const register = (cvm: string, certificate: string) =>
      put(cvm, { description: '', certificate: `-----BEGIN CERTIFICATE-----\n${certificate}\n-----END CERTIFICATE-----` });
    expect((await register(first, keyInThreeEncodings.uncompressed)).status).toBe(201);
    const taken = { status: 409, body: { reason: 'public_key_taken' } };
    expect(await register(second, keyInThreeEncodings.compressed)).toMatchObject(taken);
    const invalid = { status: 400, body: { errors: [{ pointer: '/certificate', detail: expect.stringContaining('P-256') }] } };
    expect(await register(second, keyInThreeEncodings.explicit)).toMatchObject(invalid);
    await session.done('cvms/delete-cvm', { path: { cvmID: first } });
  });

  it('gets and loses no certificate while a run holds the CVM', async () => {
    const cvm = newCvm();
    await put(cvm, { description: 'Rack 4' });
    await poll(cvm);
    const { id, status } = await runOn(cvm);
    expect(status).toBe(200);
    const busy = { status: 409, body: { reason: 'cvm_busy' } };
    expect(await put(cvm, await newCvmBody())).toMatchObject(busy);
    expect((await put(cvm, { description: 'Rack 5', certificate: null })).status).toBe(200);
    await session.done('runs/stop-run', { path: { id } });
  });

  it('with a certificate closes endpoints 25 and 26 to everyone, and leaves no sign of life', async () => {
    const cvm = newCvm();
    await put(cvm, await newCvmBody());
    const closed = { status: 403, code: 'forbidden', reason: 'gateway_only' };
    expect(await session.refused('cvms/list-commands', { path: { cvmID: cvm }, as: 'cvm' })).toMatchObject(closed);
    const body = { reports: [{ type: 'heartbeat', fit: 'ready' }] };
    expect(await session.refused('cvms/report', { path: { cvmID: cvm }, body, as: 'cvm' })).toMatchObject(closed);
    expect((await read(cvm)).presence).toMatchObject({ state: 'disconnected', last_seen_at: null, fit: 'unknown' });
  });

  it('requires a description of up to 4,000 characters', async () => {
    const pointers = async (body: unknown) => {
      const { status, errors } = await session.refused('cvms/register-cvm', { path: { cvmID: newCvm() }, body });
      return [status, errors?.[0]?.pointer];
    };
    expect(await pointers({})).toEqual([400, '/description']);
    expect(await pointers({ description: 'x'.repeat(4_001) })).toEqual([400, '/description']);
    expect(await pointers({ description: '', name: 'x' })).toEqual([400, '/name']);
    expect((await put(newCvm(), { description: 'x'.repeat(4_000) })).status).toBe(201);
  });

  it('is in the list, newest first', async () => {
    const cvms = [newCvm(), newCvm()];
    for (const cvm of cvms) await put(cvm, await newCvmBody());
    const page = await session.done('cvms/list-cvms', { query: { limit: 2 } });
    expect(page.cvms.map(({ id }) => id)).toEqual(cvms.reverse());
    expect(page.cvms[0]).toEqual(await read(cvms[0] ?? ''));
    expect(page.total).toBeGreaterThanOrEqual(2);
  });

  itAs(['viewer', 'creator', 'cvm'], 'is for administrators, and reading is for those who may view', async () => {
    const cvm = newCvm();
    await put(cvm, await newCvmBody());
    for (const as of ['viewer', 'creator', 'cvm'] as const) {
      const request = { path: { cvmID: cvm }, as };
      expect((await session.refused('cvms/register-cvm', { ...request, body: cvmBody })).code).toBe('forbidden');
      expect((await session.refused('cvms/delete-cvm', request)).code).toBe('forbidden');
      const mayView = as !== 'cvm';
      expect((await session.call('cvms/get-cvm', request)).status).toBe(mayView ? 200 : 403);
      expect((await session.call('cvms/list-cvms', { as })).status).toBe(mayView ? 200 : 403);
    }
  });
});

describe('the ETag of a CVM', () => {
  const etagOf = async (cvmID: string, headers: Record<string, string> = {}) => {
    const answer = await session.call('cvms/get-cvm', { path: { cvmID }, headers });
    return { status: answer.status, etag: answer.headers.get('etag') ?? '' };
  };

  it('is the same in the answers of PUT and GET, and leads to 304', async () => {
    const cvm = newCvm();
    const etag = (await put(cvm, await newCvmBody())).headers.get('etag') ?? '';
    expect(await etagOf(cvm)).toEqual({ status: 200, etag });
    expect(await etagOf(cvm, { 'if-none-match': etag })).toEqual({ status: 304, etag });
  });

  it('changes with the presence, which If-Match does not compare', async () => {
    const cvm = newCvm();
    const before = (await put(cvm, { description: 'Rack 4' })).headers.get('etag') ?? '';
    await poll(cvm);
    const { etag } = await etagOf(cvm);
    expect(etag).not.toBe(before);
    expect((await etagOf(cvm, { 'if-none-match': before })).status).toBe(200);
    expect((await put(cvm, { description: 'Rack 5' }, { 'if-match': before })).status).toBe(200);
  });

  it('lets one of two changes with the same ETag through, and the other gets 412', async () => {
    const cvm = newCvm();
    const etag = (await put(cvm, await newCvmBody())).headers.get('etag') ?? '';
    const changes = await Promise.all(['a', 'b'].map((description) => put(cvm, { description }, { 'if-match': etag })));
    expect(changes.map(({ status }) => status).sort()).toEqual([200, 412]);
    const remove = (ifMatch: string) =>
      session.call('cvms/delete-cvm', { path: { cvmID: cvm }, headers: { 'if-match': ifMatch } });
    expect((await remove(etag)).status).toBe(412);
    expect((await remove(`"x", ${(await etagOf(cvm)).etag}`)).status).toBe(204);
  });

  it('does not exist for a CVM that is not registered, so If-Match refuses to register it', async () => {
    const cvm = newCvm();
    for (const value of ['*', '"x"']) expect((await put(cvm, cvmBody, { 'if-match': value })).status).toBe(412);
    expect((await session.refused('cvms/get-cvm', { path: { cvmID: cvm } })).code).toBe('not_found');
    expect((await session.call('cvms/delete-cvm', { path: { cvmID: cvm }, headers: { 'if-match': '*' } })).status).toBe(404);
  });
});

describe('a repeated registration with the same Idempotency-Key', () => {
  it('answers 201 again, and 200 again for a change', async () => {
    const cvm = newCvm();
    const send = (description: string, key: string) => put(cvm, { description }, { 'idempotency-key': `${cvm} ${key}` });
    const statuses = [
      await send('new', 'first'),
      await send('changed', 'second'),
      await send('new', 'first'),
      await send('changed', 'second'),
    ].map(({ status, body, headers }) => [
      status,
      (body as { description: string }).description,
      headers.get('idempotent-replayed'),
    ]);
    expect(statuses).toEqual([
      [201, 'new', null],
      [200, 'changed', null],
      [201, 'new', 'true'],
      [200, 'changed', 'true'],
    ]);
    expect((await read(cvm)).description).toBe('changed');
  });
});

describe('a registered CVM', () => {
  it('takes no run before it is heard, nor while it is spent: 409 cvm_not_ready', async () => {
    const cvm = newCvm();
    await session.registerCvm(cvm);
    const refusal = (detail: RegExp) => ({
      status: 409,
      body: { code: 'conflict', reason: 'cvm_not_ready', detail: expect.stringMatching(detail) },
    });
    expect(await runOn(cvm)).toMatchObject(refusal(/disconnected/));
    await session.report(cvm, { id: undefined, type: 'heartbeat', agent_state: 'Complete', fit: 'spent' });
    expect((await read(cvm)).presence).toMatchObject({ state: 'connected', agent_state: 'Complete', fit: 'spent' });
    expect(await runOn(cvm)).toMatchObject(refusal(/spent/));
    await session.report(cvm, { id: undefined, type: 'heartbeat', agent_state: 'ReceivingManifest', fit: 'ready' });
    expect((await runOn(cvm)).status).toBe(200);
    expect((await read(cvm)).presence.fit).toBe('busy');
    await session.endRun(cvm);
    expect((await read(cvm)).presence.fit).toBe('spent');
  });

  it('is refused as run_active or cvm_busy before cvm_not_ready, and as cvm_not_ready before incomplete', async () => {
    const cvm = newCvm();
    await session.registerCvm(cvm);
    const { id } = await session.createComputation();
    expect(await session.refused('runs/start-run', { path: { id }, query: { cvm } })).toMatchObject({ reason: 'cvm_not_ready' });
    await poll(cvm);
    expect(await session.refused('runs/start-run', { path: { id }, query: { cvm } })).toMatchObject({ code: 'incomplete' });
    const running = await runOn(cvm);
    await session.report(cvm, { id: undefined, type: 'heartbeat', fit: 'spent' });
    const again = { path: { id: running.id }, query: { cvm } };
    expect(await session.refused('runs/start-run', again)).toMatchObject({ reason: 'run_active', run_id: running.body });
    expect(await runOn(cvm)).toMatchObject({ status: 409, body: { reason: 'cvm_busy', run_id: running.body } });
    await session.endRun(cvm);
  });

  it('cannot be removed while a run holds it: 409 cvm_busy with the run', async () => {
    const cvm = newCvm();
    await session.registerCvm(cvm);
    await poll(cvm);
    const { body: run_id } = await runOn(cvm);
    expect(await session.refused('cvms/delete-cvm', { path: { cvmID: cvm } })).toMatchObject({
      status: 409,
      reason: 'cvm_busy',
      run_id,
    });
    await session.endRun(cvm);
    await session.done('cvms/delete-cvm', { path: { cvmID: cvm } });
    expect((await session.refused('cvms/get-cvm', { path: { cvmID: cvm } })).code).toBe('not_found');
    expect((await runOn(cvm)).status).toBe(200); // as before, on a CVM that nobody registered
    await session.endRun(cvm);
  });
});

describe('the run that endpoint 25 names', () => {
  it('has the identifiers of its commands, and the time at which it was accepted', async () => {
    const cvm = newCvm();
    const { id, body: run } = await runOn(cvm);
    const { id: run_command_id } = await session.commandFor(cvm, 'run');
    const held = { id: run, computation_id: id, status: 'running', run_command_id, accepted_at: null, stop_command_id: null };
    expect((await poll(cvm)).run).toEqual(held);
    await session.report(cvm, { run_id: run, type: 'accepted', command_id: run_command_id });
    expect((await poll(cvm)).run).toEqual({ ...held, accepted_at: expect.any(String) });
    await session.done('runs/stop-run', { path: { id } });
    const { id: stop_command_id } = await session.commandFor(cvm, 'stop');
    expect((await poll(cvm)).run).toMatchObject({ status: 'stopping', stop_command_id });
    await session.report(cvm, { run_id: run, type: 'event', event_type: 'Stopped', status: 'Stopped' });
    await session.untilStatus(id, 'cancelled');
    expect(await poll(cvm)).toEqual({ commands: [], run: null });
    const { results } = await session.report(cvm, { run_id: run, type: 'heartbeat' });
    expect(results).toMatchObject([{ outcome: 'recorded', run_status: 'cancelled' }]);
  });
});

describe('a batch of reports', () => {
  it('keeps the good ones beside bad ones, and says which are bad', async () => {
    const cvm = newCvm();
    const { id, body: run_id } = await runOn(cvm);
    const event = { run_id, type: 'event', event_type: 'Running', status: 'InProgress' };
    const answer = await session.report(
      cvm,
      { ...event, id: 'good' },
      { ...event, id: 'bad', status: '' },
      { id: undefined, type: 'heartbeat' },
      { ...event, id: 'stray', run_id: id },
      { ...event, id: 'good' },
    );
    expect(answer).toEqual({
      accepted: 2,
      duplicates: 1,
      results: [
        { id: 'good', outcome: 'recorded', run_status: 'running' },
        { id: 'bad', outcome: 'invalid', run_status: 'running', detail: expect.stringContaining('/status') },
        { id: null, outcome: 'recorded', run_status: null },
        { id: 'stray', outcome: 'unknown_run', run_status: null },
        { id: 'good', outcome: 'duplicate', run_status: 'running' },
      ],
    });
    await session.report(cvm, { run_id, type: 'event', event_type: 'Complete', status: 'Completed' });
    await session.untilStatus(id, 'completed');
  });

  it('gets the status of the run for a bad report too, also if it names the run in upper case', async () => {
    const cvm = newCvm();
    const { body } = await runOn(cvm);
    const run_id = String(body).toUpperCase();
    const bad = { run_id, type: 'event', event_type: 'Running', status: '' };
    const { results } = await session.report(cvm, bad);
    expect(results).toMatchObject([{ outcome: 'invalid', run_status: 'running' }]);
    await session.endRun(cvm);
  });

  it.each([[{}], [{ reports: [] }], [{ reports: {} }], [{ reports: [{ type: 'heartbeat' }], more: 1 }], [[]], [5]])(
    'is refused with 400 if it is no batch: %j',
    async (body) => {
      const refused = await session.refused('cvms/report', { path: { cvmID: newCvm() }, body, as: 'cvm' });
      expect(refused).toMatchObject({ status: 400, code: 'invalid_request' });
    },
  );

  it('gives the run the reason of the event that ends it', async () => {
    const cvm = newCvm();
    const { id, body: run_id } = await runOn(cvm);
    const reason = 'failed to run computation: algorithm execution error: exit status 3';
    await session.report(cvm, { run_id, type: 'event', event_type: 'Failed', status: 'Failed', reason });
    await session.untilStatus(id, 'failed');
    expect(await session.done('runs/get-run', { path: { id } })).toMatchObject({ status: 'failed', reason });
  });
});
