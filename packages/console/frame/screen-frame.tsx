import { BreadcrumbGroup, Container, ContentLayout, Header, type HeaderProps, LiveRegion } from '@cloudscape-design/components';
import { type ReactNode, useEffect, useState } from 'react';
import { createPortal } from 'react-dom';
import { useFrame } from '../access/console-context.ts';
import { hasMoved } from '../routing/navigation.ts';
import { focusTitle, isFocusTaken } from './focus.ts';

interface Props {
  title: string;
  description?: ReactNode;
  /** The breadcrumbs above the screen, from the domain down. The screen itself is added as the last breadcrumb. */
  above: readonly { text: string; href: string }[];
  actions?: ReactNode;
  /** False if the content of the screen is a table that shows the title of the screen itself. */
  hasHeader?: boolean;
  children: ReactNode;
}

/** Shows a screen with its title, breadcrumbs and actions. The title gets the focus when the user comes from another screen. */
export function ScreenFrame({ title, description, above, actions, hasHeader = true, children }: Props) {
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
              actions={<div className="row">{actions}</div>}
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

interface PanelProps extends Pick<HeaderProps, 'description' | 'actions' | 'counter' | 'info'> {
  title: ReactNode;
  children: ReactNode;
}

/** Shows a part of a screen below a title. */
export function Panel({ title, children, ...header }: PanelProps) {
  return (
    <Container
      header={
        <Header variant="h2" {...header}>
          {title}
        </Header>
      }
    >
      {children}
    </Container>
  );
}
