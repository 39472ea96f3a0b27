import { ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';

// LangChain's model in its mode of the Responses API. It appends what is streamed, so what it has of the output at the end
// counts; what it has streamed must end with that.
export default async function open(url) {
  const model = new ChatOpenAI({ model: 'chat', apiKey: 'k', useResponsesApi: true, maxRetries: 0, configuration: { baseURL: url + '/v1' } });

  async function stream(input, options) {
    let whole;
    for await (const chunk of await model.stream(input, options)) whole = whole?.concat(chunk) ?? chunk;
    return whole;
  }

  async function responses(story) {
    const items = [];
    let whole, same = true;
    const add = (answer) => {
      whole = answer;
      items.push(...answer.response_metadata.output ?? []);
      same &&= answer.text.endsWith(texts(answer.response_metadata.output ?? [], 'message').join(''));
    };
    try {
      add(await stream(story));
      const asked = whole.tool_calls[0];
      if (asked) {
        const answer = new ToolMessage({ content: 'main', tool_call_id: asked.id });
        add(await stream([answer], { previous_response_id: whole.response_metadata.id }));
      }
    } catch (error) {
      return { status: 'failed', error: error.message };
    }
    let end = whole.response_metadata;
    if (!end.status) { // it drops response.failed
      end = await (await fetch(`${url}/v1/responses/${end.id}`)).json();
      items.push(...end.output);
    }
    const status = end.incomplete_details?.reason ?? end.status.replace('cancelled', 'canceled');
    return { status, error: end.error?.message, same, texts: texts(items, 'message') };
  }

  return { responses };
}

const texts = (items, type) => items.filter((i) => i.type === type).map((i) => i.content.map((part) => part.text).join(''));
