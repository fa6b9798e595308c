import { described, namedInput, namedObject, returnedField } from 'computation-management-formats/fields';
import * as v from 'valibot';
import type { Route } from '../http/route.ts';

/** The permissions to make the secrets of the service, and to encrypt addresses. */
const ofSecret = { sealingKey: ['GenerateDataKey'], seals: 'secret' } as const;

const isOn = described(v.boolean(), 'Whether you get mail when something begins to wait for you in the domain.');
const isSent = described(v.boolean(), 'Whether the service sends mail. false if its operator has not set it up.');
const state = namedObject('Notifications', 'How you are told of what begins to wait for you in the domain.', {
  email: isOn,
  is_sent: isSent,
});

/** The actions of which each role has one: the endpoint is for all users of the domain. */
const anyRole = { anyOf: ['view', 'operate_cvm'] } as const;

const changed =
  'At most one mail comes in 10 minutes and 10 a day, over all domains; of them one a day about invitations. A mail has a count and a link.';

export const setNotificationsRoute = {
  name: 'notifications/set-notifications',
  method: 'PUT',
  path: '/{domainID}/notifications',
  summary: 'Turn mail about your open tasks on or off',
  access: anyRole,
  uses: { table: ['GetItem', 'PutItem', 'UpdateItem', 'DeleteItem'], ...ofSecret, mail: [] },
  impact: 'Users cannot turn mail on or off.',
  body: namedInput('NotificationsInput', 'Whether you get mail about what begins to wait for you.', {
    email: isOn,
    is_sent: returnedField,
  }),
  response: state,
  reasons: ['no_verified_address'],
  description:
    'The address is the verified one of your token (`email` with `email_verified`), or else of the userinfo endpoint of its issuer. Without one: ' +
    `409. It is kept encrypted until you turn mail off. ${changed}`,
} as const satisfies Route;

export const getNotificationsRoute = {
  name: 'notifications/get-notifications',
  method: 'GET',
  path: '/{domainID}/notifications',
  summary: 'Get whether you get mail about your open tasks',
  access: anyRole,
  uses: { table: ['GetItem'], mail: [] },
  impact: 'Users cannot see whether they get mail.',
  response: state,
} as const satisfies Route;

export const unsubscribeRoute = {
  name: 'notifications/unsubscribe',
  method: 'POST',
  path: '/unsubscribe/{secret}',
  takesKey: false,
  summary: 'Unsubscribe with the link of a mail (RFC 8058)',
  uses: { table: ['GetItem', 'PutItem', 'BatchWriteItem'], sealingKey: ['GenerateDataKey', 'Decrypt'], seals: 'secret' },
  impact: 'Users cannot unsubscribe from mail with its link.',
  bodyLimit: 4 * 1024,
  isForm: true,
  body: namedInput('UnsubscribeInput', 'The form that programs for mail send.', {
    'List-Unsubscribe': described(v.literal('One-Click'), 'Always `One-Click`.'),
  }),
  media: { type: 'text/plain' },
  response: v.pipe(v.string(), v.description('A sentence that says so.'), v.metadata({ maxLength: 200 })),
  errors: ['not_found'],
  description:
    'Ends mail to the user whom the secret names, about the domain that it names. Also succeeds if mail has ended before.',
} as const satisfies Route;

export const showUnsubscribeRoute = {
  name: 'notifications/show-unsubscribe',
  method: 'GET',
  path: '/unsubscribe/{secret}',
  summary: 'Get the page with a button to unsubscribe',
  uses: {},
  impact: 'Users who open the link of a mail do not see the button to unsubscribe.',
  media: { type: 'text/html' },
  response: v.pipe(v.string(), v.description('A page with a form.'), v.metadata({ maxLength: 2_000 })),
  description: 'Changes nothing.',
} as const satisfies Route;
