import { Alert } from '@cloudscape-design/components';
import { type AccessAction, rolesWith } from 'computation-management-formats/vocabulary';
import { askForRole } from 'computation-management-words';

interface Props {
  /** The purpose of the form that the user may not use, such as `create computations`. */
  what: string;
  /** The actions of which any one suffices to use the form. */
  actions: AccessAction[];
  /** A further condition that suffices to use the form, such as `being the owner`. */
  or?: string;
}

const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Shows in place of a form that the user may not use the form, and which roles may. */
export function Refused({ what, actions, or }: Props) {
  return (
    <Alert type="warning" header={`You may not ${what}`}>
      Requires the role {alternatives.format(rolesWith(...actions))}
      {or !== undefined && `, or ${or}`}. {askForRole}
    </Alert>
  );
}
