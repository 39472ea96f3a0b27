// Package llm calls language models over the OpenAI protocol.
//
// A [Client] calls one server. [Client.Stream] is a [model.Stream]: it yields text, thoughts and tool calls as they
// arrive, and one [model.End] with the evidence of how the stream ended and the verdict of [model.Judge]. go-openai
// builds the requests and reads the chunks. Below it, a RoundTripper of this package adds the fields that go-openai
// lacks, tolerates the mistakes of servers, and tells the ways in which a stream can end apart.
//
// A Client retries a call only if no part of an answer has arrived. It removes secrets from errors, logs and answers.
//
// [Client.Models], [Client.Load] and [Client.Unload] speak the servers' own protocols: LM Studio's, llama.cpp's,
// Ollama's and vLLM's.
package llm
