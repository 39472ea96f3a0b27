// Package openai serves the APIs of OpenAI: /v1/models, /v1/chat/completions and /v1/responses.
//
// The models are the jobs that answer with a text.
package openai
