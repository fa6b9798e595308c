import { Container, Header, type HeaderProps } from '@cloudscape-design/components';
import type { ReactNode } from 'react';

interface Props extends Pick<HeaderProps, 'description' | 'actions' | 'counter' | 'info'> {
  title: ReactNode;
  children: ReactNode;
}

/** Shows a part of a screen below a title. */
export function Panel({ title, children, ...header }: Props) {
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
