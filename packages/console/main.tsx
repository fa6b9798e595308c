import '@cloudscape-design/global-styles/index.css';
import { AppLayoutToolbar, TopNavigation } from '@cloudscape-design/components';
import I18nProvider from '@cloudscape-design/components/i18n';
import messages from '@cloudscape-design/components/i18n/messages/all.en';
import { createRoot } from 'react-dom/client';
import './console.css';
import { CurrentScreen } from './shell/current-screen.tsx';
import { followAppearance } from './shell/top-bar.tsx';
import { addressOf, placeOf } from './routing/index.ts';
import { keepTextsVisible } from './show/index.ts';
import { Shell } from './shell/shell.tsx';
import { currentSession } from './sign-in/session.ts';

keepTextsVisible();
followAppearance();
const place = placeOf(location.pathname);
const root = document.getElementById('console');
if (!root) throw new TypeError('The page has no element for the console.');
const page =
  place?.screen === 'verify' ? ( // Whoever has a file may check it.
    <>
      <TopNavigation identity={{ href: addressOf({ screen: 'home' }), title: 'Computations' }} />
      <AppLayoutToolbar navigationHide toolsHide content={<CurrentScreen place={place} />} />
    </>
  ) : (
    <Shell session={await currentSession()} />
  );
createRoot(root).render(
  <I18nProvider locale="en" messages={[messages]}>
    {page}
  </I18nProvider>,
);
