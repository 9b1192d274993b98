import type { components } from './schema';

export type Problem = components['schemas']['Problem'];

/** An answer of the server that is no success, or none at all. */
export class ApiError extends Error {
  /** The status; 0 if the server could not be reached. */
  readonly status: number;
  /** What went wrong, for programs. */
  readonly code: Problem['code'] | 'unreachable' | 'unreadable';
  /** All that the server said. */
  readonly problem: Problem | null;

  constructor(status: number, code: ApiError['code'], message: string, problem: Problem | null = null) {
    super(message);
    this.name = 'ApiError';
    this.status = status;
    this.code = code;
    this.problem = problem;
  }

  get isLoggedOut(): boolean {
    return this.status === 401;
  }
}

const UNREACHABLE = 'The server does not answer. Is `ralph serve` still running?';

export function unreachable(): ApiError {
  return new ApiError(0, 'unreachable', UNREACHABLE);
}

/** The error that a body of an answer stands for, whatever it is. */
export function errorOf(status: number, body: unknown): ApiError {
  if (typeof body === 'object' && body !== null && 'code' in body && 'detail' in body) {
    const problem = body as Problem;
    return new ApiError(status, problem.code, String(problem.detail), problem);
  }
  return new ApiError(status, 'unreadable', `The server answered with status ${status} and did not say why.`);
}

/** Any failure in words for people. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
