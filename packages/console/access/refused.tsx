import { Alert } from '@cloudscape-design/components';
import { type AccessAction, rolesWith } from 'computation-management-formats/vocabulary';
import { askForRole } from 'computation-management-words';

const alternatives = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/**
 * Shows in place of a form that the user may not use the form, and which roles may.
 * @param what the purpose of the form, such as `create computations`
 * @param actions the actions of which any one suffices to use the form
 * @param or a further condition that suffices to use the form, such as `being the owner`
 */
export function Refused({ what, actions, or }: { what: string; actions: AccessAction[]; or?: string }) {
  return (
    <Alert type="warning" header={`You may not ${what}`}>
      Requires the role {alternatives.format(rolesWith(...actions))}
      {or !== undefined && `, or ${or}`}. {askForRole}
    </Alert>
  );
}
