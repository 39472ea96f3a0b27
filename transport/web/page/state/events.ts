// Made from messages/schema/run-events-1.json by go generate. Do not edit.

/** What an event says, by its type. */
export interface Payloads {
  /** A readable first part of an artifact exists. */
  "artifact.partial": {
    bytes: number;
    name: string;
    partial: boolean;
    path?: string;
    sha256: string;
    task?: string;
  };
  /** An artifact is on disk, synced, under its final name. */
  "artifact.written": {
    bytes: number;
    name: string;
    partial: boolean;
    path?: string;
    sha256: string;
    task?: string;
  };
  /** A sub-run gets more of its parent's budget. */
  "budget.granted": {
    child?: string;
    grant: {
      cost?: {
        amount: number;
        currency?: string;
      };
      input?: number;
      model_calls?: number;
      output?: number;
      time?: string;
      tokens?: number;
      tool_calls?: number;
    };
  };
  /** Most of a unit of the run's budget was spent. */
  "budget.warning": {
    limit: number;
    unit: string;
    used: number;
  };
  /** A sub-run has its terminal. */
  "child.ended": {
    added?: {
      cost?: {
        amount: number;
        currency?: string;
      };
      input?: number;
      model_calls?: number;
      output?: number;
      time?: string;
      tokens?: number;
      tool_calls?: number;
    };
    cause?: "error" | "panic" | "canceled_by_user" | "deadline" | "stalled" | "shutdown" | "node_lost" | "provider_error" | "transport_closed" | "empty_completion" | "invalid_output" | "context_exceeded" | "limit_exceeded" | "invalid_input" | "injected" | "journal_unavailable";
    child: string;
    estimated?: boolean;
    spent?: {
      cost?: {
        amount: number;
        currency?: string;
      };
      input?: number;
      model_calls?: number;
      output?: number;
      time?: string;
      tokens?: number;
      tool_calls?: number;
    };
    status: "completed" | "failed" | "canceled";
    waited_ms?: number;
  };
  /** A sub-run began; its own log is under its own id. */
  "child.started": {
    child: string;
    grant?: {
      cost?: {
        amount: number;
        currency?: string;
      };
      input?: number;
      model_calls?: number;
      output?: number;
      time?: string;
      tokens?: number;
      tool_calls?: number;
    };
    job: string;
    name?: string;
    task?: string;
  };
  /** A test injected a fault here. */
  "fault.injected": {
    fault: string;
    point?: string;
    task?: string;
  };
  /** The answer came. */
  "input.received": {
    id?: string;
    principal?: string;
    request: string;
    task?: string;
    value: unknown;
  };
  /** The run waits for an answer. */
  "input.required": {
    kind?: "clarification" | "selection" | "data" | "confirmation" | "review" | "secret" | "budget";
    prompt: string;
    request: string;
    schema?: unknown;
    task?: string;
    timeout_ms?: number;
  };
  /** A call to a language model ended, with the verdict on its end. */
  "llm.completed": {
    call: string;
    calls?: {
      arguments: string;
      call: string;
      cut?: boolean;
      extra?: string;
      tool: string;
    }[];
    error?: {
      code: string;
      message: string;
      provider?: {
        code?: string;
        request_id?: string;
        retry_after_ms?: number;
        status?: number;
      };
      retryable?: boolean;
      stack?: string;
    };
    evidence: string;
    extra?: string;
    finish_reason?: string;
    first_token_ms?: number;
    model: string;
    seen?: string[];
    task?: string;
    text?: string;
    thoughts_in?: string;
    usage?: {
      cache_write_tokens?: number;
      cached_tokens?: number;
      completion_tokens?: number;
      cost?: {
        amount: number;
        currency?: string;
      };
      estimated?: boolean;
      prompt_tokens?: number;
      reasoning_tokens?: number;
    };
    verdict: string;
  };
  /** A call to a language model began. */
  "llm.started": {
    call: string;
    model: string;
    provider?: string;
    reserved?: {
      cost?: {
        amount: number;
        currency?: string;
      };
      input?: number;
      model_calls?: number;
      output?: number;
      time?: string;
      tokens?: number;
      tool_calls?: number;
    };
    sha256?: string;
    task?: string;
  };
  /** Log lines for a closer look, numbered per run. */
  "log": {
    lines: {
      level: "debug" | "info" | "warn" | "error";
      number: number;
      task?: string;
      text: string;
    }[];
  };
  /** Several deltas of several streams as one event. */
  "merged": {
    parts: Saying<"progress" | "log" | "text.delta" | "thought.delta" | "tool.progress">[];
  };
  /** The message is part of the conversation from the named call on. */
  "message.delivered": {
    at: string;
    message: string;
    task?: string;
  };
  /** The run will not see the message. */
  "message.dropped": {
    message: string;
    reason: "revoked" | "run_ended" | "canceled";
  };
  /** Somebody said something to the run. */
  "message.queued": {
    agent?: boolean;
    content: string;
    door?: string;
    message: string;
    mode: "steer" | "interrupt";
    principal?: string;
  };
  /** What the run goes without: tools, a model, a part of the history. */
  "notice": {
    code: string;
    task?: string;
    text: string;
  };
  /** How far a task is; the latest counts. */
  "progress": {
    done: number;
    task?: string;
    total?: number;
    unit?: string;
  };
  /** Terminal: the run ended because it was asked to. */
  "run.canceled": {
    artifact_count?: number;
    artifacts: {
      bytes: number;
      name: string;
      partial: boolean;
      path?: string;
      sha256: string;
    }[];
    by: "run" | "supervisor" | "recovery" | "node";
    cause: "error" | "panic" | "canceled_by_user" | "deadline" | "stalled" | "shutdown" | "node_lost" | "provider_error" | "transport_closed" | "empty_completion" | "invalid_output" | "context_exceeded" | "limit_exceeded" | "invalid_input" | "injected" | "journal_unavailable";
    rewind?: {
      log?: {
        level: "debug" | "info" | "warn" | "error";
        number: number;
        task?: string;
        text: string;
      }[];
      open?: number[];
      progress?: {
        done: number;
        task?: string;
        total?: number;
        unit?: string;
      }[];
      streams?: {
        bytes: number;
        index: number;
        stream: string;
      }[];
      tools?: {
        call: string;
        done: number;
        total?: number;
        unit?: string;
      }[];
    };
  };
  /** Cancel is accepted; the run will end as run.canceled. */
  "run.canceling": {
    by?: string;
    id?: string;
    reason?: string;
  };
  /** Terminal: the job's work is done and its artifacts are on disk. */
  "run.completed": {
    artifact_count?: number;
    artifacts: {
      bytes: number;
      name: string;
      partial: boolean;
      path?: string;
      sha256: string;
    }[];
    by: "run" | "supervisor" | "recovery" | "node";
    degraded?: boolean;
    result?: unknown;
  };
  /** Terminal: the run ended with a cause. */
  "run.failed": {
    artifact_count?: number;
    artifacts: {
      bytes: number;
      name: string;
      partial: boolean;
      path?: string;
      sha256: string;
    }[];
    by: "run" | "supervisor" | "recovery" | "node";
    cause: "error" | "panic" | "canceled_by_user" | "deadline" | "stalled" | "shutdown" | "node_lost" | "provider_error" | "transport_closed" | "empty_completion" | "invalid_output" | "context_exceeded" | "limit_exceeded" | "invalid_input" | "injected" | "journal_unavailable";
    error: {
      code: string;
      message: string;
      provider?: {
        code?: string;
        request_id?: string;
        retry_after_ms?: number;
        status?: number;
      };
      retryable?: boolean;
      stack?: string;
    };
    rewind?: {
      log?: {
        level: "debug" | "info" | "warn" | "error";
        number: number;
        task?: string;
        text: string;
      }[];
      open?: number[];
      progress?: {
        done: number;
        task?: string;
        total?: number;
        unit?: string;
      }[];
      streams?: {
        bytes: number;
        index: number;
        stream: string;
      }[];
      tools?: {
        call: string;
        done: number;
        total?: number;
        unit?: string;
      }[];
    };
    task?: string;
  };
  /** The run before it did not complete: a person releases it, or cancels it. */
  "run.held": {
    after: string;
  };
  /** A person gives a run that waits another place. */
  "run.moved": {
    after: string;
    by?: string;
    place: string;
    replaces?: string;
  };
  /** The run exists: its job, input without secrets, owner and limits. */
  "run.queued": {
    after?: string;
    input?: unknown;
    job: string;
    labels?: Record<string, string>;
    limits: {
      budget?: {
        cost?: {
          amount: number;
          currency?: string;
        };
        input?: number;
        model_calls?: number;
        output?: number;
        time?: string;
        tokens?: number;
        tool_calls?: number;
      };
      bytes?: number;
      on_budget?: "end" | "ask";
      stall_ms?: number;
      wall_clock_ms?: number;
    };
    mode: "attached" | "detached";
    parent?: string;
    place?: string;
    principal?: string;
    title?: string;
    version?: string;
  };
  /** The run goes on after its process died; carries a rewind. */
  "run.recovered": {
    epoch?: number;
    node?: string;
    restart?: boolean;
    rewind: {
      log?: {
        level: "debug" | "info" | "warn" | "error";
        number: number;
        task?: string;
        text: string;
      }[];
      open?: number[];
      progress?: {
        done: number;
        task?: string;
        total?: number;
        unit?: string;
      }[];
      streams?: {
        bytes: number;
        index: number;
        stream: string;
      }[];
      tools?: {
        call: string;
        done: number;
        total?: number;
        unit?: string;
      }[];
    };
  };
  /** A person lets a held run begin. */
  "run.released": {
    by?: string;
    id?: string;
  };
  /** The run's actor has begun. */
  "run.started": {
    epoch?: number;
    node?: string;
  };
  /** A step of a plan ended; says what follows and why. */
  "step.ended": {
    next?: string;
    outcome: string;
    reason?: string;
    step: string;
    task?: string;
  };
  /** A task's step begins, or has ended and will not be made again. */
  "step.kept": {
    again?: boolean;
    begun?: boolean;
    error?: {
      code: string;
      message: string;
      provider?: {
        code?: string;
        request_id?: string;
        retry_after_ms?: number;
        status?: number;
      };
      retryable?: boolean;
      stack?: string;
    };
    input?: string;
    optional?: boolean;
    result?: unknown;
    since?: number;
    step: string;
    task: string;
    within?: string;
  };
  /** A step of a plan began. */
  "step.started": {
    step: string;
    task?: string;
  };
  /** A task returned without an error. */
  "task.completed": {
    attempt: number;
    task: string;
  };
  /** An attempt failed; says whether another follows, and when. */
  "task.failed": {
    attempt: number;
    cause: "error" | "panic" | "canceled_by_user" | "deadline" | "stalled" | "shutdown" | "node_lost" | "provider_error" | "transport_closed" | "empty_completion" | "invalid_output" | "context_exceeded" | "limit_exceeded" | "invalid_input" | "injected" | "journal_unavailable";
    delay_ms?: number;
    error: {
      code: string;
      message: string;
      provider?: {
        code?: string;
        request_id?: string;
        retry_after_ms?: number;
        status?: number;
      };
      retryable?: boolean;
      stack?: string;
    };
    task: string;
    will_retry: boolean;
  };
  /** Another attempt begins; the task's streams start again from nothing. */
  "task.restarted": {
    attempt: number;
    task: string;
  };
  /** A task began its first attempt. */
  "task.started": {
    attempt: number;
    task: string;
  };
  /** A text is complete, or is dropped; its length and digest, and not the text. */
  "text.closed": {
    bytes: number;
    dropped?: boolean;
    sha256: string;
    stream: string;
    task?: string;
  };
  /** A piece of a text. */
  "text.delta": {
    count?: number;
    dropped?: number;
    index: number;
    media_type?: string;
    offset: number;
    part?: boolean;
    stream: string;
    task?: string;
    text: string;
  };
  /** The whole text, authoritative; closes its stream. */
  "text.done": {
    bytes?: number;
    media_type?: string;
    omitted?: boolean;
    sha256: string;
    stream: string;
    task?: string;
    text?: string;
  };
  /** A piece of a thought. */
  "thought.delta": {
    count?: number;
    dropped?: number;
    index: number;
    media_type?: string;
    offset: number;
    part?: boolean;
    stream: string;
    task?: string;
    text: string;
  };
  /** The whole thought, authoritative; closes its stream. */
  "thought.done": {
    bytes?: number;
    confidence?: number;
    omitted?: boolean;
    sha256: string;
    source?: string;
    stream: string;
    task?: string;
    text?: string;
    thought_type?: string;
  };
  /** A tool call ended, with its result or its error. */
  "tool.completed": {
    call: string;
    error?: {
      code: string;
      message: string;
      provider?: {
        code?: string;
        request_id?: string;
        retry_after_ms?: number;
        status?: number;
      };
      retryable?: boolean;
      stack?: string;
    };
    result?: unknown;
    task?: string;
  };
  /** How far a tool call is; the latest counts. */
  "tool.progress": {
    call: string;
    done: number;
    total?: number;
    unit?: string;
  };
  /** A tool call began. */
  "tool.started": {
    arguments?: unknown;
    call: string;
    task?: string;
    tool: string;
  };
  /** What an agent or a program has spent since its last report. */
  "usage": {
    by: string;
    call?: string;
    model?: string;
    model_calls?: number;
    task?: string;
    tool_calls?: number;
    usage: {
      cache_write_tokens?: number;
      cached_tokens?: number;
      completion_tokens?: number;
      cost?: {
        amount: number;
        currency?: string;
      };
      estimated?: boolean;
      prompt_tokens?: number;
      reasoning_tokens?: number;
    };
  };
}

export type Kind = keyof Payloads;

/** A type with its payload. */
export type Saying<K extends Kind = Kind> = { [T in K]: { type: T; payload: Payloads[T] } }[K];

/** How far a run is, in the words that all surfaces for people use. */
export const standings = ["pending", "processing", "waiting for a person", "held", "canceling", "completed", "failed", "canceled"] as const;

/** How long a run may work without an event before the list marks it, in milliseconds. */
export const silentAfter = 120000;
