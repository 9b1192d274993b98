/** What is needed of the wire types until `src/wire` holds the generated ones. */
export type ToolKind =
  | 'execute'
  | 'read'
  | 'edit'
  | 'delete'
  | 'move'
  | 'search'
  | 'fetch'
  | 'web_search'
  | 'plan'
  | 'mcp'
  | 'agent'
  | 'question'
  | 'switch_mode'
  | 'other';

export interface FileChange {
  path: string;
  kind: 'added' | 'modified' | 'deleted' | 'moved';
  diff?: string;
  lines?: [number, number];
}
