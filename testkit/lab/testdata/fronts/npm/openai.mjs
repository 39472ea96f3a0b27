// The official client of the OpenAI API, with its accumulating helpers.
export default async function open(url, version) {
  const { default: OpenAI } = await import(`openai${version}`);
  const client = new OpenAI({ apiKey: 'k', baseURL: url + '/v1', maxRetries: 0 });

  // A streamed completion: the text behind the last mark counts. The next message of the conversation is the answer.
  async function chat(story) {
    const told = { texts: [], thoughts: [] };
    const messages = [];
    try {
      for (const content of story === 'question' ? [story, 'main'] : [story]) {
        messages.push({ role: 'user', content });
        const stream = client.chat.completions.stream({ model: 'chat', messages });
        let thought = '';
        for await (const chunk of stream) thought += chunk.choices[0]?.delta?.reasoning_content ?? '';
        const choice = (await stream.finalChatCompletion()).choices[0];
        messages.push(choice.message);
        told.texts.push(choice.message.content.split('\n\n---\n\n').at(-1));
        if (thought) told.thoughts.push(thought);
        told.status = choice.finish_reason === 'stop' ? 'completed' : choice.finish_reason;
      }
    } catch (error) {
      return { status: error.code === 'canceled' ? 'canceled' : 'failed', error: error.message };
    }
    return told;
  }

  // What the helper adds is left out.
  const plain = (output) => JSON.stringify(output, (key, value) => key.startsWith('parsed') ? undefined : value);

  // How a response ended: one that was cut, by the reason.
  const ended = (r) => r?.incomplete_details?.reason ?? (r?.status === 'cancelled' ? 'canceled' : r?.status);

  async function responses(story) {
    const items = [];
    let response, same = true;
    try {
      response = await client.responses.stream({ model: 'chat', input: story }).finalResponse();
      items.push(...response.output);
      const asked = response.output.find((item) => item.type === 'function_call');
      if (asked) {
        const input = [{ type: 'function_call_output', call_id: asked.call_id, output: 'main' }];
        response = await client.responses.stream({ previous_response_id: response.id, model: 'chat', input }).finalResponse();
        items.push(...response.output);
      }
      const whole = await client.responses.retrieve(response.id);
      same = plain(whole.output) === plain(response.output) && whole.status === response.status;
    } catch (error) {
      return { status: 'failed', error: error.message };
    }
    const texts = (type) => items.filter((i) => i.type === type).map((i) => i.content.map((part) => part.text).join(''));
    return {
      status: ended(response), error: response.error?.message, same,
      texts: texts('message'), thoughts: texts('reasoning'),
      tools: items.filter((i) => i.type === 'mcp_call').map((i) => ({
        name: i.name, input: JSON.parse(i.arguments), output: i.output && JSON.parse(i.output), error: i.error,
      })),
    };
  }

  // The events of a response after a number, without heartbeats.
  async function read(id, query) {
    const events = [];
    for await (const e of await client.responses.retrieve(id, { stream: true, ...query })) if (e.type !== 'keepalive') events.push(e);
    return events;
  }

  // A response in the background, from each number on.
  async function retrieve(story) {
    let events;
    try {
      const { id } = await client.responses.create({ model: 'chat', input: story, background: true });
      events = await read(id, {});
      for (const [i, e] of events.entries()) {
        const rest = await read(id, { starting_after: e.sequence_number });
        if (JSON.stringify(rest) !== JSON.stringify(events.slice(i + 1))) return { status: 'failed', same: false };
      }
    } catch (error) {
      return { status: 'failed', error: error.message };
    }
    const last = events.at(-1).response;
    return { status: ended(last), error: last?.error?.message, same: true };
  }
  return { chat, responses, retrieve };
}
