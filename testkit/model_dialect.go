package testkit

// Dialect says which server a [Model] stands in for: its native endpoints, its field for thoughts, its errors.
type Dialect string

const (
	OpenAI Dialect = "" // /v1/models alone
	// LMStudio has both native interfaces, LMStudioV0 (before 0.4.0) the older one alone.
	LMStudio   Dialect = "lmstudio"
	LMStudioV0 Dialect = "lmstudio-v0"
	LlamaCPP   Dialect = "llama.cpp"
	Ollama     Dialect = "ollama"
	VLLM       Dialect = "vllm"
)

func (d Dialect) reasoning() string {
	if d == Ollama || d == VLLM {
		return "reasoning"
	}
	return "reasoning_content"
}

// ServedModel is a model that a [Model] has.
type ServedModel struct {
	ID      string
	Kind    string // "llm" (or empty), "vlm" or "embeddings"
	Arch    string // "llama" if empty
	Format  string // "gguf" (or empty) or "mlx"
	Quant   string // "Q4_K_M" if empty
	Loaded  bool
	Context int // of the loaded model; a load that names none takes this one, or 4,096
	// MaxContext is what the model was made for; 131,072 if zero.
	MaxContext int
}

// Overflow is how an answer to a prompt longer than the context fails.
type Overflow string

const (
	// OverflowStatus is a 400 in the dialect's words.
	OverflowStatus Overflow = "status"
	// OverflowFrame is an error frame inside a 200 stream, in the dialect's words.
	OverflowFrame Overflow = "frame"
	// OverflowMLX is an error frame "Context size has been exceeded." after the opening chunk, as LM Studio has it for
	// MLX.
	OverflowMLX Overflow = "mlx"
	// OverflowEmpty is a stream that ends well and says nothing, as LM Studio has it for GGUF.
	OverflowEmpty Overflow = "empty"
	// OverflowDrop forgets the oldest messages in silence and answers, as Ollama does.
	OverflowDrop Overflow = "drop"
)
