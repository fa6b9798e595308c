import { Alert } from '@cloudscape-design/components';
import { type AccessAction, rolesWith } from 'computation-management-formats/vocabulary';
import { askForRole } from 'computation-management-words';

interface Props {
  /** What the screen is for, such as `create computations`. */
  what: string;
  /** Each of them allows it. */
  actions: AccessAction[];
  /** Who else may, such as `being the owner`. */
  or?: string;
}

const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Stands in place of a form that the user may not use. */
export function Refused({ what, actions, or }: Props) {
  return (
    <Alert type="warning" header={`You may not ${what}`}>
      Requires the role {alternatives.format(rolesWith(...actions))}
      {or !== undefined && `, or ${or}`}. {askForRole}
    </Alert>
  );
}
