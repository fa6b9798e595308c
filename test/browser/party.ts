import type { TokenSet } from 'computation-management-client';
import type { Page } from 'playwright-core';
import { type ConsoleWorld, type Identity, signIn, type TabOptions } from './console-world.ts';
import { goWithin } from './go-within.ts';
import { publicKey } from '../support/ready-computation.ts';

const demoData = new URL('../../tools/demo/data/', import.meta.url);

/** A user at a browser, who does what a person does. */
export interface Party {
  page: Page;
  /** Opens a screen of the domain by its address. */
  open: (path: string) => Promise<void>;
  createComputation: (name: string) => Promise<string>;
  uploadKey: (name: string) => Promise<void>;
  /** Uploads a file of the demo, and links it to the computation. */
  uploadInto: (computation: string, input: { file: string; type: 'Algorithm' | 'Dataset'; use?: string }) => Promise<void>;
  startRun: (cvm: string) => Promise<void>;
}

/** Opens a tab for a user, signs in, and shows the computations of the domain. */
export async function enter(
  world: ConsoleWorld,
  { user, roles, domain = 'd1', more = '', ...options }: Identity & TabOptions,
): Promise<Party> {
  const page = await world.openTab(options);
  await page.goto(`/console/domains/${domain}/computations`);
  await signIn(page, { user, roles, domain, more });
  await page.getByRole('heading', { name: /^Computations/, level: 1 }).waitFor();
  return partyAt(page, domain);
}

/**
 * Opens a tab in which a user has signed in before, and shows a screen of the domain.
 * @param path the address of the screen. Default: the computations
 */
export async function arrive(
  world: ConsoleWorld,
  { user, roles, domain = 'd1', more = '', path = 'computations', ...options }: Identity & TabOptions & { path?: string },
): Promise<Party> {
  const page = await world.openTab(options);
  const memberships = [...roles.map((role) => `${domain}:${role}`), ...(more === '' ? [] : [more])];
  const inAnHour = Math.floor(Date.now() / 1_000) + 3_600;
  const tokens: TokenSet = { access_token: await world.stack.token(user, memberships), expires_at: inAnHour };
  await page.addInitScript((text) => {
    if (sessionStorage.getItem('has-arrived')) return; // a later document of this tab
    sessionStorage.setItem('has-arrived', 'yes');
    sessionStorage.setItem('console.tokens', text);
  }, JSON.stringify(tokens));
  await page.goto(`/console/domains/${domain}/${path}`);
  await page.getByRole('heading', { level: 1 }).waitFor();
  return partyAt(page, domain);
}

function partyAt(page: Page, domain: string): Party {
  const press = (name: string) => page.getByRole('button', { name, exact: true }).click();
  const open = async (path: string): Promise<void> => {
    await goWithin(page, `/console/domains/${domain}/${path}`);
  };
  return {
    page,
    open,
    createComputation: async (name) => {
      await open('computations/new');
      await page.getByRole('textbox', { name: 'Name', exact: true }).fill(name);
      await press('Create computation');
      await page.getByRole('heading', { name, level: 1 }).waitFor();
      return page.url().split('/').at(-1) ?? '';
    },
    uploadKey: async (name) => {
      await press('Upload key');
      const dialog = page.getByRole('dialog', { name: 'Upload your public key' });
      await dialog.getByRole('textbox', { name: 'Public key' }).fill(publicKey());
      await dialog.getByRole('button', { name: 'Upload', exact: true }).click();
      await page.getByText('Your public key is here').waitFor();
      await page.getByRole('heading', { name, level: 1 }).waitFor();
    },
    uploadInto: async (computation, { file, type, use }) => {
      await open(`assets/new?computation=${computation}`);
      await page.locator('input[type=file]').setInputFiles(new URL(file, demoData).pathname);
      await page.getByRole('radio', { name: type }).check();
      if (use !== undefined) await page.getByRole('radio', { name: use }).check();
      await press('Upload');
      await page.getByRole('table', { name: 'Inputs' }).getByRole('link', { name: file }).waitFor();
    },
    startRun: async (cvm) => {
      await press('Start run');
      const dialog = page.getByRole('dialog');
      await dialog.getByText('Simulated CVMs answer to any name here, such as sim-1.').waitFor();
      await dialog.getByRole('combobox').fill(cvm);
      await dialog.getByRole('button', { name: 'Start run' }).click();
      await page.getByRole('heading', { name: /^Run of / }).waitFor();
    },
  };
}
