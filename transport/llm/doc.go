// Package llm calls language models over the OpenAI protocol.
//
// A [Client] calls one server. [Client.Stream] is a [model.Stream]: it yields text, thoughts and tool calls as they
// arrive. Its last part is a [model.End], with the evidence of how the stream ended and the verdict of [model.Judge].
//
// go-openai builds and sends the requests. A RoundTripper of this package adds the fields that go-openai lacks, and
// keeps the response for itself. It reads the response once, from bytes to events to chunks to parts. It tolerates the
// mistakes of servers, and tells apart all the ways in which a stream can end.
//
// A Client retries a call only if no part of an answer has arrived. It removes secrets from errors, logs and answers.
//
// [Client.Models], [Client.Load] and [Client.Unload] use the native protocols of LM Studio, llama.cpp, Ollama and vLLM.
package llm
