import { Component, type ReactNode } from 'react';
import { ProblemAlert } from '../loading/problem-alert.tsx';

interface State {
  error?: unknown;
}

/** Shows why a screen failed, such as a part that could not be loaded, instead of an empty page. */
export class ScreenErrors extends Component<{ children: ReactNode }, State> {
  override state: State = {};

  static getDerivedStateFromError(error: unknown): State {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    // A new version of the console has other files: only a reload finds them.
    return <ProblemAlert problem={error} retry={() => location.reload()} />;
  }
}
