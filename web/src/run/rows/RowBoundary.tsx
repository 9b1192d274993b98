import { Component, type ReactNode } from 'react';
import { PartMissing } from '../../layout/lazy-part';

interface Props {
  children: ReactNode;
  fallback: ReactNode;
  /** Another one is another try. */
  resetKey: unknown;
  /** What a person is told. */
  note?: string;
}

const MISSING = 'A part of the page could not be loaded: reload it to see this as it should be.';
const BROKEN = 'This card cannot be shown. Its raw output is there all the same.';

/** A part that cannot show what an agent or a server said takes nothing else with it. */
export class RowBoundary extends Component<
  Props,
  { failedAt: unknown; hasFailed: boolean; isMissing: boolean }
> {
  override state = { failedAt: null as unknown, hasFailed: false, isMissing: false };

  static getDerivedStateFromError(error: unknown) {
    return { hasFailed: true, isMissing: error instanceof PartMissing };
  }

  override componentDidCatch(): void {
    this.setState({ failedAt: this.props.resetKey });
  }

  override componentDidUpdate(): void {
    const { hasFailed, failedAt } = this.state;
    if (hasFailed && failedAt !== null && failedAt !== this.props.resetKey) {
      this.setState({ hasFailed: false, failedAt: null });
    }
  }

  override render(): ReactNode {
    if (!this.state.hasFailed) return this.props.children;
    return (
      <>
        {this.props.fallback}
        <p role="alert" className="text-warn text-xs">
          {this.state.isMissing ? MISSING : (this.props.note ?? BROKEN)}
        </p>
      </>
    );
  }
}
