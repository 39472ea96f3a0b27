// Package openai contains what the two APIs of OpenAI have in common, and serves /v1/models.
//
// The models are the jobs that answer with a text. The packages completions and responses below it serve the two APIs.
package openai
