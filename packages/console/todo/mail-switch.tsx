import { Toggle } from '@cloudscape-design/components';
import type { Schemas } from 'computation-management-client';
import { useState } from 'react';
import { useDomain } from '../access/index.ts';
import { Panel } from '../frame/index.ts';
import { LoadedView, ProblemAlert, useAction, useLoaded } from '../loading/index.ts';
import { StatusIndicator } from '../show/index.ts';
import { whyNoMail } from './why-no-mail.ts';

/** Shows whether the user gets mail about new tasks in the domain, or why that is not possible, and turns it on or off. */
export function MailSwitch() {
  const { client, domain } = useDomain();
  const loaded = useLoaded(domain, (signal) => client.getNotifications({ signal }));
  const [changed, setChanged] = useState<Schemas['Notifications']>();
  const change = useAction(async (email: boolean) => setChanged(await client.setNotifications({ body: { email } })));
  const state = changed ?? loaded.value;
  const obstacle = state && whyNoMail(state, change.problem);
  return (
    <Panel title="Mail">
      <LoadedView loaded={{ ...loaded, value: state }} what="whether you get mail">
        {({ email, is_sent }) => (
          <>
            <Toggle
              checked={email}
              disabled={change.isRunning || (!is_sent && !email)}
              description="A count and a link, to the verified address of your sign-in: at most every 10 minutes, 10 a day."
              onChange={({ detail }) => void change.run(detail.checked)}
            >
              Mail me when something begins to wait for me in this domain
            </Toggle>
            <div role="status">{obstacle !== undefined && <StatusIndicator type="warning">{obstacle}</StatusIndicator>}</div>
            {obstacle === undefined && <ProblemAlert problem={change.problem} />}
          </>
        )}
      </LoadedView>
    </Panel>
  );
}
