// Package openai is what the doors for clients of the OpenAI API share, and answers /v1/models.
//
// The models are the jobs whose answer is a text. Packages completions and responses below are the two protocols.
package openai
