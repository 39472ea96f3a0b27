// Package llm calls language models over the OpenAI protocol.
//
// A [Client] calls one server. [Client.Stream] is a [model.Stream]: it yields text, thoughts and tool calls as they
// arrive, and one [model.End] with the evidence of how the stream ended and the verdict of [model.Judge]. go-openai
// builds and sends the requests. Below it, a RoundTripper of this package adds the fields that go-openai lacks, and
// takes the answer: it is read once, from bytes to events to chunks to parts, with tolerance for the mistakes of
// servers, and the ways in which a stream can end are told apart.
//
// A Client retries a call only if no part of an answer has arrived. It removes secrets from errors, logs and answers.
//
// [Client.Models], [Client.Load] and [Client.Unload] speak the servers' own protocols: LM Studio's, llama.cpp's,
// Ollama's and vLLM's.
package llm
