// Package llm calls language models over the OpenAI protocol.
//
// A [Client] is of one server. [Client.Stream] is a [model.Stream]: pieces of text, thoughts and tool calls as they
// come, and one [model.End], whose evidence is what this package saw of the transport and whose verdict is
// [model.Judge]'s. go-openai builds and reads the calls; below it a RoundTripper of this package puts into the request
// what go-openai cannot say, reads the events with all that servers get wrong, and makes each way in which a stream can
// end a different one.
//
// A call is tried again only while nothing of an answer has come. Keys are in no error and no log line, and in no event
// but the words of an answer that repeats one.
//
// [Client.Models], [Client.Load] and [Client.Unload] speak the servers' own protocols: LM Studio's, llama.cpp's,
// Ollama's and vLLM's.
package llm
