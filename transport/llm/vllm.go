package llm

import "context"

// vllm is vLLM. It has the models that it was started with.
type vllm struct{ *Client }

func (v vllm) kind() string { return VLLM }

func (v vllm) models(ctx context.Context) ([]Info, error) {
	return plain{v.Client, VLLM}.models(ctx)
}
