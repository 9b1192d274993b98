import { Component, type ReactNode } from 'react';

interface CardBoundaryProps {
  children: ReactNode;
  /** Gets the reason. */
  fallback: (why: string) => ReactNode;
  /** Another one is another try. */
  resetKey: unknown;
}

interface CardBoundaryState {
  why: string | null;
  failedKey: unknown;
}

/** What a card cannot show never takes the page with it. */
export class CardBoundary extends Component<CardBoundaryProps, CardBoundaryState> {
  override state: CardBoundaryState = { why: null, failedKey: undefined };

  static getDerivedStateFromError(error: unknown): Partial<CardBoundaryState> {
    return { why: error instanceof Error ? error.message : String(error) };
  }

  static getDerivedStateFromProps(
    props: CardBoundaryProps,
    state: CardBoundaryState,
  ): Partial<CardBoundaryState> | null {
    if (state.why === null) return { failedKey: props.resetKey };
    return state.failedKey === props.resetKey ? null : { why: null, failedKey: props.resetKey };
  }

  override render(): ReactNode {
    const { why } = this.state;
    return why === null ? this.props.children : this.props.fallback(why);
  }
}
