import '@cloudscape-design/global-styles/index.css';
import I18nProvider from '@cloudscape-design/components/i18n';
import messages from '@cloudscape-design/components/i18n/messages/all.en';
import { createRoot } from 'react-dom/client';
import './console.css';
import { followAppearance } from './shell/top-bar.tsx';
import { keepTextsVisible } from './show/visible-texts.tsx';
import { Shell } from './shell/shell.tsx';
import { currentSession } from './sign-in/session.ts';

keepTextsVisible();
followAppearance();
const session = await currentSession();
const root = document.getElementById('console');
if (!root) throw new TypeError('The page has no element for the console.');
createRoot(root).render(
  <I18nProvider locale="en" messages={[messages]}>
    <Shell session={session} />
  </I18nProvider>,
);
