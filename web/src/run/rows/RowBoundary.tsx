import { Component, type ReactNode } from 'react';

interface Props {
  children: ReactNode;
  fallback: ReactNode;
  /** Another one is another try. */
  resetKey: unknown;
  /** What a person is told. */
  note?: string;
}

/** A part that cannot show what an agent or a server said takes nothing else with it. */
export class RowBoundary extends Component<Props, { failedAt: unknown; hasFailed: boolean }> {
  override state = { failedAt: null as unknown, hasFailed: false };

  static getDerivedStateFromError() {
    return { hasFailed: true };
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
          {this.props.note ?? 'This card cannot be shown. Its raw output is there all the same.'}
        </p>
      </>
    );
  }
}
