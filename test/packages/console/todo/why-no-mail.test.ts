import { ServiceProblem } from 'computation-management-client';
import { expect, it } from 'vitest';
import { whyNoMail } from '../../../../packages/console/todo/why-no-mail.ts';

const refused = (reason: 'no_verified_address' | 'run_active') =>
  new ServiceProblem({ status: 409, code: 'conflict', detail: 'Refused.', request: 'setNotifications', reason });

it.each([
  ['if the operator has not set it up', false, undefined, /^The operator of this service has not set up mail/],
  [
    'if the sign-in has no verified address',
    true,
    refused('no_verified_address'),
    /^Your sign-in gives this service no verified/,
  ],
])('mail cannot be turned on %s, and the console says so', (_, is_sent, problem, text) => {
  expect(whyNoMail({ email: false, is_sent }, problem)).toMatch(text);
});

it.each([undefined, refused('run_active'), new Error('No service answers.')])(
  'nothing but these prevents mail, not %s',
  (problem) => {
    expect(whyNoMail({ email: false, is_sent: true }, problem)).toBeUndefined();
  },
);
