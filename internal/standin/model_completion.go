package standin

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// completion answers a request without a script: with the Always answer, or as the dialect's server would.
func (m *Model) completion(r ModelRequest) []Piece {
	if m.always != nil {
		return m.always
	}
	if refusal := m.refuseFormat(r.Chat); refusal != nil {
		return refusal
	}
	s := m.find(r.Chat.Model)
	if s == nil {
		return m.missing(r.Chat.Model)
	}
	var pieces []Piece
	if m.options.Dialect == Ollama {
		s.Context = ollamaContext
	}
	if !s.Loaded {
		pieces = m.loading(s.ID, 0)
	}
	if s.ID != anyModel {
		pieces = append(pieces, Named(s.ID))
	}
	if n := r.Chat.tokens(); n > s.Context && m.options.Dialect != Ollama { // which drops the oldest messages, and says nothing
		return append(pieces, JSON(http.StatusBadRequest, m.options.Dialect.overflow(n, s.Context)))
	}
	return append(pieces, echo(r.Chat)...)
}

// find returns the model that answers, which may differ from the requested one.
func (m *Model) find(id string) *ServedModel {
	d := m.options.Dialect
	if m.anyName || d == LlamaCPP {
		return &m.served[0]
	}
	s := m.named(id)
	switch {
	case s == nil && (d != LMStudio || m.options.JIT):
		return nil
	case s != nil && (s.Loaded || m.options.JIT || d == Ollama):
		return s
	}
	// LM Studio without JIT: whatever is loaded.
	i := slices.IndexFunc(m.served, func(s ServedModel) bool { return s.Loaded && s.Kind != "embeddings" })
	if i < 0 {
		return nil
	}
	return &m.served[i]
}

// missing answers a request for a model that is not there, in the words of the server.
func (m *Model) missing(id string) []Piece {
	switch m.options.Dialect {
	case LMStudio:
		message := "No models loaded. Please load a model in the developer page or use the 'lms load' command."
		return []Piece{JSON(http.StatusNotFound, `{"error":{"message":`+quote(message)+
			`,"type":"invalid_request_error","param":"model","code":"model_not_found"}}`)}
	case Ollama:
		return []Piece{JSON(http.StatusNotFound, errorBody(fmt.Sprintf("model %q not found, try pulling it first", id),
			"not_found_error", ""))}
	case VLLM:
		return []Piece{JSON(http.StatusNotFound, `{"error":{"message":`+
			quote("The model `"+id+"` does not exist.")+`,"type":"NotFoundError","param":"model","code":404}}`)}
	}
	return []Piece{JSON(http.StatusNotFound,
		errorBody(fmt.Sprintf("The model `%s` does not exist", id), "invalid_request_error", "model_not_found"))}
}

// refuseFormat refuses a response_format that LM Studio does not support.
func (m *Model) refuseFormat(c ChatRequest) []Piece {
	var format struct {
		Type string `json:"type"`
	}
	if m.options.Dialect != LMStudio || json.Unmarshal(c.ResponseFormat, &format) != nil ||
		format.Type == "json_schema" || format.Type == "text" {
		return nil
	}
	return []Piece{JSON(http.StatusBadRequest, `{"error":"'response_format.type' must be 'json_schema' or 'text'"}`)}
}

// echo repeats the last message, a chunk per word, within max_tokens.
func echo(c ChatRequest) []Piece {
	text := ""
	if n := len(c.Messages); n > 0 {
		text = c.Messages[n-1].Content
	}
	words := strings.SplitAfter(cmp.Or(text, "nothing was asked"), " ")
	finish := "stop"
	if c.MaxTokens > 0 && len(words) > c.MaxTokens {
		words, finish = words[:c.MaxTokens], "length"
	}
	pieces := []Piece{Role()}
	for _, w := range words {
		pieces = append(pieces, Text(w))
	}
	pieces = append(pieces, Finish(finish))
	if c.StreamOptions.IncludeUsage || !c.Stream {
		pieces = append(pieces, Usage(c.tokens(), len(words)))
	}
	return append(pieces, Done())
}

// overflow is the error message of the dialect.
func (d Dialect) overflow(prompt, context int) string {
	switch d {
	case LMStudio:
		return `{"error":` + quote(fmt.Sprintf("The number of tokens to keep from the initial prompt is greater than the"+
			" context length (n_keep: %d>= n_ctx: %d). Try to load the model with a larger context length, or provide a"+
			" shorter input.", prompt, context)) + `}`
	case LlamaCPP:
		return fmt.Sprintf(`{"error":{"code":400,"message":"the request exceeds the available context size, try`+
			` increasing it","type":"exceed_context_size_error","n_prompt_tokens":%d,"n_ctx":%d}}`, prompt, context)
	case VLLM:
		return fmt.Sprintf(`{"error":{"message":"This model's maximum context length is %d tokens. However, your request`+
			` has %d input tokens. Please reduce the length of the input messages.","type":"BadRequestError",`+
			`"param":"input_tokens","code":400}}`, context, prompt)
	case Ollama:
		return errorBody("the input length exceeds the context length", "invalid_request_error", "")
	}
	return errorBody(fmt.Sprintf("This model's maximum context length is %d tokens. However, your messages resulted in"+
		" %d tokens. Please reduce the length of the messages.", context, prompt),
		"invalid_request_error", "context_length_exceeded")
}

// Dialect says which server a [Model] imitates: its native endpoints, its field for thoughts, its errors.
type Dialect string

const (
	OpenAI   Dialect = "" // /v1/models alone
	LMStudio Dialect = "lmstudio"
	LlamaCPP Dialect = "llama.cpp"
	Ollama   Dialect = "ollama"
	VLLM     Dialect = "vllm"
)

func (d Dialect) reasoning() string {
	if d == Ollama || d == VLLM {
		return "reasoning"
	}
	return "reasoning_content"
}

// ServedModel is a model of the server.
type ServedModel struct {
	ID      string
	Kind    string // "llm" (or empty), "vlm" or "embeddings"
	Arch    string // "llama" if empty
	Format  string // "gguf" (or empty) or "mlx"
	Quant   string // "Q4_K_M" if empty
	Loaded  bool
	Context int // of the loaded model; a load without a context uses this one, or 4,096
	// MaxContext is the longest context; 131,072 if zero.
	MaxContext int
}
