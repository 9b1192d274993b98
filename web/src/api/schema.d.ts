// Made from docs/openapi.json by `npm run schema`; a test holds it against that. Do not edit.
export interface paths {
    "/api/v1/approvals": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists what agents asked. */
        get: {
            parameters: {
                query?: {
                    /** @description Only those that wait for an answer. */
                    pending?: boolean;
                    /** @description Only those of this run. */
                    run?: string;
                    /** @description `next` of the page before. */
                    cursor?: string;
                    /** @description How many at most. */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The requests, oldest first. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Approvals"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/backends": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the agents that could run here. Nothing of a workspace that is not trusted is used or run to find them. */
        get: {
            parameters: {
                query?: {
                    /** @description The workspace whose settings apply: an absolute path; the server's own directory by default. */
                    workspace?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The agents. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Backends"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/costs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Adds up what was spent.
         * @description Of runs that ended more than a day ago, and of removed ones, daily sums are kept: what such a run used on a day (UTC)
         *     counts at the time of its last message of that day.
         */
        get: {
            parameters: {
                query?: {
                    /** @description By what they are added up. */
                    group?: "day" | "model" | "workspace" | "backend" | "run";
                    /** @description From then on. */
                    since?: string;
                    /** @description Before that. */
                    until?: string;
                    /** @description Only this workspace. */
                    workspace?: string;
                    /** @description `next` of the page before. */
                    cursor?: string;
                    /** @description How many at most. */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description What was spent. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Costs"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/login": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Opens a session with a code or a token. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Login"];
                };
            };
            responses: {
                /** @description The session. */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LoggedIn"];
                    };
                };
                400: components["responses"]["Problem"];
                413: components["responses"]["Problem"];
                415: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/login-links": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Makes a link that logs a browser in, once, within ten minutes. Needs the server token itself. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The link. */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LoginLink"];
                    };
                };
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/login-sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the browsers that are logged in: all of them with scope `admin`, otherwise those of the same token. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The sessions. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["LoginSessionList"];
                    };
                };
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        /** Logs all browsers out. Their open streams end. */
        delete: {
            parameters: {
                query?: {
                    /** @description Whether the session that asks stays. */
                    keep_current?: boolean;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description They are ended. */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/login-sessions/{session}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Logs one browser out. Its open streams end. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The session. */
                    session: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is ended. */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/logout": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends the session that asks. A token stays valid. */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It is ended, and with it the streams that it opened. */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/openapi.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describes the API. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description This document. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": Record<string, never>;
                    };
                };
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists runs, newest first. */
        get: {
            parameters: {
                query?: {
                    /** @description Only those in this workspace. */
                    workspace?: string;
                    /** @description Only those of this agent. */
                    backend?: string;
                    /** @description Only those with this tag. */
                    tag?: string;
                    /** @description Only those in this state. */
                    state?: "active" | "working" | "waiting" | "ended";
                    /** @description Only those that began then or later. */
                    since?: string;
                    /** @description Only those that began before. */
                    until?: string;
                    /** @description `next` of the page before. */
                    cursor?: string;
                    /** @description How many at most; runs that began a moment ago may come in addition. */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of runs. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RunPage"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        /** Starts a run. */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description The same request under the same key is done once, for 24 hours. */
                    "idempotency-key"?: string;
                };
                path?: never;
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewRun"];
                };
            };
            responses: {
                /** @description The run has started. */
                201: {
                    headers: {
                        /** @description The address of the run. */
                        location?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Run"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                413: components["responses"]["Problem"];
                415: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows one run. */
        get: {
            parameters: {
                query?: never;
                header?: {
                    /** @description `etag` of an earlier answer. */
                    "if-none-match"?: string | null;
                };
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The run. */
                200: {
                    headers: {
                        /** @description Changes with the run. */
                        etag?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Run"];
                    };
                };
                /** @description The run has not changed. */
                304: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        /** Deletes a run that has ended: its journal, its raw output and what the index has of it. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The run is deleted. */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        options?: never;
        head?: never;
        /** Changes the title and the tags of a run. */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["ChangeRun"];
                };
            };
            responses: {
                /** @description The run as it is now. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Run"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                413: components["responses"]["Problem"];
                415: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        trace?: never;
    };
    "/api/v1/runs/{id}/approvals/{request}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Answers a request of an agent. The first answer counts. */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description The same request under the same key is done once, for 24 hours. */
                    "idempotency-key"?: string;
                };
                path: {
                    /** @description The run. */
                    id: string;
                    /** @description The request. */
                    request: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["Answer"];
                };
            };
            responses: {
                /** @description The run has it. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CommandReceipt"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                413: components["responses"]["Problem"];
                415: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                503: components["responses"]["Problem"];
                504: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/changes": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /**
         * Lists the files that a run changed, with their diffs. If the workspace is a git repository and had a commit when the run
         *     started, these are the net changes, including those that shell commands made; otherwise they are what tool calls reported.
         */
        get: {
            parameters: {
                query?: {
                    /** @description Only what tool calls reported, even if git knows the net changes. */
                    reported?: boolean;
                    /** @description Only this file, relative to the workspace. It has its diff even if that is left out of the list. Only for net changes. */
                    path?: string;
                    /** @description Only reported changes after this record. */
                    after?: number;
                    /** @description Only reported changes before this record. Without `after` these are the last ones before it. */
                    before?: number;
                    /** @description `next` of the page before. It continues in the same direction, and replaces `after` and `before`. */
                    cursor?: string;
                    /** @description How many tool calls at most, for reported changes. */
                    limit?: number;
                };
                header?: never;
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The changes. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Changes"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/events": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Watches one run, as server-sent events, until it has ended. */
        get: {
            parameters: {
                query?: {
                    /** @description Only records after this one. `Last-Event-ID`, the id of the last event, says the same and comes first. */
                    after?: number;
                    /** @description A ticket, instead of the `Authorization` header. It is checked before. */
                    ticket?: string;
                };
                header?: never;
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The records as they come. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/event-stream": string;
                    };
                };
                /** @description The run has ended, and this was all of it. */
                204: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/failures": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists what went wrong in a run: failed tool calls and verify commands, errors, and attempts that ended with an error. */
        get: {
            parameters: {
                query?: {
                    /** @description Only those after this record. */
                    after?: number;
                    /** @description Only those before this record. Without `after` these are the last ones before it. */
                    before?: number;
                    /** @description `next` of the page before. It continues in the same direction, and replaces `after` and `before`. */
                    cursor?: string;
                    /** @description How many at most. */
                    limit?: number;
                };
                header?: never;
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of failures. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["FailurePage"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/files": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Shows a file beneath a run's workspace, a megabyte of it at most. */
        get: {
            parameters: {
                query: {
                    /** @description The file, relative to the workspace. */
                    path: string;
                };
                header?: never;
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The file. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["FilePreview"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/fork": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Goes on with a copy of the conversation of a run, in a new run. */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description The same request under the same key is done once, for 24 hours. */
                    "idempotency-key"?: string;
                };
                path: {
                    /** @description The run to copy from. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["NextRun"] | null;
                };
            };
            responses: {
                /** @description The new run. */
                201: {
                    headers: {
                        /** @description The address of the run. */
                        location?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Run"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                413: components["responses"]["Problem"];
                415: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/interrupt": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends the agent's turn. */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description The same request under the same key is done once, for 24 hours. */
                    "idempotency-key"?: string;
                };
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The run has it. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CommandReceipt"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                503: components["responses"]["Problem"];
                504: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/messages": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the messages to an agent, and what became of them. */
        get: {
            parameters: {
                query?: {
                    /** @description `next` of the page before. */
                    cursor?: string;
                    /** @description How many at most. */
                    limit?: number;
                };
                header?: never;
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The messages, in order. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["MessagePage"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        /** Says something to the agent. */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description The same request under the same key is done once, for 24 hours. */
                    "idempotency-key"?: string;
                };
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["NewMessage"];
                };
            };
            responses: {
                /** @description The run has it, and it is in its journal. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CommandReceipt"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                413: components["responses"]["Problem"];
                415: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                503: components["responses"]["Problem"];
                504: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/messages/{message_id}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        post?: never;
        /** Takes back a message that the agent was not given yet. */
        delete: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The run. */
                    id: string;
                    /** @description The message. */
                    message_id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The run has it. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CommandReceipt"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                503: components["responses"]["Problem"];
                504: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        options?: never;
        head?: never;
        /** Changes a message that the agent was not given yet. */
        patch: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The run. */
                    id: string;
                    /** @description The message. */
                    message_id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["EditMessage"];
                };
            };
            responses: {
                /** @description The run has it. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CommandReceipt"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                413: components["responses"]["Problem"];
                415: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                503: components["responses"]["Problem"];
                504: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        trace?: never;
    };
    "/api/v1/runs/{id}/model": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Lets the agent go on with another model. */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description The same request under the same key is done once, for 24 hours. */
                    "idempotency-key"?: string;
                };
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SetModel"];
                };
            };
            responses: {
                /** @description The run has it. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CommandReceipt"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                413: components["responses"]["Problem"];
                415: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                503: components["responses"]["Problem"];
                504: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/permission-mode": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Changes what may happen without asking. */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description The same request under the same key is done once, for 24 hours. */
                    "idempotency-key"?: string;
                };
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["SetPermissionMode"];
                };
            };
            responses: {
                /** @description The run has it. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CommandReceipt"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                413: components["responses"]["Problem"];
                415: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                503: components["responses"]["Problem"];
                504: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/raw/{attempt}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads the output of a process, or a part of it. */
        get: {
            parameters: {
                query?: never;
                header?: {
                    /** @description One range of bytes, such as `bytes=0-1023`. */
                    range?: string;
                };
                path: {
                    /** @description The run. */
                    id: string;
                    /** @description Counts the run's processes, from 1. */
                    attempt: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description All that is there now. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/octet-stream": number[];
                    };
                };
                /** @description The range. */
                206: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/octet-stream": number[];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/raw/{attempt}/stderr": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads what a process wrote to stderr, or a part of it. */
        get: {
            parameters: {
                query?: never;
                header?: {
                    /** @description One range of bytes, such as `bytes=0-1023`. */
                    range?: string;
                };
                path: {
                    /** @description The run. */
                    id: string;
                    /** @description Counts the run's processes, from 1. */
                    attempt: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description All that is there now. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/octet-stream": number[];
                    };
                };
                /** @description The range. */
                206: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/octet-stream": number[];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/records": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads records of a run. */
        get: {
            parameters: {
                query?: {
                    /** @description Only those after this one. */
                    after?: number;
                    /** @description Only those before this one. Without `after` these are the last ones before it. */
                    before?: number;
                    /** @description `next` of the page before. It continues in the same direction, and replaces `after` and `before`. */
                    cursor?: string;
                    /** @description How many at most. */
                    limit?: number;
                    /** @description Only these kinds, with commas between them. */
                    kinds?: string;
                };
                header?: never;
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of records. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["RecordPage"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/records/{seq}": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Reads one record. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path: {
                    /** @description The run. */
                    id: string;
                    /** @description The record. */
                    seq: number;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The record. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Record"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/resume": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Goes on with the conversation of a run that has ended, in a new run. */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description The same request under the same key is done once, for 24 hours. */
                    "idempotency-key"?: string;
                };
                path: {
                    /** @description The run to go on with. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["NextRun"] | null;
                };
            };
            responses: {
                /** @description The new run. */
                201: {
                    headers: {
                        /** @description The address of the run. */
                        location?: string;
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Run"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                413: components["responses"]["Problem"];
                415: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/stop": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Ends a run. */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description The same request under the same key is done once, for 24 hours. */
                    "idempotency-key"?: string;
                };
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody?: {
                content: {
                    "application/json": components["schemas"]["Stop"] | null;
                };
            };
            responses: {
                /** @description The run has it. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CommandReceipt"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                413: components["responses"]["Problem"];
                415: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                503: components["responses"]["Problem"];
                504: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/runs/{id}/top-up": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /** Raises limits of a run. One that waits for that continues. */
        post: {
            parameters: {
                query?: never;
                header?: {
                    /** @description The same request under the same key is done once, for 24 hours. */
                    "idempotency-key"?: string;
                };
                path: {
                    /** @description The run. */
                    id: string;
                };
                cookie?: never;
            };
            requestBody: {
                content: {
                    "application/json": components["schemas"]["AddToLimits"];
                };
            };
            responses: {
                /** @description The run has it. */
                202: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["CommandReceipt"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                409: components["responses"]["Problem"];
                413: components["responses"]["Problem"];
                415: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                503: components["responses"]["Problem"];
                504: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/search": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Looks for words in everything that happened. */
        get: {
            parameters: {
                query: {
                    /** @description Words, `"phrases in quotes"` and `beginnings*`; all must be there. */
                    q: string;
                    /** @description How they are meant. */
                    mode?: "words" | "substring";
                    /** @description Only this run. */
                    run?: string;
                    /** @description Only this workspace. */
                    workspace?: string;
                    /** @description Only this agent. */
                    backend?: string;
                    /** @description Only these kinds of records, with commas between them. */
                    kinds?: string;
                    /** @description Only calls of this tool. */
                    tool?: string;
                    /** @description From then on. */
                    since?: string;
                    /** @description Before that. */
                    until?: string;
                    /** @description `next` of the page before. */
                    cursor?: string;
                    /** @description How many at most. */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description What was found. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Found"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists conversations, newest first. One that goes on over several runs may come again on a later page. */
        get: {
            parameters: {
                query?: {
                    /** @description Only those in this workspace. */
                    workspace?: string;
                    /** @description Only those of this agent. */
                    backend?: string;
                    /** @description `next` of the page before. */
                    cursor?: string;
                    /** @description Of how many runs at most. */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description A page of conversations. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionPage"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/sessions/{session}/runs": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists the runs that had a conversation. */
        get: {
            parameters: {
                query?: {
                    /** @description `next` of the page before. */
                    cursor?: string;
                    /** @description How many at most. */
                    limit?: number;
                };
                header?: never;
                path: {
                    /** @description The agent's own name for the conversation. */
                    session: string;
                };
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The runs, newest first; none if nobody knows it. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["SessionRuns"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                404: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stream": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Watches runs and tells them things, over a WebSocket. */
        get: {
            parameters: {
                query?: {
                    /** @description A ticket, instead of the `Authorization` header. */
                    ticket?: string;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The connection is a WebSocket from now on. */
                101: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content?: never;
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/stream.schema.json": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Describes the messages of the WebSocket and the records of runs, as a JSON Schema. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The schema. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/schema+json": Record<string, never>;
                    };
                };
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/tickets": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        get?: never;
        put?: never;
        /**
         * Makes a ticket that opens one live stream, once, within 30 seconds. The stream may do what whoever asks for the
         *     ticket may do, and ends with that token or session.
         */
        post: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The ticket. */
                201: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Ticket"];
                    };
                };
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/api/v1/workspaces": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Lists where agents have worked lately. */
        get: {
            parameters: {
                query?: {
                    /** @description `next` of the page before. */
                    cursor?: string;
                    /** @description How many at most. */
                    limit?: number;
                };
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description The workspaces, the last one first. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["Workspaces"];
                    };
                };
                400: components["responses"]["Problem"];
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                422: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/health": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Says whether the server works, to everybody on this machine. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It answers. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["HealthReport"];
                    };
                };
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/metrics": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Gives figures for Prometheus. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description Figures. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "text/plain; version=0.0.4; charset=utf-8": string;
                    };
                };
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
    "/ready": {
        parameters: {
            query?: never;
            header?: never;
            path?: never;
            cookie?: never;
        };
        /** Says whether the server can be used, and what is wrong if not. */
        get: {
            parameters: {
                query?: never;
                header?: never;
                path?: never;
                cookie?: never;
            };
            requestBody?: never;
            responses: {
                /** @description It can. */
                200: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReadyReport"];
                    };
                };
                401: components["responses"]["Problem"];
                403: components["responses"]["Problem"];
                429: components["responses"]["Problem"];
                /** @description Something does not work. */
                503: {
                    headers: {
                        [name: string]: unknown;
                    };
                    content: {
                        "application/json": components["schemas"]["ReadyReport"];
                    };
                };
                default: components["responses"]["Problem"];
            };
        };
        put?: never;
        post?: never;
        delete?: never;
        options?: never;
        head?: never;
        patch?: never;
        trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description What a run is doing. */
        Activity: components["schemas"]["ActivityStarting"] | components["schemas"]["ActivityThinking"] | components["schemas"]["ActivityResponding"] | components["schemas"]["ActivityTool"] | components["schemas"]["ActivityVerifying"] | components["schemas"]["ActivityWaiting"] | components["schemas"]["ActivityCooling"] | components["schemas"]["ActivityStopping"] | components["schemas"]["ActivityEnded"];
        /** @description A pause between iterations. */
        ActivityCooling: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            state: "cooling";
            /**
             * Format: date-time
             * @description When the next iteration starts.
             */
            until: string;
        };
        /** @description The run has ended. */
        ActivityEnded: {
            /** @description The reason. */
            reason: components["schemas"]["EndReason"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            state: "ended";
        };
        /** @description The model is writing. */
        ActivityResponding: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            state: "responding";
        };
        /** @description The agent's process is not ready yet. */
        ActivityStarting: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            state: "starting";
        };
        /** @description A stop was requested, and the run has not ended yet. */
        ActivityStopping: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            state: "stopping";
        };
        /** @description The model is working on its next step. */
        ActivityThinking: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            state: "thinking";
        };
        /** @description A tool is running. */
        ActivityTool: {
            /** @description The name of the tool. */
            name: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            state: "tool";
            /** @description What the tool is used on, in one line, if known. */
            subject?: string | null;
        };
        /** @description The verify commands are running. */
        ActivityVerifying: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            state: "verifying";
        };
        /** @description The run waits for something. */
        ActivityWaiting: {
            /** @description What it waits for. */
            for: components["schemas"]["WaitingFor"];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            state: "waiting";
            /**
             * Format: date-time
             * @description When the usage limit resets, if `for` is `limit`.
             */
            until?: string | null;
        };
        /** @description How much to add to each limit. At least one. */
        AddToLimits: {
            /**
             * Format: int64
             * @description To the cost limit, in millionths of a dollar.
             */
            cost_micro_usd?: number | null;
            /**
             * Format: int32
             * @description To the iteration limit.
             */
            iterations?: number | null;
            /**
             * Format: int64
             * @description To the time limit.
             */
            seconds?: number | null;
            /**
             * Format: int64
             * @description To the token limit.
             */
            tokens?: number | null;
        };
        /** @description An answer. */
        Answer: components["schemas"]["AnswerAllow"] | components["schemas"]["AnswerAllowAlways"] | components["schemas"]["AnswerAllowChanged"] | components["schemas"]["AnswerDeny"] | components["schemas"]["AnswerDenyAndInterrupt"] | components["schemas"]["AnswerAnswers"];
        /** @description It may run this once; a plan is approved. */
        AnswerAllow: {
            /** @description The lasting permissions that are given with it: ids from the `grants` of the request. None by default. */
            grants?: string[];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "allow";
        };
        /**
         * @description Of older clients. Accepted only if the request offers exactly one grant and that is a rule: send `allow` with
         *     `grants` instead.
         */
        AnswerAllowAlways: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "allow_always";
        };
        /** @description It may run with these arguments instead. */
        AnswerAllowChanged: {
            /** @description The arguments. */
            input: {
                [key: string]: unknown;
            };
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "allow_changed";
        };
        /** @description Answers to the questions, one for each, in their order. */
        AnswerAnswers: {
            /** @description The answers. */
            answers: string[];
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "answers";
        };
        /** @description It may not run. */
        AnswerDeny: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "deny";
            /** @description What the model is told. */
            reason?: string;
        };
        /** @description It may not run, and the turn ends. */
        AnswerDenyAndInterrupt: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "deny_and_interrupt";
            /** @description What the model is told. */
            reason?: string;
        };
        /** @description What an agent asked, and what became of it. */
        Approval: {
            /**
             * Format: date-time
             * @description When it was asked.
             */
            asked_at: string;
            /**
             * Format: date-time
             * @description When it was closed.
             */
            closed_at: string | null;
            /** @description What was asked: the data of the record. */
            data: Record<string, never>;
            /** @description What kind of question. */
            kind: components["schemas"]["KindOfApproval"];
            /** @description What the answer must name. */
            request: string;
            /** @description The run. */
            run: string;
            /**
             * Format: int64
             * @description The record that asked.
             */
            seq: number;
            /** @description What became of it. */
            state: components["schemas"]["StateOfApproval"];
        };
        /** @description What agents asked, oldest first. */
        Approvals: {
            /** @description The requests. */
            items: components["schemas"]["Approval"][];
            /** @description Gives the next page, as `cursor`; null on the last one. */
            next: string | null;
        };
        /**
         * @description Which login an agent uses.
         * @enum {string}
         */
        AuthChoice: "login" | "api_key";
        /** @description An agent that could run here. */
        Backend: {
            /** @description Whether it can keep nothing of a conversation. */
            can_be_ephemeral: boolean;
            /** @description Whether a copy of an earlier conversation can be gone on with. */
            can_fork: boolean;
            /** @description Whether an earlier conversation can be gone on with. */
            can_resume: boolean;
            /** @description Its capabilities. */
            capabilities: string[];
            /** @description For people. */
            display_name: string;
            /** @description Whether it is installed. */
            is_installed: boolean;
            /** @description The models that its last runs used, newest first. */
            models: string[];
            /** @description Its name. */
            name: string;
            /** @description Where it is. */
            path: string | null;
            /** @description What it can be told about what may happen without asking; none if it never asks. */
            permission_modes: components["schemas"]["PermissionMode"][];
            /** @description What is wrong, and what to do. */
            problem: string | null;
            /** @description Whether it takes messages while it works. */
            takes_messages: boolean;
            /** @description Whether it can be told which model to use. */
            takes_model: boolean;
            /** @description Its version. */
            version: string | null;
        };
        /** @description The agents there are. */
        Backends: {
            /** @description The agents. */
            items: components["schemas"]["Backend"][];
            /** @description Always null: all agents fit on one page. */
            next: string | null;
            untrusted?: components["schemas"]["UntrustedWorkspace"] | null;
        };
        /**
         * @description Where changes come from.
         * @enum {string}
         */
        Basis: "git" | "reported";
        /** @description A change of a file. */
        Change: {
            /**
             * Format: int32
             * @description Lines added; null if not known, as for a binary file.
             */
            added: number | null;
            /**
             * Format: date-time
             * @description When it was reported; null if `basis` is `git`.
             */
            at: string | null;
            /**
             * @description The hunks of a unified diff; null for a binary file, one that is too long for this list, or if the agent did not
             *     report them.
             */
            diff: string | null;
            /** @description What happened to it. */
            kind: components["schemas"]["KindOfChange"];
            /** @description The file: relative to the workspace if git says so, otherwise as the agent names it. */
            path: string;
            /**
             * Format: int32
             * @description Lines removed; null if not known.
             */
            removed: number | null;
            /**
             * Format: int64
             * @description The record that reported it; null if `basis` is `git`.
             */
            seq: number | null;
        };
        /** @description What to change about a run. What is left out stays as it is. */
        ChangeRun: {
            /** @description All tags of the run. */
            tags?: string[];
            /** @description The title; null for the start of the prompt. */
            title?: string | null;
        };
        /** @description The files that a run changed. */
        Changes: {
            /** @description Where the changes come from. */
            basis: components["schemas"]["Basis"];
            /**
             * Format: date-time
             * @description When the files were compared, if `basis` is `git`.
             */
            compared_at: string | null;
            /** @description Changes when the journal is another one: what was read before means nothing then. */
            epoch: string;
            /**
             * Format: int64
             * @description The run's last record when this was read.
             */
            head_seq: number;
            /** @description Whether the list is cut off: git lists at most 1,000 files. Pages of reported changes have a `next` instead. */
            is_truncated: boolean;
            /** @description One for each file if `basis` is `git`; otherwise one for each change, in order. */
            items: components["schemas"]["Change"][];
            /** @description Gives the next page of reported changes in the same direction, as `cursor`; null if there is none now. */
            next: string | null;
            /**
             * Format: int64
             * @description Gives the page behind this one, as `after`; null if there is none now.
             */
            next_after: number | null;
            /**
             * Format: int64
             * @description Gives the page before, as `before`; null if this is the first one.
             */
            next_before: number | null;
            /** @description The commit that the files are compared with, if `basis` is `git`. */
            start_commit: string | null;
        };
        /** @description The run was told. What comes of it is in its records. */
        CommandReceipt: {
            /** @description Names the command in the records. */
            command_id: string;
            /** @description Whether it was being done already. */
            is_already_done: boolean;
            /** @description Names the message in the records, if it was one. */
            message_id?: string;
            /** @description More, for people. */
            note?: string;
        };
        /** @description How full the model's memory is. */
        Context: {
            /**
             * Format: int64
             * @description How many fit, where known.
             */
            size?: number;
            /**
             * Format: int64
             * @description Tokens in it.
             */
            used: number;
        };
        /** @description What something cost in all. */
        Cost: {
            /**
             * Format: int64
             * @description What they cost, in millionths of a dollar.
             */
            cost_micro_usd: number;
            /** @description Whether some of it is an estimate. */
            is_estimate: boolean;
            /** @description The day, model, workspace, agent or run. */
            key: string;
            /**
             * Format: int64
             * @description Messages of the model.
             */
            messages: number;
            /** @description What they used. */
            tokens: components["schemas"]["Tokens"];
        };
        /** @description What was spent. */
        Costs: {
            /** @description One for each day, model, workspace, agent or run. */
            items: components["schemas"]["Cost"][];
            /** @description Gives the next page, as `cursor`; null on the last one. */
            next: string | null;
        };
        /** @description Another text. */
        EditMessage: {
            /** @description What the agent is told instead. */
            text: string;
        };
        /**
         * @description How the content of a file is written.
         * @enum {string}
         */
        Encoding: "utf-8" | "base64";
        /** @description Why a run ended: a word, or the limit that was reached. */
        EndReason: components["schemas"]["EndReasonWord"] | components["schemas"]["EndReasonLimit"];
        /** @description A limit was reached. */
        EndReasonLimit: {
            /** @description A limit was reached. */
            limit: components["schemas"]["LimitKind"];
        };
        /**
         * @description `completed`: The work is done.
         *     `agent_error`: The agent failed.
         *     `verify_failed`: A verify command disagrees with the agent.
         *     `denied`: Something was not allowed.
         *     `not_logged_in`: The agent is not logged in.
         *     `model_not_found`: There is no such model.
         *     `backend_unavailable`: The agent is not installed, or does not start.
         *     `interrupted`: A person interrupted it.
         *     `stopped`: A person stopped it.
         *     `terminated`: SIGTERM.
         *     `hung_up`: The terminal is gone.
         *     `output_closed`: Nobody reads the output.
         *     `crashed`: The agent's process died.
         *     `no_result`: The agent ended without a result.
         *     `storage_failed`: The run's own files could not be written.
         *     `lost`: Its runner died.
         * @enum {string}
         */
        EndReasonWord: "completed" | "agent_error" | "verify_failed" | "denied" | "not_logged_in" | "model_not_found" | "backend_unavailable" | "interrupted" | "stopped" | "terminated" | "hung_up" | "output_closed" | "crashed" | "no_result" | "storage_failed" | "lost";
        /** @description Something that went wrong. */
        Failure: {
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description The verify command, if `kind` is `verify`. */
            command?: string;
            /** @description The tool call, if `kind` is `tool`. */
            item?: string;
            /** @description What failed. */
            kind: components["schemas"]["FailureKind"];
            /** @description What is known about it: the error, or the end of the output. */
            message: string;
            /**
             * Format: int64
             * @description The record that says so.
             */
            seq: number;
        };
        /**
         * @description What failed.
         * @enum {string}
         */
        FailureKind: "tool" | "verify" | "error" | "attempt";
        /** @description A page of failures, in order. */
        FailurePage: {
            /** @description The failures. */
            items: components["schemas"]["Failure"][];
            /**
             * @description Gives the next page in the same direction, as `cursor`; null if there is none now. A page can be empty and still have
             *     a next one: only a part of a long journal is searched at once.
             */
            next: string | null;
            /**
             * Format: int64
             * @description Gives the page behind this one, as `after`; null if there is none now.
             */
            next_after: number | null;
            /**
             * Format: int64
             * @description Gives the page before, as `before`; null if this is the first one.
             */
            next_before: number | null;
        };
        /** @description What is wrong with one part of a request's body. */
        FieldError: {
            /** @description For people: what is wrong with it. */
            detail: string;
            /** @description Which part: a JSON pointer (RFC 6901), such as `/limits/turns`. Empty for the body as a whole. */
            pointer: string;
        };
        /** @description A file as it is now. */
        FilePreview: {
            /** @description The file, or its start. */
            content: string;
            /** @description How `content` is to be read. */
            encoding: components["schemas"]["Encoding"];
            /** @description Whether `content` is only the start. */
            is_truncated: boolean;
            /** @description The file, as it was asked for. */
            path: string;
            /**
             * Format: int64
             * @description How large it is.
             */
            size_bytes: number;
        };
        /** @description What was found. */
        Found: {
            /** @description Whether everything was looked at. */
            is_complete: boolean;
            /** @description The records, best first. */
            items: components["schemas"]["FoundRecord"][];
            /**
             * Format: int64
             * @description How many records the index lacks yet, of the workspaces that may be seen.
             */
            lag: number;
            /** @description Gives the next page, as `cursor`; null on the last one. */
            next: string | null;
        };
        /** @description A record that was found. */
        FoundRecord: {
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /** @description Its kind. */
            kind: string;
            /** @description Where the words are in the snippet. */
            marks: components["schemas"]["Mark"][];
            /** @description The run. */
            run: string;
            /**
             * Format: int64
             * @description The record.
             */
            seq: number;
            /** @description Some words around the first place, as plain text. */
            snippet: string;
        };
        /** @description How the server is, for those who only watch over it. */
        HealthReport: {
            status: components["schemas"]["HealthStatus"];
        };
        /**
         * @description How the server is.
         * @enum {string}
         */
        HealthStatus: "ok" | "degraded";
        /**
         * @description What kind of question.
         * @enum {string}
         */
        KindOfApproval: "permission" | "question" | "plan";
        /**
         * @description What happened to a file.
         * @enum {string}
         */
        KindOfChange: "added" | "modified" | "deleted" | "moved";
        /**
         * @description Which limit.
         * @enum {string}
         */
        LimitKind: "iterations" | "runtime" | "iteration_timeout" | "cost" | "turns" | "tokens";
        /** @description What a run may use. */
        Limits: {
            /**
             * Format: int64
             * @description What it may cost, in millionths of a dollar; 0 for no limit.
             * @default null
             */
            cost_micro_usd: number | null;
            /**
             * Format: int32
             * @description How many iterations.
             * @default null
             */
            iterations: number | null;
            /**
             * Format: int64
             * @description How long it may take.
             * @default null
             */
            runtime_seconds: number | null;
            /**
             * Format: int64
             * @description How many tokens.
             * @default null
             */
            tokens: number | null;
            /**
             * Format: int32
             * @description How many turns.
             * @default null
             */
            turns: number | null;
        };
        /** @description A new session. */
        LoggedIn: {
            /**
             * Format: date-time
             * @description When it ends. It ends earlier if the token that opened it does.
             */
            expires_at?: string | null;
            /** @description Names the session in lists and journals. */
            id: string;
            /** @description Sent with every request: `Authorization: Bearer KEY`. It is shown only here. */
            key: string;
            /** @description What it allows. */
            scope: components["schemas"]["Scope"];
        };
        /** @description A code or a token, one of them. */
        Login: {
            /** @description The code of a login link. It works once, for ten minutes. */
            code?: string;
            /** @description The server token, or one that `ralph token create` made. */
            token?: string;
        };
        /** @description A login link. */
        LoginLink: {
            /** @description Opens a session in the browser that opens it. It works once, for ten minutes. */
            url: string;
        };
        /** @description A browser that is logged in. */
        LoginSession: {
            /**
             * Format: date-time
             * @description When it was opened.
             */
            created_at: string;
            /**
             * Format: date-time
             * @description When it ends.
             */
            expires_at?: string | null;
            /** @description Its id, which is no secret. */
            id: string;
            /** @description Whether it is the one that asks. */
            is_current: boolean;
            /**
             * Format: date-time
             * @description When it was last used.
             */
            last_used_at: string;
            /** @description What it allows. */
            scope: components["schemas"]["Scope"];
            /** @description What the browser calls itself. */
            user_agent?: string | null;
        };
        /** @description The login sessions. */
        LoginSessionList: {
            /** @description The last used one first. */
            items: components["schemas"]["LoginSession"][];
        };
        /** @description A place in a snippet, in characters. */
        Mark: {
            /**
             * Format: int32
             * @description Where it ends.
             */
            end: number;
            /**
             * Format: int32
             * @description Where it begins.
             */
            start: number;
        };
        /** @description A message to an agent. */
        Message: {
            /**
             * Format: date-time
             * @description When it came.
             */
            at: string;
            /** @description The command that brought it. */
            command_id: string;
            /** @description Names it. */
            id: string;
            /** @description `steer` or `queue`. */
            mode: string;
            /**
             * Format: int64
             * @description The record.
             */
            seq: number;
            /** @description What became of it. */
            state: components["schemas"]["StateOfMessage"];
            /** @description The message, redacted. */
            text: string;
        };
        /**
         * @description When an agent is to see a message.
         * @enum {string}
         */
        MessageMode: "steer" | "queue";
        /** @description A page of the messages to an agent, in order. */
        MessagePage: {
            /** @description The messages. */
            items: components["schemas"]["Message"][];
            /** @description Gives the next page, as `cursor`; null on the last one. */
            next: string | null;
        };
        /** @description A message. */
        NewMessage: {
            /** @description When the agent is to see it. */
            mode?: components["schemas"]["MessageMode"];
            /** @description What the agent is told. */
            text: string;
        };
        /** @description What a run is asked to do. */
        NewRun: {
            /**
             * @description Whether the agent must take messages while it works (true), or is told its prompt and nothing else (false): then
             *     nobody can answer its requests, which are denied. What the agent can do decides if absent.
             */
            accepts_input?: boolean | null;
            /** @description The tools that need no permission, such as `Read` or `Bash(git:*)`. */
            allowed_tools?: string[] | null;
            /** @description What is added to the agent's system prompt. */
            append_system_prompt?: string | null;
            auth?: components["schemas"]["AuthChoice"] | null;
            /** @description Which agent; by the workspace's settings if absent. */
            backend?: string | null;
            /** @description Whether the agent keeps nothing of the conversation, where it can do so. */
            ephemeral?: boolean;
            /** @description Whether it works by itself or waits for messages. */
            kind?: components["schemas"]["RunKind"];
            /** @description The limits of the run. */
            limits?: components["schemas"]["Limits"];
            /** @description Planner, coder, or a mode of the user's. */
            mode?: string | null;
            /** @description Which model. */
            model?: string | null;
            /** @description Whether one iteration is all. */
            once?: boolean;
            permission_mode?: components["schemas"]["PermissionMode"] | null;
            /** @description What the agent is told. A session may begin without. */
            prompt?: string | null;
            resume?: components["schemas"]["ResumedSession"] | null;
            /** @description What replaces the agent's system prompt. */
            system_prompt?: string | null;
            /** @description Names the task. */
            task?: string | null;
            trust?: components["schemas"]["TrustChoice"] | null;
            /** @description The commands that verify the work; by the workspace's settings if absent. */
            verify?: string[] | null;
            /**
             * @description Where the agent works: an absolute path.
             * @example /home/me/project
             */
            workspace: string;
        };
        /** @description How a run goes on with the conversation of another. */
        NextRun: {
            /** @description Whether the agent must take messages while it works (true), or is told its prompt and nothing else (false). */
            accepts_input?: boolean | null;
            /** @description The tools that need no permission, such as `Read` or `Bash(git:*)`. */
            allowed_tools?: string[] | null;
            /** @description What is added to the agent's system prompt. */
            append_system_prompt?: string | null;
            auth?: components["schemas"]["AuthChoice"] | null;
            kind?: components["schemas"]["RunKind"] | null;
            /** @description The limits of the run. */
            limits?: components["schemas"]["Limits"];
            /** @description Which model; as the other one if absent. */
            model?: string | null;
            /** @description Whether one iteration is all. */
            once?: boolean;
            permission_mode?: components["schemas"]["PermissionMode"] | null;
            /** @description What the agent is told. A session may begin without. */
            prompt?: string | null;
            /** @description What replaces the agent's system prompt. */
            system_prompt?: string | null;
            trust?: components["schemas"]["TrustChoice"] | null;
        };
        /**
         * @description What may happen without asking.
         * @enum {string}
         */
        PermissionMode: "ask" | "accept_edits" | "plan" | "refuse" | "bypass";
        /** @description The body of every answer that is an error, as `application/problem+json`. */
        Problem: {
            /** @description For programs: what went wrong. */
            code: components["schemas"]["ProblemCode"];
            /** @description Where in the line. */
            column?: number | null;
            /** @description For people: what went wrong, and what to do. */
            detail: string;
            /** @description With `untrusted_workspace`: what a start sends as `trust` to trust exactly this. Absent if it cannot be trusted. */
            digest?: string | null;
            /** @description The parts of the body that are wrong, if that is the problem. */
            errors?: components["schemas"]["FieldError"][];
            /** @description With `untrusted_workspace`: the files in the workspace that these settings name. */
            files?: string[];
            /** @description With `live_run_limit` and `cost_ceiling`: the limit, and where the runs are with it. */
            limit?: components["schemas"]["ReachedLimit"];
            /** @description Where in the body, if that is what is wrong. */
            line?: number | null;
            /** @description With `untrusted_workspace`: what the workspace's `ralph.yml` would do. */
            settings?: components["schemas"]["UntrustedSetting"][];
            /**
             * Format: int32
             * @description The status.
             */
            status: number;
            /** @description The status in words. */
            title: string;
            /** @description `urn:ralph:problem:` and the code. */
            type: string;
        };
        /**
         * @description For programs: what went wrong. A code keeps its meaning.
         * @enum {string}
         */
        ProblemCode: "malformed_json" | "invalid_body" | "invalid_parameter" | "unauthenticated" | "foreign_origin" | "insufficient_scope" | "workspace_not_allowed" | "permission_mode_not_allowed" | "cost_ceiling" | "live_run_limit" | "agent_not_allowed" | "not_found" | "run_not_found" | "record_not_found" | "message_not_found" | "request_not_found" | "file_not_found" | "method_not_allowed" | "busy" | "untrusted_workspace" | "already_answered" | "already_sent" | "run_ended" | "refused" | "key_in_progress" | "too_large" | "head_too_large" | "unsupported_media_type" | "invalid_range" | "foreign_host" | "key_reused" | "unprocessable" | "unsupported" | "backend_unavailable" | "rate_limited" | "internal" | "store_unavailable" | "runner_busy" | "runner_silent" | "timeout" | "too_many_clients" | "too_many" | "malformed" | "not_text" | "unreadable" | "run_deleted" | "session_ended";
        /** @description A limit on starts, and where the runs are with it. */
        ReachedLimit: {
            /**
             * Format: int64
             * @description How much there is, without the run that was asked for. For a day's cost, with what live runs may still use.
             */
            current: number;
            /**
             * Format: int64
             * @description How much is allowed.
             */
            limit: number;
            /** @description Which: `max_live_runs`, `max_run_cost_micro_usd` or `max_day_cost_micro_usd`. */
            name: string;
            /** @description Whose: `token ci`, or `this server`. */
            of: string;
        };
        /** @description Whether the server can be used. */
        ReadyReport: {
            /** @description `sqlite` or `postgres`. */
            engine: string;
            /** @description Whether everything works. */
            is_ready: boolean;
            /** @description What is wrong. */
            problems: string[];
            /** @description How many runs have something that is not in the index yet. */
            runs_waiting: number;
            /**
             * Format: int64
             * @description How many records the text index lacks.
             */
            text_lag: number;
            /** @description The server's version. */
            version: string;
        };
        /** @description One line of a journal. */
        Record: {
            /**
             * Format: date-time
             * @description When.
             */
            at: string;
            /**
             * Format: int32
             * @description Which process of the iteration.
             */
            attempt: number;
            /** @description What happened: its `type`, its `data`, and more. */
            event: {
                [key: string]: unknown;
            };
            /**
             * Format: int32
             * @description Which prompt of the loop.
             */
            iteration: number;
            /**
             * Format: int64
             * @description Counts from 1 in each run.
             */
            seq: number;
        };
        /** @description A page of records, in order. Pieces of text are not among them: the whole text is. */
        RecordPage: {
            /** @description Changes when the journal is another one: what was read before means nothing then. */
            epoch: string;
            /**
             * Format: int64
             * @description The run's last record.
             */
            head_seq: number;
            /** @description The records, as they are in the journal. */
            items: components["schemas"]["Record"][];
            /** @description Gives the next page in the same direction, as `cursor`; null if there is none now. */
            next: string | null;
            /**
             * Format: int64
             * @description Gives the page behind this one, as `after`; null if there is none now.
             */
            next_after: number | null;
            /**
             * Format: int64
             * @description Gives the page before, as `before`; null if this is the first one.
             */
            next_before: number | null;
        };
        /** @description A conversation of the agent's. That of an earlier run is continued with `POST /api/v1/runs/{id}/resume`. */
        ResumedSession: {
            /** @description Whether a copy is continued, which leaves the conversation as it is. */
            fork?: boolean;
            /**
             * @description The agent's name for it.
             * @example 0b0e8b9f-7b5e-4d0c-9d9f-1c6f2f7f2b11
             */
            session_id: string;
        };
        /** @description A run at a glance. */
        Run: {
            /** @description What it is doing. */
            activity: components["schemas"]["Activity"];
            /**
             * Format: int32
             * @description Which process of the iteration.
             */
            attempt: number;
            /** @description Which agent. */
            backend: string;
            context: components["schemas"]["Context"] | null;
            /** @description The agent's name for people. */
            display_name: string;
            /**
             * Format: date-time
             * @description When it ended.
             */
            ended_at: string | null;
            /** @description Changes when its journal is another one: what was read before means nothing then. */
            epoch: string;
            /**
             * Format: int32
             * @description How many errors it has met.
             */
            errors: number;
            /**
             * Format: int32
             * @description What the runner exited with.
             */
            exit_code: number | null;
            /**
             * Format: int64
             * @description The last record.
             */
            head_seq: number;
            /** @description Names the run. */
            id: string;
            /** @description Whether the agent keeps nothing of the conversation. */
            is_ephemeral: boolean;
            /**
             * Format: int32
             * @description Which prompt of the loop.
             */
            iteration: number;
            /** @description Whether it works by itself or waits for messages. */
            kind: components["schemas"]["RunKind"];
            /**
             * Format: int64
             * @description What it may cost, in millionths of a dollar.
             */
            max_cost_micro_usd: number | null;
            /** @description More about its end, for people. */
            message: string | null;
            /** @description Planner, coder, or a mode of the user's. */
            mode: string | null;
            /** @description The model: as asked for, then as the agent says. */
            model: string | null;
            /**
             * Format: int32
             * @description How many requests wait for an answer.
             */
            pending: number;
            /** @description What happens without asking. */
            permission_mode: string | null;
            reason: components["schemas"]["EndReason"] | null;
            /** @description The run whose conversation this one goes on with. */
            resumed_from: string | null;
            /** @description The agent's conversations, in order. */
            session_ids: string[];
            /**
             * Format: date-time
             * @description When it began.
             */
            started_at: string;
            /** @description Who started it through a server: the token or login session. Null for runs of the command line. */
            started_by: string | null;
            /** @description The tags that people gave it. */
            tags: string[];
            /** @description Names the task. */
            task: string | null;
            /** @description The title that a person gave it, else the start of the first prompt, redacted. */
            title: string;
            /** @description What it cost, and what it used. */
            totals: components["schemas"]["Totals"];
            /**
             * Format: date-time
             * @description When something happened last.
             */
            updated_at: string;
            /** @description Where the agent works. */
            workspace: string;
        };
        /**
         * @description Whether a run works by itself or waits for messages.
         * @enum {string}
         */
        RunKind: "loop" | "session";
        /** @description A page of runs, newest first. */
        RunPage: {
            /** @description The runs. */
            items: components["schemas"]["Run"][];
            /** @description Gives the next page, as `cursor`; null on the last one. */
            next: string | null;
        };
        /**
         * @description What a token allows. Each scope includes those before it.
         * @enum {string}
         */
        Scope: "read" | "steer" | "start" | "admin";
        /** @description An agent's conversation. */
        Session: {
            /** @description Which agent. */
            backend: string;
            /** @description The agent's own name for it. */
            id: string;
            /** @description Whether that run goes on. */
            is_running: boolean;
            /** @description The newest run that had it. */
            run: string;
            /** @description The start of that run's first prompt. */
            title: string;
            /**
             * Format: date-time
             * @description When something happened last.
             */
            updated_at: string;
            /** @description Where. */
            workspace: string;
        };
        /** @description The conversations of a page of runs, newest first. */
        SessionPage: {
            /** @description The conversations. */
            items: components["schemas"]["Session"][];
            /** @description Gives the next page, as `cursor`; null on the last one. */
            next: string | null;
        };
        /** @description A page of the runs that had a conversation, newest first. */
        SessionRuns: {
            /** @description The runs. */
            items: components["schemas"]["Run"][];
            /** @description Gives the next page, as `cursor`; null on the last one. */
            next: string | null;
        };
        /** @description Which model. */
        SetModel: {
            /** @description The model; the agent's default if null. */
            model?: string | null;
        };
        /** @description What may happen without asking. */
        SetPermissionMode: {
            mode: components["schemas"]["PermissionMode"];
        };
        /**
         * @description What became of a question.
         * @enum {string}
         */
        StateOfApproval: "pending" | "answered" | "withdrawn";
        /**
         * @description What became of a message.
         * @enum {string}
         */
        StateOfMessage: "queued" | "sent" | "delivered" | "withdrawn" | "lost";
        /** @description How to stop. */
        Stop: {
            /** @description At once, instead of in good order. */
            kill?: boolean;
        };
        /** @description A ticket. */
        Ticket: {
            /**
             * Format: date-time
             * @description When it stops working.
             */
            expires_at: string;
            /** @description Sent as `?ticket=TICKET` to `/api/v1/stream` or `/api/v1/runs/{id}/events`, instead of the `Authorization` header. */
            ticket: string;
        };
        /** @description Tokens of a model. */
        Tokens: {
            /**
             * Format: int64
             * @description Read from the cache.
             */
            cache_read: number;
            /**
             * Format: int64
             * @description Read by the model and written to the cache.
             */
            cache_write: number;
            /**
             * Format: int64
             * @description Read by the model, neither from nor into the cache.
             */
            input: number;
            /**
             * Format: int64
             * @description Written by the model, thinking included.
             */
            output: number;
            /**
             * Format: int64
             * @description The part of `output` that was thinking.
             */
            reasoning: number;
        };
        /** @description What something cost, and what it used. */
        Totals: {
            /**
             * Format: int64
             * @description In millionths of a dollar; absent where nobody knows.
             */
            cost_micro_usd?: number;
            /**
             * Format: int64
             * @description Wall time.
             */
            duration_ms: number;
            /** @description Whether the money is an estimate, at least in part; absent if not. */
            is_estimate?: boolean;
            tokens: components["schemas"]["Tokens"];
            /**
             * Format: int32
             * @description Turns of the agent.
             */
            turns: number;
        };
        /** @description What a person decided about the settings of a workspace that need trust, after they were shown. */
        TrustChoice: components["schemas"]["TrustChoiceTrust"] | components["schemas"]["TrustChoiceLeaveOut"];
        /** @description Run without the settings that need trust. */
        TrustChoiceLeaveOut: {
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "leave_out";
        };
        /** @description Trust the file and the scripts that it names, as they were shown. The decision is stored, as by `ralph trust`. */
        TrustChoiceTrust: {
            /** @description `digest` of the refusal that listed them. If a file has changed since, the run does not start. */
            digest: string;
            /**
             * @description discriminator enum property added by openapi-typescript
             * @enum {string}
             */
            kind: "trust";
        };
        /** @description A setting of a `ralph.yml` that is not trusted. */
        UntrustedSetting: {
            /** @description What it would do. */
            effect: string;
            /** @description Its key. */
            key: string;
            /** @description Its value, without secrets and control characters. */
            value: string;
        };
        /** @description What a `ralph.yml` that is not trusted would do. */
        UntrustedWorkspace: {
            /** @description Names what would be trusted: the content of `ralph.yml` and of the files. Absent if it cannot be trusted. */
            digest?: string | null;
            /** @description The files in the workspace that these settings name. Trust covers their content. */
            files: string[];
            /** @description The settings that need trust. */
            settings: components["schemas"]["UntrustedSetting"][];
        };
        /**
         * @description What a waiting run needs before it continues.
         * @enum {string}
         */
        WaitingFor: "permission" | "question" | "plan" | "budget" | "limit" | "message";
        /** @description Where agents have worked. */
        Workspace: {
            /** @description Whether it is still there. */
            is_there: boolean;
            /** @description Which agent that was. */
            last_backend: string;
            /** @description The newest of them. */
            last_run: string;
            /**
             * Format: date-time
             * @description When it began.
             */
            last_started_at: string;
            /** @description The directory. */
            path: string;
            /**
             * Format: int32
             * @description How many of the last 1,000 runs were there.
             */
            runs: number;
        };
        /** @description Where agents have worked, the last one first. */
        Workspaces: {
            /** @description The workspaces. */
            items: components["schemas"]["Workspace"][];
            /** @description Gives the next page, as `cursor`; null on the last one. */
            next: string | null;
        };
    };
    responses: {
        /** @description A problem. */
        Problem: {
            headers: {
                [name: string]: unknown;
            };
            content: {
                "application/problem+json": components["schemas"]["Problem"];
            };
        };
    };
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
