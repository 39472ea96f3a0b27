// An agent with one tool. Prints what it has at the end. node agent.mjs "ai|openai|responses" URL MODEL PROMPT
import { execSync } from 'node:child_process';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { isStepCount, streamText, tool } from 'ai';
import OpenAI from 'openai';
import { z } from 'zod';

const [client, baseURL, model, prompt] = process.argv.slice(2);
const description = 'Runs a command.';
const execute = ({ command }) => execSync(command).toString();
const parameters = { type: 'object', properties: { command: { type: 'string' } }, required: ['command'] };

const whole = (reason) => {
  if (reason !== 'stop') throw new Error(`the answer ended by ${reason}`);
};

const agents = {
  async ai() {
    const failed = [];
    const answer = streamText({
      model: createOpenAICompatible({ name: 'lastword', baseURL, apiKey: 'k' })(model), prompt, maxRetries: 0, stopWhen: isStepCount(5),
      tools: { bash: tool({ description, inputSchema: z.object({ command: z.string() }), execute }) },
      onError: ({ error }) => failed.push(error),
    });
    let text = '';
    for await (const piece of answer.textStream) text += piece;
    if (failed.length > 0) throw failed[0];
    whole(await answer.finishReason);
    return text;
  },
  async openai() {
    const api = new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 });
    const runner = api.chat.completions.runTools({
      model, stream: true, messages: [{ role: 'user', content: prompt }],
      tools: [{ type: 'function', function: { name: 'bash', description, parameters, parse: JSON.parse, function: execute } }],
    });
    whole((await runner.finalChatCompletion()).choices[0].finish_reason);
    return await runner.finalContent();
  },
  async responses() {
    const api = new OpenAI({ apiKey: 'k', baseURL, maxRetries: 0 });
    for (let input = prompt, previous; ;) {
      const tools = [{ type: 'function', name: 'bash', description, parameters }];
      const r = await api.responses.stream({ model, input, previous_response_id: previous, tools }).finalResponse();
      if (r.status !== 'completed') throw new Error(r.error?.message ?? r.incomplete_details?.reason ?? r.status);
      const calls = r.output.filter((item) => item.type === 'function_call');
      if (calls.length === 0) return r.output_text;
      previous = r.id;
      input = calls.map((c) => ({ type: 'function_call_output', call_id: c.call_id, output: execute(JSON.parse(c.arguments)) }));
    }
  },
};

try {
  console.log(await agents[client]());
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
