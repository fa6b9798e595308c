import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseSmtp } from '../../../local/mail/smtp-mailer.ts';
import { type Stack, startStack } from '../../../local/stack.ts';
import { Deadline } from '../../../shared/runtime/deadline.ts';
import { withNews } from '../../../shared/notifications/index.ts';
import { scan } from '../../../shared/table/scan.ts';
import { openTable } from '../../../shared/table/table.ts';
import { type Call, callAs } from '../../support/ready-computation.ts';
import { repeating } from '../../support/repeating-call.ts';
import { type SmtpServer, startSmtpServer } from '../../support/smtp-server.ts';
import { testClock } from '../../support/test-clock.ts';

const clock = testClock();
let smtp: SmtpServer;
let stack: Stack;
let alice: Call;

const minutes = (count: number) => clock.move(count * 60_000);
const table = () => openTable(() => new Deadline());

/** Sends the mails that are due. The schedule may do so first. */
async function send(): Promise<void> {
  clock.move(6_000);
  await stack.invoke('maintenance/send-mails', {}).catch(() => undefined); // counted by the server
}

async function userOf(domain: string, email = true, kind = 'user'): Promise<{ name: string; address: string; call: Call }> {
  const name = `${kind}-${randomUUID().slice(0, 8)}`;
  const address = `${name}@example.com`;
  const token = await stack.token(name, [`${domain}:creator`], 3_600, email ? address : undefined);
  return { name, address, call: repeating(callAs(stack.baseUrl, token)) };
}

/** Starts a computation that invites the users, and waits until they are asked to do something. */
async function invite(user: { name: string; call: Call }, domain: string): Promise<string> {
  const before = (await user.call('GET', `/${domain}/todo`)).body['totals'] as { invitations: number };
  const { body } = await alice('POST', `/${domain}/computations`, { name: 'Secret plan', providers: [user.name] });
  await invited(user, domain, before.invitations + 1);
  return String(body['id']);
}

/** Waits until a user has a number of invitations. */
async function invited(user: { call: Call }, domain: string, invitations: number): Promise<void> {
  await expect
    .poll(async () => (await user.call('GET', `/${domain}/todo`)).body, { timeout: 30_000 })
    .toMatchObject({ totals: { invitations } });
}

/** Makes the user of a computation with a key, who must then approve it: a task, and no invitation. */
async function giveTask(user: { name: string; call: Call }, domain: string): Promise<void> {
  const before = (await user.call('GET', `/${domain}/todo`)).body['totals'] as { keys: number };
  await user.call('POST', `/${domain}/computations`, { name: 'Secret plan', consumers: [user.name] });
  await expect
    .poll(async () => (await user.call('GET', `/${domain}/todo`)).body, { timeout: 30_000 })
    .toMatchObject({ totals: { keys: before.keys + 1 } });
}

const mailsTo = (user: { address: string }) => smtp.mails.filter(({ to }) => to === user.address);
const subjectsTo = (user: { address: string }) => mailsTo(user).map(({ headers }) => headers.get('subject'));
const linkIn = (user: { address: string }) => /https?:\S+\/unsubscribe\/\S+/.exec(mailsTo(user).at(-1)?.text ?? '')?.[0] ?? '';
const wants = async (user: { call: Call }, domain: string) =>
  expect((await user.call('PUT', `/${domain}/notifications`, { email: true })).body).toEqual({ email: true, is_sent: true });
const post = async (link: string, body: string | URLSearchParams | FormData) => await fetch(link, { method: 'POST', body });
const isJson = { 'content-type': 'application/json' };
const oneClick = () => new URLSearchParams({ 'List-Unsubscribe': 'One-Click' });

/** Returns what is stored about mail, as text. */
async function storedText(): Promise<string> {
  const filter = { FilterExpression: 'begins_with(pk, :mail)', ExpressionAttributeValues: { ':mail': 'mail' } };
  const attributes = ['pk', 'sk', 'user_id', 'address', 'domain_id', 'user_hash'];
  const found = [];
  for await (const items of scan(table(), { filter, attributes })) found.push(...items);
  return JSON.stringify(found);
}

beforeAll(async () => {
  smtp = await startSmtpServer();
  const server = parseSmtp(`smtp://127.0.0.1:${smtp.port}?from=computations@example.com`);
  stack = await startStack({ port: 0, simulator: false, clock, smtp: server });
  alice = repeating(
    callAs(
      stack.baseUrl,
      await stack.token(
        'alice',
        ['d1', 'd2', 'd3'].map((d) => `${d}:administrator`),
      ),
    ),
  );
});

afterAll(async () => {
  await stack.stop();
  await smtp.stop();
});

describe('mail about open tasks', () => {
  it('tells of an invitation with a count and a link, and no name', async () => {
    const bob = await userOf('d1');
    await wants(bob, 'd1');
    await invite(bob, 'd1');
    await send();
    const [mail] = mailsTo(bob);
    expect(subjectsTo(bob)).toEqual(['1 invitation waits for you']);
    expect(mail?.headers.get('from')).toBe('computations@example.com');
    expect(mail?.headers.get('list-unsubscribe')).toBe(`<${linkIn(bob)}>`);
    expect(mail?.headers.get('list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    expect(mail?.text).toContain(stack.baseUrl);
    expect(JSON.stringify([...(mail?.headers ?? [])]) + (mail?.text ?? '')).not.toMatch(/Secret plan|alice/);
  });

  it('stores no address in plain text', async () => {
    const bob = await userOf('d1');
    await wants(bob, 'd1');
    expect(await storedText()).toContain(bob.name);
    expect(await storedText()).not.toContain(bob.address);
  });

  it('sends one mail in 10 minutes over all domains, and one about invitations a day', async () => {
    const bob = await userOf('d1');
    const inD2 = {
      ...bob,
      call: repeating(callAs(stack.baseUrl, await stack.token(bob.name, ['d2:creator'], 3_600, bob.address))),
    };
    await wants(bob, 'd1');
    await wants(inD2, 'd2');
    await invite(bob, 'd1');
    await send();
    await giveTask(bob, 'd1');
    await giveTask(inD2, 'd2');
    await invite(bob, 'd1');
    await send();
    expect(subjectsTo(bob)).toEqual(['1 invitation waits for you']);
    minutes(10);
    await send();
    await send();
    minutes(10);
    await send();
    expect(subjectsTo(bob)).toEqual(['1 invitation waits for you', '1 task waits for you', '1 task waits for you']);
    minutes(24 * 60);
    await send();
    expect(subjectsTo(bob).at(-1)).toBe('2 invitations wait for you');
    minutes(24 * 60);
    await send();
    expect(subjectsTo(bob)).toHaveLength(4);
  });

  it('sends 10 mails a day, and loses no news', async () => {
    const bob = await userOf('d1');
    await wants(bob, 'd1');
    await giveTask(bob, 'd1');
    const news = [{ userId: bob.name, kind: 'tasks' as const }];
    for (let count = 1; count <= 12; count++) {
      await send();
      minutes(11);
      await withNews(table(), { domain: 'd1', news, now: new Date(clock.now()).toISOString() }, async () => undefined);
    }
    expect(mailsTo(bob)).toHaveLength(10);
    minutes(24 * 60);
    await send();
    expect(subjectsTo(bob).slice(10)).toEqual(['1 task waits for you']);
  });

  it('sends later what a server does not take, while requests do not wait', async () => {
    const bob = await userOf('d1');
    await wants(bob, 'd1');
    smtp.answer = '451 Try later';
    await invite(bob, 'd1');
    await send();
    expect(smtp.refused).toBeGreaterThan(0);
    smtp.answer = '250 Taken';
    await send();
    expect(mailsTo(bob)).toHaveLength(0);
    minutes(10);
    await send();
    expect(subjectsTo(bob)).toEqual(['1 invitation waits for you']);
  });

  it('reaches a user beside 12 whose addresses the server refuses, and tries those again after an hour', async () => {
    const gone = await Promise.all(Array.from({ length: 12 }, () => userOf('d1', true, 'gone')));
    const bob = await userOf('d1');
    await Promise.all([...gone, bob].map((each) => wants(each, 'd1')));
    smtp.unknown = 'gone';
    await alice('POST', '/d1/computations', { name: 'Secret plan', providers: gone.map(({ name }) => name) });
    for (const each of gone) await invited(each, 'd1', 1);
    await invite(bob, 'd1');
    await send();
    expect(subjectsTo(bob)).toEqual(['1 invitation waits for you']);
    const tried = () => gone.map(({ address }) => smtp.unknownTried.filter((each) => each === address).length);
    expect(tried()).toEqual(gone.map(() => 1));
    minutes(58);
    await send();
    expect(tried()).toEqual(gone.map(() => 1));
    minutes(2);
    await send();
    expect(tried()).toEqual(gone.map(() => 2));
  });

  it('tells nothing of what no longer waits', async () => {
    const bob = await userOf('d1');
    await wants(bob, 'd1');
    const id = await invite(bob, 'd1');
    await alice('DELETE', `/d1/computations/${id}`);
    await expect
      .poll(async () => (await bob.call('GET', '/d1/todo')).body, { timeout: 30_000 })
      .toMatchObject({ totals: { invitations: 0 } });
    await send();
    expect(mailsTo(bob)).toHaveLength(0);
  });

  it('sends nothing to those who turned it off, and keeps nothing of them', async () => {
    const bob = await userOf('d1');
    await wants(bob, 'd1');
    await invite(bob, 'd1');
    expect((await bob.call('PUT', '/d1/notifications', { email: false })).body).toMatchObject({ email: false });
    const { body } = await bob.call('GET', '/d1/notifications');
    expect(body).toEqual({ email: false, is_sent: true });
    expect(await bob.call('PUT', '/d1/notifications', body as object)).toMatchObject({ status: 200, body });
    await send();
    expect(mailsTo(bob)).toHaveLength(0);
  });

  it('is not turned on without a verified address', async () => {
    const bob = await userOf('d1', false);
    expect(await bob.call('PUT', '/d1/notifications', { email: true })).toMatchObject({
      status: 409,
      body: { reason: 'no_verified_address' },
    });
  });

  it('goes with the user, who leaves the domain', async () => {
    const bob = await userOf('d1');
    await wants(bob, 'd1');
    const change = async (request: object) => {
      const body = JSON.stringify({ domain: 'd1', ...request });
      const answer = await fetch(`${stack.baseUrl}/local/domain`, { method: 'POST', headers: isJson, body });
      expect([answer.status, await answer.json()]).toEqual([200, expect.anything()]);
    };
    await change({ action: 'create', user: 'alice' });
    await change({ action: 'invite', user: bob.name, roles: ['viewer'] });
    await change({ action: 'role', user: bob.name, roles: [] });
    expect((await bob.call('GET', '/d1/notifications')).body).toMatchObject({ email: false });
  });

  it('goes with the domain', async () => {
    const bob = await userOf('d3');
    await wants(bob, 'd3');
    await invite(bob, 'd3');
    const removal = { method: 'POST', headers: isJson };
    const body = JSON.stringify({ action: 'remove', domain: 'd3', stop: true });
    expect((await fetch(`${stack.baseUrl}/local/domain`, { ...removal, body })).status).toBe(200);
    expect(await storedText()).not.toMatch(/mail#d3|"domain_id":"d3"/);
  });
});

describe('unsubscribe', () => {
  it('ends mail by a POST of either form, also twice, and by no GET', async () => {
    const bob = await userOf('d1');
    await wants(bob, 'd1');
    await invite(bob, 'd1');
    await send();
    const link = linkIn(bob);
    const page = await fetch(link);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<form method="post">')]);
    expect((await bob.call('GET', '/d1/notifications')).body).toMatchObject({ email: true });
    expect((await post(link, oneClick())).status).toBe(200);
    expect((await bob.call('GET', '/d1/notifications')).body).toMatchObject({ email: false });
    const form = new FormData();
    form.set('List-Unsubscribe', 'One-Click');
    expect((await post(link, form)).status).toBe(200);
  });

  it('answers 404 for a secret that is not from the service, and 400 for another form', async () => {
    const bob = await userOf('d1');
    await wants(bob, 'd1');
    await invite(bob, 'd1');
    await send();
    const link = linkIn(bob);
    const forged = link.replace(/.$/, (last) => (last === 'A' ? 'E' : 'A'));
    expect((await post(forged, oneClick())).status).toBe(404);
    expect((await post(link.replace('/d1.', '/d2.'), oneClick())).status).toBe(404);
    expect((await post(link, new URLSearchParams({ x: '1' }))).status).toBe(400);
    expect((await post(link, '{}')).status).toBe(415);
    expect((await bob.call('GET', '/d1/notifications')).body).toMatchObject({ email: true });
  });
});

it('takes a password of --smtp with signs that addresses encode, and with a % of its own', () => {
  const passwords = ['p%40ss', 'p%zz', '100%', '%ff'].map((pass) => parseSmtp(`smtp://user:${pass}@127.0.0.1`).auth?.pass);
  expect(passwords).toEqual(['p@ss', 'p%zz', '100%', '\ufffd']);
});
