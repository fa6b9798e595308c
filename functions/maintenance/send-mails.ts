import * as v from 'valibot';
import { mailerOfStage, sendMails } from '../../shared/notifications/index.ts';
import { openKms, sharedClient } from '../../shared/runtime/clients.ts';
import { openTable } from '../../shared/table/table.ts';
import { task } from '../../shared/tasks/task.ts';

/** Sends users mails about what has begun to wait for them, if the stage sends mail. */
export const handler = task('maintenance/send-mails', v.unknown(), async (_event, { now, deadline }) => {
  const mailer = sharedClient(mailerOfStage);
  return mailer && { sent: await sendMails({ table: openTable(deadline), kms: openKms(deadline), mailer }, now) };
});
