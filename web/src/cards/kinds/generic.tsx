import { Plug, Wrench } from 'lucide-react';
import { useMemo } from 'react';
import { CodeView } from '../../code/CodeView';
import type { Card, CardProps } from '../card';
import { deriveJson, prettyIfJson } from '../derive-json';
import { Output } from '../Output';
import { Labelled } from '../parts';
import { Preparing } from './edit';

/** Any tool: what went in and what came out, as it is. */
export function GenericBody({ call, run }: CardProps) {
  const input = useMemo(() => deriveJson(call.input), [call.input]);
  const output = useMemo(() => prettyIfJson(call.output ?? ''), [call.output]);
  const hasInput = call.input !== null && input !== '{}';
  return (
    <>
      {hasInput && (
        <Labelled label="In">
          <CodeView text={input} language="json" firstLine={null} maxLines={30} label="Arguments" />
        </Labelled>
      )}
      <Preparing call={call} />
      {output.isJson && call.outputBytes === null && call.attachments.length === 0 ? (
        <Labelled label="Out">
          <CodeView text={output.text} language="json" firstLine={null} maxLines={30} label="Output" />
        </Labelled>
      ) : (
        <Output call={call} run={run} />
      )}
    </>
  );
}

export const generic: Card = { icon: Wrench, Body: GenericBody };

/** `mcp__server__tool` and `mcp_server_tool` without what is told already. */
export function mcpTitle(name: string, server: string | null): string {
  const [, fromName, tool] = /^mcp__(.+?)__(.+)$/.exec(name) ?? [];
  const prefix = `mcp_${server}_`;
  const short = tool ?? (server !== null && name.startsWith(prefix) ? name.slice(prefix.length) : name);
  const where = server ?? fromName;
  return where ? `${where} · ${short}` : short;
}

export const mcp: Card = {
  icon: Plug,
  title: (call) => mcpTitle(call.name, call.mcpServer),
  Body: GenericBody,
};
