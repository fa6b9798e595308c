import { BreadcrumbGroup, Button, Container, ContentLayout, Header, LiveRegion } from '@cloudscape-design/components';
import { type ComponentProps, type ReactNode, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { useFrame } from '../access/index.ts';
import type { Loaded } from '../loading/index.ts';
import { hasMoved } from '../routing/index.ts';
import { focusTitle, isFocusTaken } from './focus.ts';

interface Props {
  title: string;
  description?: ReactNode;
  /** The breadcrumbs above the screen, from the domain down. The screen itself is added as the last breadcrumb. */
  above: readonly { text: string; href: string }[];
  actions?: ReactNode;
  /** The loaded content of the screen, for a button before the actions that loads it again. */
  loaded?: Pick<Loaded<unknown>, 'isLoading' | 'reload'>;
  /** False if the content of the screen is a table that shows the title of the screen itself. */
  hasHeader?: boolean;
  children: ReactNode;
}

/** Shows a screen with its title, breadcrumbs and actions. The title gets the focus when the user comes from another screen. */
export function ScreenFrame({ title, description, above, actions, loaded, hasHeader = true, children }: Props) {
  const { breadcrumbs } = useFrame();
  const [firstTitle] = useState(title);
  useEffect(() => {
    document.title = title === 'Computations' ? title : `${title} - Computations`;
  }, [title]);
  useEffect(() => {
    if (hasMoved() && !isFocusTaken()) focusTitle();
  }, []);
  return (
    <>
      {breadcrumbs && createPortal(<BreadcrumbGroup items={[...above, { text: title, href: location.href }]} />, breadcrumbs)}
      {/* The focus tells a screen reader the first title. It would not notice another one, such as a name that is loaded later. */}
      <LiveRegion hidden>{title === firstTitle ? '' : title}</LiveRegion>
      <ContentLayout
        {...(hasHeader && {
          header: (
            <Header
              variant="h1"
              description={description && <span className="description">{description}</span>}
              actions={
                <div className="row">
                  {loaded && <Button iconName="refresh" ariaLabel="Refresh" loading={loaded.isLoading} onClick={loaded.reload} />}
                  {actions}
                </div>
              }
            >
              {title}
            </Header>
          ),
        })}
      >
        <div className="stack">{children}</div>
      </ContentLayout>
    </>
  );
}

type Heading = Pick<ComponentProps<typeof Header>, 'description' | 'actions' | 'counter' | 'info'>;

/** Shows a part of a screen below a title, with space between what it contains. */
export function Panel({ title, children, ...header }: Heading & { title: ReactNode; children: ReactNode }) {
  return (
    <Container
      header={
        <Header variant="h2" {...header}>
          {title}
        </Header>
      }
    >
      <div className="stack">{children}</div>
    </Container>
  );
}
